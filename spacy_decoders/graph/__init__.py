"""The concept graph, its index and distances."""

from .concept_graph import ConceptGraph
from .relatedness import milne_witten, pointwise_mutual_information

__all__ = ["ConceptGraph", "milne_witten", "pointwise_mutual_information"]
