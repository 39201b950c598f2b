"""The concept graph, its index and distances."""

from .concept_graph import ConceptGraph
from .relatedness import adjacency, shared_neighbour_cosine

__all__ = ["ConceptGraph", "adjacency", "shared_neighbour_cosine"]
