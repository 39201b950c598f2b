"""Choosing one concept for each mention so that all are near each other in the graph.

Names load on first use, so that naming a decoder in a config compiles nothing.
"""

from typing import TYPE_CHECKING

from ...lazy import lazy_names

if TYPE_CHECKING:
    from .decoder import RepresentativesDecoder as RepresentativesDecoder
    from .exact import ExactRepresentatives as ExactRepresentatives
    from .local_search import LocalSearch as LocalSearch
    from .problem import RepresentativesProblem as RepresentativesProblem
    from .published.centrality import Degree as Degree
    from .published.centrality import PageRank as PageRank
    from .published.decomposable import Decomposable as Decomposable
    from .published.greedy import Greedy as Greedy
    from .published.hitting import HittingDistance as HittingDistance
    from .published.spanning_tree import SpanningTree as SpanningTree
    from .solutions import RepresentativesSolution as RepresentativesSolution

__getattr__, __dir__ = lazy_names(__name__)
