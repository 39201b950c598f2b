"""The scores of a chain model as the vectorised kernels want them."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property
from typing import TYPE_CHECKING, TypeAlias

import numpy as np
from numpy.typing import NDArray

from ...arrays import read_only
from .flat import LANES, aligned
from .rules import Rules, rules_of

if TYPE_CHECKING:
    from .problem import ChainModel

__all__ = ["Padded"]

#: transitions, end, ceiling, gains, ready
Pruning: TypeAlias = tuple[
    NDArray[np.float32],
    NDArray[np.float32],
    NDArray[np.float32],
    NDArray[np.float32],
    NDArray[np.uint8],
]


@dataclass(frozen=True, eq=False)
class Padded:
    """Rows padded with ``-inf`` to a multiple of 16, flat.

    Attributes
    ----------
    transitions
        **Shape ((L + 1) * stride,)**: the transitions, and as row L the start scores.
    end
        **Shape (stride,)**.
    size
        The number of labels, L.
    has_forbidden
        That of the model.
    """

    transitions: NDArray[np.float32]
    end: NDArray[np.float32]
    size: int
    has_forbidden: bool

    @classmethod
    def of(cls, model: ChainModel) -> Padded:
        """Copy the scores of a model."""
        size = model.size
        stride = -(-size // LANES) * LANES
        transitions = aligned((size + 1) * stride)
        rows = transitions.reshape(-1, stride)
        rows[:] = -np.inf
        rows[:size, :size] = model.transitions
        rows[size, :size] = model.start_scores
        end = aligned(stride)
        end[:size], end[size:] = model.end_scores, -np.inf
        flat, end = read_only(transitions), read_only(end)
        return cls(flat, end, size, model.has_forbidden)

    @cached_property
    def transposed(self) -> NDArray[np.float32]:
        """**Shape ((L + 1) * stride,)**: column y as row y, and as row L the end scores."""
        size, stride = self.size, len(self.end)
        flat = aligned((size + 1) * stride)
        columns = flat.reshape(-1, stride)
        columns[:, size:] = -np.inf
        columns[:size, :size] = self.transitions.reshape(-1, stride)[:size, :size].T
        columns[size] = self.end
        return read_only(flat)

    @cached_property
    def dominance(self) -> Pruning | Rules:
        """What forward dominance needs, in the order that its kernels take."""
        return rules_of(self) if self.has_forbidden else self._pruning()

    def _pruning(self) -> Pruning:
        """Return what it needs where no transition is forbidden.

        The rows of the gains are filled in by the kernels when a sentence first needs them,
        and memory that none needs is never touched: at most 4 bytes for each pair of labels.
        Row L is that of the last token, after which nothing can be gained.
        """
        size, stride = self.size, len(self.end)
        ceiling = aligned(stride)
        self.transitions.reshape(-1, stride).max(axis=0, out=ceiling)
        gains = aligned((size + 1) * stride)
        gains[-stride:] = 0.0
        gains[size * stride + size :] = -np.inf
        ready = np.zeros(size, dtype=np.uint8)
        return self.transitions, self.end, ceiling, gains, ready
