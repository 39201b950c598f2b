"""Choosing one concept for each mention, such that all are near each other.

Names load on first use, so that naming a decoder in a config compiles nothing.
"""

from typing import TYPE_CHECKING

from ...lazy import lazy_names

if TYPE_CHECKING:
    from .exact import ExactRepresentatives
    from .local_search import LocalSearch
    from .problem import RepresentativesDecoder, RepresentativesProblem, RepresentativesSolution
    from .published.centrality import Degree, PageRank
    from .published.decomposable import Decomposable
    from .published.greedy import Greedy
    from .published.hitting import HittingDistance
    from .published.spanning_tree import SpanningTree

__all__ = [
    "Decomposable",
    "Degree",
    "ExactRepresentatives",
    "Greedy",
    "HittingDistance",
    "LocalSearch",
    "PageRank",
    "RepresentativesDecoder",
    "RepresentativesProblem",
    "RepresentativesSolution",
    "SpanningTree",
]

__getattr__, __dir__ = lazy_names(__name__)
