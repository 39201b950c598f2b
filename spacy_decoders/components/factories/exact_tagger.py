"""The factory of ``exact_tagger``: what spaCy imports whenever it looks for a component."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, Literal

from spacy.language import Language
from spacy.tokens import Doc
from thinc.api import Model

from ... import registry  # noqa: F401 - creates `@decoders`
from .. import extensions

__all__ = ["DEFAULT_CONFIG", "make_exact_tagger"]

extensions.install()

# a plain dict: parsing a config would cost every spacy.blank() milliseconds
DEFAULT_CONFIG = {
    "target": "tag",
    "loss": "crf",
    "overwrite": True,
    "margins": False,
    "k_best": 1,
    "model": {
        "@architectures": "spacy-decoders.ChainScorer.v1",
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
    "decoder": {"@decoders": "spacy-decoders.ForwardDominance.v1"},
    "scorer": {"@scorers": "spacy-decoders.tagger_scorer.v1"},
}


@Language.factory(
    "exact_tagger",
    assigns=[
        "token.tag",
        "token.pos",
        "token.morph",
        "doc.ents",
        "token.ent_iob",
        "token.ent_type",
        "token._.tag_margin",
        "doc._.taggings",
        "doc._.certificates",
    ],
    default_config=DEFAULT_CONFIG,
    # for other targets weigh their own scores in [training.score_weights]
    default_score_weights={
        "tag_acc": 1.0,
        "pos_acc": None,
        "morph_acc": None,
        "morph_per_feat": None,
        "ents_f": None,
        "ents_p": None,
        "ents_r": None,
        "ents_per_type": None,
        "certified": None,
        "certified_pruned": None,
    },
)
def make_exact_tagger(
    nlp: Language,
    name: str,
    model: Model[Any, Any],
    decoder: Any,
    target: Literal["tag", "pos", "morph", "ent"] | list[Literal["tag", "pos", "morph", "ent"]],
    loss: Literal["crf", "margin", "perceptron"],
    overwrite: bool,
    margins: bool,
    k_best: int,
    scorer: Callable[..., dict[str, Any]] | None,
) -> Callable[[Doc], Doc]:
    """Make an exact tagger.

    Parameters
    ----------
    nlp
        The pipeline.
    name
        The component's name.
    model
        A chain scorer, such as ``spacy-decoders.ChainScorer.v1``.
    decoder
        Any chain decoder of ``@decoders``.
    target
        What to tag: "tag", "pos", "morph", "ent" (named entities), or several of them
        jointly, by one chain over the combinations seen in training.
    loss
        "crf", "margin" or "perceptron".
    overwrite
        Whether to overwrite what is set already; if not, it is kept, and the rest is
        decoded exactly around it.
    margins
        Whether to set ``token._.tag_margin``: by how much the best labelling would be worse
        if this token had to have another label.
    k_best
        How many labellings to put into ``doc._.taggings``, if more than 1.
    scorer
        The scoring method.
    """
    from ..tagger.tagger import ExactTagger

    return ExactTagger(
        nlp.vocab,
        model,
        decoder,
        name,
        target=target,
        loss=loss,
        overwrite=overwrite,
        margins=margins,
        k_best=k_best,
        scorer=scorer,
    )
