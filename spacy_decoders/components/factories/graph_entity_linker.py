"""The factory of ``graph_entity_linker``: what spaCy imports whenever it looks for a component."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, Literal

from spacy.language import Language
from spacy.tokens import Doc

from ... import registry  # noqa: F401 - creates `@decoders`
from ...errors import ProblemError
from .. import extensions

__all__ = ["DEFAULT_CONFIG", "make_graph_entity_linker"]

extensions.install()

DEFAULT_CONFIG = {
    "mentions": "ents",
    "spans_key": "sc",
    "labels_discard": [],
    "max_candidates": 30,
    "min_score": 0.0,
    "min_margin": 0.0,
    "shown": 10,
    "window": 100,
    "iterations": 1000,
    "seconds": None,
    "store_kb": False,
    "overwrite": True,
    "kb": {"@misc": "spacy-decoders.ConceptBase.v1", "path": None},
    "candidates": {"@misc": "spacy-decoders.AliasCandidates.v1"},
    "pairs": {"@misc": "spacy-decoders.SharedNeighbours.v1"},
    "model": {"@architectures": "spacy-decoders.LinkWeights.v1"},
    "decoder": {"@decoders": "spacy-decoders.ExactRepresentatives.v1"},
    "scorer": {"@scorers": "spacy-decoders.linker_scorer.v1"},
}


@Language.factory(
    "graph_entity_linker",
    assigns=["doc.ents", "span._.link", "token.ent_kb_id", "doc._.certificates"],
    default_config=DEFAULT_CONFIG,
    default_score_weights={
        "nel_micro_f": 1.0,
        "nel_micro_r": None,
        "nel_micro_p": None,
        "nel_linkable_acc": None,
        "certified": None,
        "certified_pruned": None,
    },
)
def make_graph_entity_linker(
    nlp: Language,
    name: str,
    kb: Any,
    candidates: Callable[..., Any],
    pairs: Any,
    model: Any,
    decoder: Any,
    mentions: Literal["ents", "spans", "aliases"],
    spans_key: str,
    labels_discard: list[str],
    max_candidates: int,
    min_score: float,
    min_margin: float,
    shown: int,
    window: int,
    iterations: int | None,
    seconds: float | None,
    store_kb: bool,
    overwrite: bool,
    scorer: Callable[..., dict[str, Any]] | None,
) -> Callable[[Doc], Doc]:
    """Make a linker.

    Parameters
    ----------
    nlp
        The pipeline.
    name
        The component's name.
    kb
        Loads the knowledge base: ``spacy-decoders.ConceptBase.v1`` with the path of a folder
        (null: the small one that ships with the package), or any loader of spaCy's.
    candidates
        Finds candidates in a concept base: ``spacy-decoders.AliasCandidates.v1``,
        ``spacy-decoders.TextCandidates.v1`` or your own.
    pairs
        What two links cost together: ``spacy-decoders.SharedNeighbours.v1`` and others.
    model
        ``spacy-decoders.LinkWeights.v1``.
    decoder
        Any representatives decoder of ``@decoders``.
    mentions
        "ents", "spans" (of `spans_key`), or "aliases": entities and all other known aliases.
    spans_key
        Which span group, if from spans.
    labels_discard
        Entities with these labels are left alone.
    max_candidates
        The most candidates of a mention; the most frequent are kept.
    min_score, min_margin
        What a link needs; below, the mention gets NIL.
    shown
        The most candidates in ``ent._.link``.
    window
        The most distinct mentions decoded at a time; documents with more are cut into
        overlapping windows, and the certificates' scope says "pruned".
    iterations
        The decoder's iterations for one window, its margins among them, or null for no limit:
        work, not time, so that the same document is linked alike on a busy machine.
    seconds
        A further ceiling in seconds for one window, or null for none.
    store_kb
        Whether to save the knowledge base with the pipeline; if not, it is opened from
        where the config says.
    overwrite
        Whether to link mentions that have an identifier already.
    scorer
        The scoring method.
    """
    from ..linker.linker import GraphEntityLinker

    if not callable(kb):
        raise ProblemError(
            "kb: expected a loader; for a folder give {'@misc': 'spacy-decoders.ConceptBase.v1', "
            f"'path': {str(kb)!r}}}."
        )
    return GraphEntityLinker(
        nlp.vocab,
        model,
        kb(nlp.vocab),
        name,
        candidates=candidates,
        pairs=pairs,
        decoder=decoder,
        mentions=mentions,
        spans_key=spans_key,
        labels_discard=labels_discard,
        max_candidates=max_candidates,
        min_score=min_score,
        min_margin=min_margin,
        shown=shown,
        window=window,
        iterations=iterations,
        seconds=seconds,
        store_kb=store_kb,
        overwrite=overwrite,
        scorer=scorer,
    )
