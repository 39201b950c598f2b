"""Protocols of decoders: components and models accept any object with these methods."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import TYPE_CHECKING, Protocol

from ..arrays import Floats32
from ..budget import Budget

if TYPE_CHECKING:
    from .chain import ChainModel, ChainSolution
    from .path import PathProblem, PathSolution
    from .representatives import RepresentativesProblem, RepresentativesSolution
    from .tree import TreeProblem, TreeSolution

__all__ = ["ChainDecoding", "PathDecoding", "RepresentativesDecoding", "TreeDecoding"]


class ChainDecoding(Protocol):
    """A decoder of tag sequences, such as ``chain.ForwardDominance``."""

    def decode(self, model: ChainModel, emissions: Floats32) -> ChainSolution:
        """Find the best labels of one unit; emissions have **shape (n, L)**."""
        ...

    def decode_batch(
        self, model: ChainModel, emissions: Floats32, lengths: Sequence[int]
    ) -> Sequence[ChainSolution]:
        """Find the best labels of several units, whose emissions are concatenated."""
        ...


class TreeDecoding(Protocol):
    """A decoder of dependency trees, such as ``tree.BranchAndBound``."""

    def decode(self, problem: TreeProblem, *, budget: Budget = ...) -> TreeSolution:
        """Find the best tree of a sentence."""
        ...


class PathDecoding(Protocol):
    """A decoder of selected and ordered words, such as ``path.ExactPath``."""

    def decode_lengths(
        self, problem: PathProblem, lengths: Iterable[int], *, budget: Budget = ...
    ) -> Sequence[PathSolution]:
        """Find the best path of each length."""
        ...

    def k_best(
        self, problem: PathProblem, length: int, k: int, *, budget: Budget = ...
    ) -> Sequence[PathSolution]:
        """Find the best `k` paths of a length, best first."""
        ...


class RepresentativesDecoding(Protocol):
    """A decoder of links, such as ``representatives.ExactRepresentatives``."""

    def decode(
        self, problem: RepresentativesProblem, *, budget: Budget = ...
    ) -> RepresentativesSolution:
        """Find the cheapest choice of one candidate for each mention."""
        ...
