"""The scores of a chain model as the vectorised kernels want them."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property
from typing import TYPE_CHECKING

import numpy as np
from numpy.typing import NDArray

from ...arrays import read_only

if TYPE_CHECKING:
    from .problem import ChainModel

__all__ = ["Padded"]

#: Floats that the kernels take at a time.
LANES = 16


@dataclass(frozen=True, eq=False)
class Padded:
    """Rows padded with ``-inf`` to a multiple of 16, flat.

    Attributes
    ----------
    transitions
        **Shape ((L + 1) * stride,)**: the transitions, and as row L the start scores.
    end
        **Shape (stride,)**.
    dominance
        **Shape (L * stride,)**: row g holds the bounds D[g, x], once ``ready[g]`` is set.
        The kernels fill in a row when they first need it, so memory that no sentence needs
        is never touched: 4 bytes for each pair of labels at most, as for the transitions.
    ready
        **Shape (L,)**, uint8.
    """

    transitions: NDArray[np.float32]
    end: NDArray[np.float32]
    dominance: NDArray[np.float32]
    ready: NDArray[np.uint8]

    @cached_property
    def transposed(self) -> NDArray[np.float32]:
        """**Shape ((L + 1) * stride,)**: column y as row y, and as row L the end scores."""
        size, stride = len(self.ready), len(self.end)
        columns = np.full((size + 1, stride), -np.inf, dtype=np.float32)
        columns[:size, :size] = self.transitions.reshape(-1, stride)[:size, :size].T
        columns[size] = self.end
        return read_only(columns.reshape(-1))

    @classmethod
    def of(cls, model: ChainModel) -> Padded:
        """Copy the scores of a model."""
        size = model.size
        stride = -(-size // LANES) * LANES
        transitions = np.full((size + 1, stride), -np.inf, dtype=np.float32)
        transitions[:size, :size] = model.transitions
        transitions[size, :size] = model.start_scores
        end = np.full(stride, -np.inf, dtype=np.float32)
        end[:size] = model.end_scores
        return cls(
            read_only(transitions.reshape(-1)),
            read_only(end),
            np.empty(size * stride, dtype=np.float32),
            np.zeros(size, dtype=np.uint8),
        )
