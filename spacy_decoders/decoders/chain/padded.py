"""The scores of a chain model as the vectorised kernels want them."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property
from typing import TYPE_CHECKING

import numpy as np
from numpy.typing import NDArray

from ...arrays import read_only
from .kernels.layout import LANES, aligned

if TYPE_CHECKING:
    from .problem import ChainModel

__all__ = ["Padded"]


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
    """

    transitions: NDArray[np.float32]
    end: NDArray[np.float32]
    size: int

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
        return cls(flat, end, size)

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
