"""Builders of the decoders of representatives for config files."""

from __future__ import annotations

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from ..decoders.representatives import (
        Decomposable,
        Degree,
        ExactRepresentatives,
        Greedy,
        HittingDistance,
        LocalSearch,
        PageRank,
        SpanningTree,
    )

__all__ = [
    "build_decomposable",
    "build_degree",
    "build_exact_representatives",
    "build_greedy",
    "build_hitting_distance",
    "build_local_search",
    "build_pagerank",
    "build_spanning_tree",
]


def build_exact_representatives(
    exact_margins: bool = True, starts: int = 16, seed: int = 0
) -> ExactRepresentatives:
    """Build ``spacy-decoders.ExactRepresentatives.v1``: the cheapest choice, with proof.

    Parameters
    ----------
    exact_margins
        Whether to prove the margin of each mention, too.
    starts
        Starts of the local search.
    seed
        Of the starts and of the order that breaks ties.
    """
    from ..decoders.representatives import ExactRepresentatives

    return ExactRepresentatives(exact_margins, starts, seed)


def build_hitting_distance(seed: int = 0) -> HittingDistance:
    """Build ``spacy-decoders.HittingDistance.v1``: nearest to the other sets on average."""
    from ..decoders.representatives import HittingDistance

    return HittingDistance(seed)


def build_spanning_tree(seed: int = 0) -> SpanningTree:
    """Build ``spacy-decoders.SpanningTree.v1``: exact on a tree of the quotient graph."""
    from ..decoders.representatives import SpanningTree

    return SpanningTree(seed)


def build_decomposable(seed: int = 0) -> Decomposable:
    """Build ``spacy-decoders.Decomposable.v1``: exact where bridges keep the sets apart."""
    from ..decoders.representatives import Decomposable

    return Decomposable(seed)


def build_greedy(seed: int = 0) -> Greedy:
    """Build ``spacy-decoders.Greedy.v1``: set after set, from a random beginning."""
    from ..decoders.representatives import Greedy

    return Greedy(seed)


def build_degree(seed: int = 0) -> Degree:
    """Build ``spacy-decoders.Degree.v1``: the vertex of highest degree in each set."""
    from ..decoders.representatives import Degree

    return Degree(seed)


def build_pagerank(seed: int = 0) -> PageRank:
    """Build ``spacy-decoders.PageRank.v1``: the vertex of highest PageRank in each set."""
    from ..decoders.representatives import PageRank

    return PageRank(seed)


def build_local_search(starts: int = 32, seed: int = 0) -> LocalSearch:
    """Build ``spacy-decoders.LocalSearch.v1``: coordinate descent from several starts.

    Parameters
    ----------
    starts
        How often to start anew.
    seed
        Of the starts and of the order that breaks ties.
    """
    from ..decoders.representatives import LocalSearch

    return LocalSearch(starts, seed)
