"""The concept graph, its index and distances."""

from .concept_graph import ConceptGraph
from .relatedness import (
    adjacency,
    milne_witten,
    pointwise_mutual_information,
    shared_neighbour_cosine,
    weighted_overlap,
)

__all__ = [
    "ConceptGraph",
    "adjacency",
    "milne_witten",
    "pointwise_mutual_information",
    "shared_neighbour_cosine",
    "weighted_overlap",
]
