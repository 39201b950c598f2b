"""Choosing one concept for each mention, such that all are near each other.

Names load on first use, so that naming a decoder in a config compiles nothing.
"""

from importlib import import_module
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from .exact import ExactRepresentatives
    from .local_search import LocalSearch
    from .problem import RepresentativesProblem
    from .published.centrality import Degree, PageRank
    from .published.decomposable import Decomposable
    from .published.greedy import Greedy
    from .published.hitting import HittingDistance
    from .published.spanning_tree import SpanningTree
    from .solutions import RepresentativesDecoder, RepresentativesSolution

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

_HOMES = {
    "Decomposable": "published.decomposable",
    "Degree": "published.centrality",
    "ExactRepresentatives": "exact",
    "Greedy": "published.greedy",
    "HittingDistance": "published.hitting",
    "LocalSearch": "local_search",
    "PageRank": "published.centrality",
    "RepresentativesDecoder": "solutions",
    "RepresentativesProblem": "problem",
    "RepresentativesSolution": "solutions",
    "SpanningTree": "published.spanning_tree",
}


def __getattr__(name: str) -> Any:
    if name not in _HOMES:
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    return getattr(import_module(f".{_HOMES[name]}", __name__), name)


def __dir__() -> list[str]:
    return sorted(__all__)
