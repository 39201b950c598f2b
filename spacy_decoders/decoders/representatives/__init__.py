"""Choosing one concept for each mention, such that all are near each other."""

from .centrality import Degree, PageRank
from .exact import ExactRepresentatives
from .greedy import Greedy
from .hitting import HittingDistance
from .local_search import LocalSearch
from .problem import RepresentativesProblem, RepresentativesSolution

__all__ = [
    "Degree",
    "ExactRepresentatives",
    "Greedy",
    "HittingDistance",
    "LocalSearch",
    "PageRank",
    "RepresentativesProblem",
    "RepresentativesSolution",
]
