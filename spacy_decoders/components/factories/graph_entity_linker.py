"""The factory of ``graph_entity_linker``, which spaCy imports when it looks for components."""

from collections.abc import Callable
from typing import Any, Literal

from spacy.kb import KnowledgeBase

from ...decoders.protocols import RepresentativesDecoding
from ...errors import ProblemError
from ..constraints.constraint import constraints_about
from ..option_checks import decoder_of, function, number, whole
from ..options import WithOptions, option
from .factory import register_factory

__all__ = [
    "Identifier",
    "LinkerOptions",
    "MentionSource",
    "make_graph_entity_linker",
]

MentionSource = Literal["ents", "spans", "aliases"]
Identifier = Literal["id", "qid"]


def _checked_kb(name: str, value: Any) -> Any:
    if not isinstance(value, KnowledgeBase):
        raise ProblemError(
            f"{name}: expected a spacy.kb.KnowledgeBase; got {type(value).__name__}."
        )
    return value


class LinkerOptions(WithOptions):
    """The options of ``graph_entity_linker``.

    Attributes
    ----------
    mentions
        "ents", "spans" (of `spans_key`), or "aliases": entities and all other known aliases, of
        which those are kept that are linked to something: see `concepts_key`.
    spans_key
        The span group, where `mentions` is "spans".
    concepts_key
        The span group for linked aliases that are no entities, where `mentions` is "aliases";
        null: they become entities, with the label "CONCEPT". The name of an entity, repeated, is
        an entity in any case.
    labels_discard
        Entities with these labels are not linked.
    max_candidates
        The most candidates of a mention; the most frequent are kept.
    min_prob
        The least calibrated probability of a link; below, the mention has no identifier, or is
        none if only an alias suggests it.
    form_weight
        What it costs, in nats, that one of several mentions of a text, case apart, means
        something else than the others.
    types
        Types of concepts that may be linked, such as ``["person", "organisation"]``; null for
        all. A concept whose type is unknown is none of them.
    kb_id
        What ``ent.kb_id_`` holds: the concept's "id" in the knowledge base, or its "qid" in
        Wikidata (its id where it has none).
    shown
        The most candidates in ``ent._.link``.
    window
        The most distinct mentions decoded at a time; documents with more are cut into
        overlapping windows, and the certificates' scope says "pruned".
    iterations
        The decoder's iterations for one window, margins included, or null for no limit: work, not
        time, so that the same document gets the same links on a busy machine.
    seconds
        A further ceiling in seconds for one window, or null for none.
    store_kb
        Whether to save the knowledge base with the pipeline; if not, it is opened from
        where the config says.
    overwrite
        Whether to link mentions that have an identifier already.
    constraints
        Concepts that mentions may, or may not, be linked to, where patterns or phrases match a
        mention: dictionaries, or objects of
        :class:`~spacy_decoders.components.constraints.Constraint`.
    kb
        In a config, the loader of the knowledge base: ``spacy-decoders.ConceptBase.v1`` with the
        path of a folder (null: the small one that ships with the package), or any loader of
        spaCy's. As an attribute, the knowledge base itself.
    candidates
        Finds candidates: ``spacy-decoders.AliasCandidates.v1``,
        ``spacy-decoders.TextCandidates.v1``, ``spacy.CandidateBatchGenerator.v1`` or your own,
        which is called with the knowledge base and all mentions.
    pairs
        The pair costs of links: ``spacy-decoders.SharedNeighbours.v1`` and others.
    decoder
        Any representatives decoder of ``@decoders``.
    """

    mentions: MentionSource = option("ents")
    spans_key: str = option("sc")
    concepts_key: str | None = option(None)
    labels_discard: list[str] = option([])
    max_candidates: int = option(30, whole(1))
    min_prob: float = option(0.0, number(least=0, most=1))
    form_weight: float = option(3.0, number(least=0))
    types: list[str] | None = option(None)
    kb_id: Identifier = option("id")
    shown: int = option(10, whole(1))
    window: int = option(100, whole(1))
    iterations: int | None = option(1000, whole(1))
    seconds: float | None = option(None, number(above=0))
    store_kb: bool = option(False)
    overwrite: bool = option(True)
    constraints: list[dict[str, Any]] = option([], constraints_about("links"))
    kb: Any = option(
        {"@misc": "spacy-decoders.ConceptBase.v1", "path": None}, _checked_kb, saved=False
    )
    candidates: Callable[..., Any] = option(
        {"@misc": "spacy-decoders.AliasCandidates.v1"}, function, saved=False
    )
    pairs: Callable[..., Any] = option(
        {"@misc": "spacy-decoders.SharedNeighbours.v1"}, function, saved=False
    )
    decoder: RepresentativesDecoding = option(
        {"@decoders": "spacy-decoders.ExactRepresentatives.v1", "margin_work": 200_000},
        decoder_of("representatives"),
        saved=False,
    )


make_graph_entity_linker = register_factory(
    "graph_entity_linker",
    "components.linker.linker:GraphEntityLinker",
    LinkerOptions,
    model={"@architectures": "spacy-decoders.LinkWeights.v1"},
    scorer="spacy-decoders.linker_scorer.v1",
    assigns=["doc.ents", "doc.spans", "span._.link", "token.ent_kb_id", "doc._.certificates"],
    scores={
        "nel_micro_f": 1.0,
        "nel_micro_r": None,
        "nel_micro_p": None,
        "nel_linkable_acc": None,
    },
)
