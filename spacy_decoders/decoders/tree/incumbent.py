"""The best tree with grandparents so far, and small changes for the better."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from ...budget import Clock
from .grandparent_scores import ScoreTable
from .kernels import price_and_cut as kernels

__all__ = ["Incumbent", "slack_of"]

Floats = NDArray[np.float64]
Mask = NDArray[np.bool_]


def slack_of(score: float) -> float:
    """Return by how much a bound may exceed the best score and yet close a node."""
    return max(5e-10, 2e-10 * abs(score))


class Incumbent:
    """The best tree that one search has met.

    Parameters
    ----------
    arcs
        Scores of single arcs, ``-inf`` where forbidden.
    table
        The grandparents; those of trees that are looked at get scored.
    single_root, projective
        Which trees count.
    climbs
        Whether each new best tree is bettered, head by head, as long as the clock runs.

    Attributes
    ----------
    heads
        (n + 1,), -1 for the root; None before the first tree.
    score
        Its score; ``-inf`` before.
    dropped
        What no tree exceeds with an arc that was left out for the best tree's sake.
    """

    def __init__(
        self,
        arcs: Floats,
        table: ScoreTable,
        *,
        single_root: bool,
        projective: bool,
        climbs: bool,
        clock: Clock,
    ) -> None:
        self._arcs = arcs
        self._table = table
        self._single_root = single_root
        self._projective = projective
        self._climbs = climbs
        self._clock = clock
        self._allowed = arcs > -np.inf
        self._wanted = np.empty((3, arcs.size), dtype=np.int64)
        self.heads: NDArray[np.int64] | None = None
        self.score = self.dropped = -np.inf

    @property
    def tolerance(self) -> float:
        """How far a bound may exceed the score and yet close a node."""
        return slack_of(self.score) if self.heads is not None else 0.0

    def offer(self, heads: NDArray[np.int64]) -> None:
        """Keep a tree if it is the best so far."""
        score = self._score(heads)
        if score > self.score:
            self.heads, self.score = heads, score
            if self._climbs:
                self._climb(heads.copy())

    def _score(self, heads: NDArray[np.int64]) -> float:
        arcs = float(self._arcs[heads[1:], np.arange(1, len(heads))].sum())
        return arcs + self._table.of_tree(heads)

    def _climb(self, heads: NDArray[np.int64]) -> None:
        table = self._table
        while not self._clock.exhausted():
            count = kernels.climb(
                self._arcs,
                table.upper,
                table.known,
                self._allowed,
                heads,
                self._single_root,
                self._projective,
                self._wanted,
            )
            if count == 0:
                break
            table.score(*self._wanted[:, :count])
        score = self._score(heads)
        if score > self.score:
            self.heads, self.score = heads, score

    def may_be_in_a_better(self, allowed: Mask, through: Floats) -> Mask:
        """Keep the arcs of the best tree, and those that a better one may have.

        Parameters
        ----------
        allowed
            The arcs so far.
        through
            No tree with an arc is worth more than this.
        """
        kept = allowed & (through > self.score + self.tolerance)
        if self.heads is not None:
            tokens = np.arange(1, len(self.heads))
            kept[self.heads[1:], tokens] |= allowed[self.heads[1:], tokens]
        left_out = allowed & ~kept
        if left_out.any():
            self.dropped = max(self.dropped, float(through[left_out].max()))
        return kept
