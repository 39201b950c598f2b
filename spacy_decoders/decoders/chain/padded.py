"""The scores of a chain model in the layout of the kernels, and the tables made of them."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from ...arrays import read_only
from .kernels.layout import BLOCK, LANES, UP32, aligned
from .kernels.tables import TransitionTables

__all__ = ["Padded", "TransitionBounds", "links_of", "usual_limit"]

#: A score is a mask if it is negative and so many times as large as the largest positive one.
MASK_FACTOR = 32.0

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
    """The largest transition into and out of each label.

    **Shape (width,)**: the number of labels rounded up to a multiple of 64, and ``-inf`` beyond
    the labels. They are the bounds U of the reduced-cost oracle of Belanger et al. 2012, section
    4.3.
    """

    most_in: Floats
    most_out: Floats

    @classmethod
    def of(cls, transitions: Floats) -> TransitionBounds:
        """Compute the bounds of a model."""
        found = []
        for axis in (0, 1):
            wide: Floats = aligned(-(-len(transitions) // BLOCK) * BLOCK)
            wide[:] = -np.inf
            wide[: len(transitions)] = transitions.max(axis=axis)
            found.append(read_only(wide))
        return cls(*found)


def usual_limit(scores: Floats) -> float:
    """Return the limit below which a score counts as a mask, which no good labelling contains.

    Any limit is valid: it affects only how fast a proof is found. ``-inf`` if no score is that
    low.

    Examples
    --------
    >>> usual_limit(np.array([0.5, -1, 2, -1e9], dtype=np.float32))
    -64.0
    >>> usual_limit(np.array([0.5, -1, 2], dtype=np.float32))
    -inf
    """
    limit = -MASK_FACTOR * max(1.0, float(scores.max()))
    return limit if scores.min() < limit else -np.inf


def links_of(padded: Padded) -> TransitionTables:
    """Return a model's arrays in the layout of :mod:`.kernels.tables`."""
    size, stride = padded.size, len(padded.end)
    limit = usual_limit(padded.transitions.reshape(-1, stride)[:size, :size])
    gains = aligned((size + 1) * stride)
    gains[:] = -np.inf
    final = np.where(np.isfinite(padded.end), padded.end, 0.0).astype(np.float64)
    gains[-stride:] = padded.end + UP32 * np.abs(final)
    exits = aligned(size * stride if limit > -np.inf else 0)
    exits[:] = -np.inf
    return TransitionTables(
        padded.transitions,
        padded.end,
        gains,
        exits,
        np.zeros(size, dtype=np.uint8),
        np.float32(limit),
    )
