"""``@misc``: knowledge bases, candidate finders and pair costs of the linker."""

from __future__ import annotations

from collections.abc import Callable
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Literal

import spacy
from spacy.kb import KnowledgeBase
from spacy.vocab import Vocab
from thinc.api import Model
from thinc.types import Floats1d, Floats2d

from ..components.linker.candidates import AliasCandidates, TextCandidates

if TYPE_CHECKING:
    from ..knowledge import pair_costs

__all__ = [
    "alias_candidates",
    "concept_base",
    "direct_link",
    "entity_vectors",
    "graph_distance",
    "link_weights",
    "milne_witten",
    "mutual_information",
    "shared_neighbours",
    "text_candidates",
]

#: The small knowledge base of our own that ships with the package.
BUNDLED = Path(__file__).parents[1] / "data" / "concepts" / "base"


@spacy.registry.misc("spacy-decoders.ConceptBase.v1")
def concept_base(path: str | None = None) -> Callable[[Vocab], KnowledgeBase]:
    """Load the knowledge base in a folder; without a path the small one that is shipped."""
    return partial(_open_concept_base, path=path)


def _open_concept_base(vocab: Vocab, path: str | None) -> KnowledgeBase:
    from ..components.linker.knowledge_base import ConceptKnowledgeBase

    return ConceptKnowledgeBase.open(vocab, BUNDLED if path is None else path)


@spacy.registry.misc("spacy-decoders.AliasCandidates.v1")
def alias_candidates() -> AliasCandidates:
    """Candidates of which the mention is an alias."""
    return AliasCandidates()


@spacy.registry.misc("spacy-decoders.TextCandidates.v1")
def text_candidates(limit: int = 30) -> TextCandidates:
    """Candidates by alias, then by the words of the mention."""
    return TextCandidates(limit)


@spacy.registry.misc("spacy-decoders.SharedNeighbours.v1")
def shared_neighbours(
    residual: float = 0.5, within: Literal["document", "graph"] = "document"
) -> pair_costs.SharedNeighbours:
    """Neighbours and rare title words in common."""
    from ..knowledge.pair_costs import SharedNeighbours

    return SharedNeighbours(residual, within)


@spacy.registry.misc("spacy-decoders.GraphDistance.v1")
def graph_distance() -> pair_costs.GraphDistance:
    """Links on the shortest path."""
    from ..knowledge.pair_costs import GraphDistance

    return GraphDistance()


@spacy.registry.misc("spacy-decoders.DirectLink.v1")
def direct_link() -> pair_costs.DirectLink:
    """Linked or not."""
    from ..knowledge.pair_costs import DirectLink

    return DirectLink()


@spacy.registry.misc("spacy-decoders.MilneWitten.v1")
def milne_witten() -> pair_costs.MilneWitten:
    """The normalised link distance."""
    from ..knowledge.pair_costs import MilneWitten

    return MilneWitten()


@spacy.registry.misc("spacy-decoders.MutualInformation.v1")
def mutual_information() -> pair_costs.MutualInformation:
    """Pointwise mutual information of neighbourhoods."""
    from ..knowledge.pair_costs import MutualInformation

    return MutualInformation()


@spacy.registry.misc("spacy-decoders.EntityVectors.v1")
def entity_vectors() -> pair_costs.EntityVectors:
    """Vectors of the concepts, for knowledge bases without a graph."""
    from ..knowledge.pair_costs import EntityVectors

    return EntityVectors()


@spacy.registry.architectures("spacy-decoders.LinkWeights.v1")
def link_weights(
    prior: float = 1.0, popularity: float = 0.5, context: float = 1.0, pairs: float = 20.0
) -> Model[Floats2d, Floats1d]:
    """The few weights; see :func:`~spacy_decoders.models.linker.weights.build_link_weights`."""
    from ..models.linker.weights import build_link_weights

    return build_link_weights(prior, popularity, context, pairs)
