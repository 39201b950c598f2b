"""The factory of ``branch_and_bound_parser``: what spaCy imports when it looks for components."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, Literal

from spacy.language import Language
from spacy.tokens import Doc
from thinc.api import Model

from ... import registry  # noqa: F401 - creates `@decoders`
from .. import extensions

__all__ = ["DEFAULT_CONFIG", "make_branch_and_bound_parser"]

extensions.install()

DEFAULT_CONFIG = {
    "model": {
        "@architectures": "spacy-decoders.ArcScorer.v1",
        "tok2vec": {
            "@architectures": "spacy.HashEmbedCNN.v2",
            "pretrained_vectors": None,
            "width": 96,
            "depth": 4,
            "embed_size": 2000,
            "window_size": 1,
            "maxout_pieces": 3,
            "subword_features": True,
        },
    },
    "decoder": {"@decoders": "spacy-decoders.BranchAndBound.v1"},
    "factors": ["arcs", "grandparents", "siblings"],
    "factors_start": 1000,
    "window": 15,
    "k": None,
    "beam": None,
    "projective": True,
    "iterations": 500,
    "seconds": None,
    "head_margins": False,
    "k_best": 1,
    "scorer": {"@scorers": "spacy-decoders.parser_scorer.v1"},
}


@Language.factory(
    "branch_and_bound_parser",
    assigns=["token.dep", "token.head", "token.is_sent_start", "doc.sents", "doc._.certificates"],
    default_config=DEFAULT_CONFIG,
    default_score_weights={
        "dep_uas": 0.5,
        "dep_las": 0.5,
        "dep_las_per_type": None,
        "sents_p": None,
        "sents_r": None,
        "sents_f": 0.0,
        "certified": None,
        "certified_pruned": None,
    },
)
def make_branch_and_bound_parser(
    nlp: Language,
    name: str,
    model: Model[Any, Any],
    decoder: Any,
    factors: list[
        Literal["arcs", "grandparents", "siblings", "tri_siblings", "great_grandparents"]
    ],
    factors_start: int,
    window: int,
    k: int | None,
    beam: float | None,
    projective: bool,
    iterations: int | None,
    seconds: float | None,
    head_margins: bool,
    k_best: int,
    scorer: Callable[..., dict[str, Any]] | None,
) -> Callable[[Doc], Doc]:
    """Build the parser; its options are those of
    :class:`~spacy_decoders.components.parser.parser.BranchAndBoundParser`.
    """
    from ..parser.parser import BranchAndBoundParser

    return BranchAndBoundParser(
        nlp.vocab,
        model,
        name,
        decoder=decoder,
        factors=factors,
        factors_start=factors_start,
        window=window,
        k=k,
        beam=beam,
        projective=projective,
        iterations=iterations,
        seconds=seconds,
        head_margins=head_margins,
        k_best=k_best,
        scorer=scorer,
    )
