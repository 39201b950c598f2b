"""The scores of a chain model as the vectorised kernels want them."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property
from typing import TYPE_CHECKING, TypeAlias

import numpy as np
from numpy.typing import NDArray

from ...arrays import read_only

if TYPE_CHECKING:
    from .problem import ChainModel

__all__ = ["Padded"]

#: Floats that the kernels take at a time.
LANES = 16

#: Labels whose largest values share a crest of 16.
WORD = 4 * LANES


#: transitions, ceiling, end, bounds, bounds beyond reach, ready, kinds, magnitude
Pruning: TypeAlias = tuple[
    NDArray[np.float32],
    NDArray[np.float32],
    NDArray[np.float32],
    NDArray[np.float32],
    NDArray[np.float32],
    NDArray[np.uint8],
    NDArray[np.int64],
    float,
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
    magnitude, has_forbidden
        Those of the model.
    """

    transitions: NDArray[np.float32]
    end: NDArray[np.float32]
    size: int
    magnitude: float
    has_forbidden: bool

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
        flat, end = read_only(transitions.reshape(-1)), read_only(end)
        return cls(flat, end, size, model.magnitude, model.has_forbidden)

    @cached_property
    def transposed(self) -> NDArray[np.float32]:
        """**Shape ((L + 1) * stride,)**: column y as row y, and as row L the end scores."""
        size, stride = self.size, len(self.end)
        columns = np.full((size + 1, stride), -np.inf, dtype=np.float32)
        columns[:size, :size] = self.transitions.reshape(-1, stride)[:size, :size].T
        columns[size] = self.end
        return read_only(columns.reshape(-1))

    @cached_property
    def pruning(self) -> Pruning:
        """What forward dominance needs, in the order that its kernels take.

        The rows of the bounds are filled in by the kernels when a sentence first needs them,
        and memory that none needs is never touched: at most 5 bytes for each pair of labels,
        10 where transitions are forbidden. Row L is that of the last token, after which
        nothing can be gained. Labels of one kind may be followed by the same labels.
        """
        size, stride = self.size, len(self.end)
        ceiling = self.transitions.reshape(-1, stride).max(axis=0)
        width = stride + -(-stride // WORD) * LANES
        bounds = np.empty((size + 1) * width, dtype=np.float32)
        beyond = np.empty(len(bounds) if self.has_forbidden else 0, dtype=np.float32)
        bounds[-width:] = 0.0
        bounds[size * width + size : size * width + stride] = -np.inf
        beyond[-width:] = -np.inf
        ready = np.zeros(size, dtype=np.uint8)
        kinds = np.zeros(0, dtype=np.int64)
        if self.has_forbidden:
            legal = np.packbits(self.transitions.reshape(-1, stride)[:size] > -np.inf, axis=1)
            kinds = np.unique(legal, axis=0, return_inverse=True)[1].reshape(-1).astype(np.int64)
        links = (self.transitions, ceiling, self.end)
        return *links, bounds, beyond, ready, kinds, self.magnitude
