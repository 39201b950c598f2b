"""The factory of ``graph_entity_linker``, which spaCy imports when it looks for components."""

from collections.abc import Callable
from typing import Any, Literal

from pydantic import InstanceOf, NonNegativeFloat, PositiveFloat, PositiveInt
from spacy.kb import KnowledgeBase

from ...decoders.protocols import RepresentativesDecoding
from ..constraints.constraint import constraints_about
from ..option_checks import Share, decoder_of
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


class LinkerOptions(WithOptions):
    """The options of the linker; its page in ``docs/components`` says more of each."""

    mentions: MentionSource = option("ents")
    """"ents", "spans" (of `spans_key`), or "aliases": entities and all other known aliases."""
    spans_key: str = option("sc")
    """The span group, where `mentions` is "spans"."""
    concepts_key: str | None = option(None)
    """The span group of linked aliases that are no entities; null: they become entities."""
    labels_discard: list[str] = option([])
    """Entities with these labels are not linked."""
    max_candidates: PositiveInt = option(30)
    """The most candidates of a mention; the most frequent are kept."""
    min_prob: Share = option(0.0)
    """The least calibrated probability of a link."""
    form_weight: NonNegativeFloat = option(3.0)
    """The cost, in nats, of linking one of several mentions with the same text otherwise."""
    types: list[str] | None = option(None)
    """Types of concepts that may be linked, such as ``["person"]``; null for all."""
    kb_id: Identifier = option("id")
    """What ``ent.kb_id_`` holds: the concept's "id" in the knowledge base, or its "qid"."""
    shown: PositiveInt = option(10)
    """The most candidates in ``ent._.link``."""
    window: PositiveInt = option(100)
    """The most mentions with candidates that are decoded together, repeated ones included."""
    iterations: PositiveInt | None = option(1000)
    """The most iterations of the decoder for one window, margins included; null for no limit."""
    seconds: PositiveFloat | None = option(None)
    """The most seconds for one window, as a further limit; null for no limit."""
    store_kb: bool = option(False)
    """Whether to save the knowledge base with the pipeline."""
    overwrite: bool = option(True)
    """Whether to replace the identifiers of mentions that have one already."""
    constraints: list[dict[str, Any]] = option([], constraints_about("links"))
    """Concepts that mentions may, or may not, be linked to, where patterns or phrases match."""
    kb: InstanceOf[KnowledgeBase] = option(
        {"@misc": "spacy-decoders.ConceptBase.v1", "path": None}
    )
    """The knowledge base; in a config, a function that loads it."""
    candidates: Callable[..., Any] = option({"@misc": "spacy-decoders.AliasCandidates.v1"})
    """Finds candidates; called with the knowledge base and all mentions."""
    pairs: Callable[..., Any] = option({"@misc": "spacy-decoders.SharedNeighbours.v1"})
    """The pair costs of links."""
    decoder: RepresentativesDecoding = option(
        {"@decoders": "spacy-decoders.ExactRepresentatives.v1", "margin_work": 200_000},
        decoder_of("representatives"),
    )
    """Any representatives decoder of ``@decoders``."""


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
