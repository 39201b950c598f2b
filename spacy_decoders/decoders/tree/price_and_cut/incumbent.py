"""The incumbent: the best tree so far, and its local search."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from ....budget import Clock
from .kernels import chains as kernels
from .pricing import Floats, GrandparentModel, Mask

__all__ = ["Incumbent"]


class Incumbent:
    """The best tree that a search has found.

    Parameters
    ----------
    model
        The scores; those of the chains of candidate trees are computed.
    local_search
        Whether each new best tree is improved, head by head, as long as the clock runs.

    Attributes
    ----------
    heads
        -1 for the root; None before the first tree. **Shape:** ``(n + 1,)``
    score
        Its score; ``-inf`` before the first.
    pruned
        An upper bound on all trees with a pruned arc.
    """

    def __init__(self, model: GrandparentModel, local_search: bool, clock: Clock) -> None:
        self._model = model
        self._local_search = local_search
        self._clock = clock
        self._allowed = model.arcs > -np.inf
        self._wanted = np.empty((3, model.arcs.size), dtype=np.int64)
        self.heads: NDArray[np.int64] | None = None
        self.score = self.pruned = -np.inf

    @property
    def tolerance(self) -> float:
        """The gap within which a bound closes a node."""
        return max(5e-10, 2e-10 * abs(self.score)) if self.heads is not None else 0.0

    def offer(self, heads: NDArray[np.int64]) -> None:
        """Replace the incumbent if this tree is better."""
        if self._keep(heads) and self._local_search:
            self._improve(heads.copy())

    def _keep(self, heads: NDArray[np.int64]) -> bool:
        arcs = float(self._model.arcs[heads[1:], np.arange(1, len(heads))].sum())
        score = arcs + self._model.table.of_tree(heads)
        better = score > self.score
        if better:
            self.heads, self.score = heads, score
        return better

    def _improve(self, heads: NDArray[np.int64]) -> None:
        arcs, table, projective, single_root = self._model
        while not self._clock.exhausted():
            scores = (arcs, table.upper, table.known, self._allowed)
            given = (heads, single_root, projective, self._wanted)
            count = kernels.local_search(*scores, *given)
            if count == 0:
                break
            table.score(*self._wanted[:, :count])
        self._keep(heads)

    def prune(self, allowed: Mask, through: Floats) -> Mask:
        """Keep the arcs of the incumbent, and those that a better tree may have.

        Parameters
        ----------
        through
            An upper bound on all trees with each arc. **Shape:** ``(n + 1, n + 1)``
        """
        kept = allowed & (through > self.score + self.tolerance)
        if self.heads is not None:
            tokens = np.arange(1, len(self.heads))
            kept[self.heads[1:], tokens] |= allowed[self.heads[1:], tokens]
        pruned = allowed & ~kept
        if pruned.any():
            self.pruned = max(self.pruned, float(through[pruned].max()))
        return kept
