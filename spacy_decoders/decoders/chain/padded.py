"""The scores of a chain model in the padded layout of the vectorised kernels."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from ...arrays import read_only
from .kernels.layout import BLOCK, LANES, aligned

__all__ = ["Padded", "TransitionBounds"]

Floats = NDArray[np.float32]


@dataclass(frozen=True, eq=False)
class Padded:
    """Rows padded with ``-inf`` to a multiple of 16, flat."""

    # ((L + 1) * stride,): the transitions, and as row L the start scores
    transitions: Floats
    end: Floats  # (stride,)
    size: int  # the number of labels, L

    @classmethod
    def of(cls, transitions: Floats, start: Floats, end: Floats) -> Padded:
        """Copy the scores of a model."""
        size = len(transitions)
        stride = -(-size // LANES) * LANES
        flat, last = aligned((size + 1) * stride), aligned(stride)
        rows = flat.reshape(-1, stride)
        rows[:] = -np.inf
        rows[:size, :size] = transitions
        rows[size, :size] = start
        last[:size], last[size:] = end, -np.inf
        return cls(read_only(flat), read_only(last), size)

    @cached_property
    def transposed(self) -> Floats:
        """**Shape ((L + 1) * stride,)**: column y as row y, and as row L the end scores."""
        size, stride = self.size, len(self.end)
        flat = aligned((size + 1) * stride)
        columns = flat.reshape(-1, stride)
        columns[:, size:] = -np.inf
        columns[:size, :size] = self.transitions.reshape(-1, stride)[:size, :size].T
        columns[size] = self.end
        return read_only(flat)

    @property
    def reversed(self) -> Padded:
        """The scores of sentences that are read from the right."""
        start = aligned(len(self.end))
        start[:] = self.transitions.reshape(-1, len(self.end))[self.size]
        return Padded(self.transposed, read_only(start), self.size)


class TransitionBounds(NamedTuple):
    """The largest and the smallest transition into and out of each label.

    References
    ----------
    Belanger et al. 2012, section 4.3: the bounds U of the reduced-cost oracle, and the data-
    independent terms of equation 14.
    """

    # (width,), the number of labels rounded up to a multiple of 64, and `-inf` beyond
    # the labels
    most_in: Floats
    least_in: Floats
    most_out: Floats
    least_out: Floats
    magnitude: float  # the largest absolute value of any finite transition, start or end score

    @classmethod
    def of(cls, transitions: Floats, start: Floats, end: Floats) -> TransitionBounds:
        """Compute the bounds of a model."""
        size = len(transitions)
        every = np.concatenate([transitions.reshape(-1), start, end])

        def padded(values: Any) -> Floats:
            wide: Floats = aligned(-(-size // BLOCK) * BLOCK)
            wide[:size], wide[size:] = values, -np.inf
            return read_only(wide)

        return cls(
            padded(transitions.max(axis=0)),
            padded(transitions.min(axis=0)),
            padded(transitions.max(axis=1)),
            padded(transitions.min(axis=1)),
            float(np.max(np.abs(every), initial=0.0, where=np.isfinite(every))),
        )
