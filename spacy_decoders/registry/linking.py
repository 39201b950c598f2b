"""``@misc`` of the linker, and its weights: what config files name."""

from collections.abc import Callable
from functools import partial
from pathlib import Path

from spacy.kb import KnowledgeBase
from spacy.vocab import Vocab

from .deferred import Deferred

#: The small knowledge base of our own that ships with the package.
BUNDLED = Path(__file__).parents[1] / "data" / "concepts" / "base"


def concept_base(path: str | None = None) -> Callable[[Vocab], KnowledgeBase]:
    """Load the knowledge base in a folder; without a path the small one that is shipped."""
    return partial(_open_concept_base, path=path)


def _open_concept_base(vocab: Vocab, path: str | None) -> KnowledgeBase:
    from ..components.linker.knowledge_base import ConceptKnowledgeBase

    return ConceptKnowledgeBase.open(vocab, BUNDLED if path is None else path)


alias_candidates = Deferred("components.linker.candidates:AliasCandidates")
text_candidates = Deferred("components.linker.candidates:TextCandidates")

direct_link = Deferred("knowledge.pair_costs:DirectLink")
entity_vectors = Deferred("knowledge.pair_costs:EntityVectors")
graph_distance = Deferred("knowledge.pair_costs:GraphDistance")
shared_neighbours = Deferred("knowledge.pair_costs:SharedNeighbours")

link_weights = Deferred("models.linker.weights:build_link_weights")
