"""Choosing one concept for each mention, such that all are near each other."""

from .centrality import Degree, PageRank
from .decomposable import Decomposable
from .exact import ExactRepresentatives
from .greedy import Greedy
from .hitting import HittingDistance
from .local_search import LocalSearch
from .problem import RepresentativesProblem, RepresentativesSolution
from .spanning_tree import SpanningTree

__all__ = [
    "Decomposable",
    "Degree",
    "ExactRepresentatives",
    "Greedy",
    "HittingDistance",
    "LocalSearch",
    "PageRank",
    "RepresentativesProblem",
    "RepresentativesSolution",
    "SpanningTree",
]
