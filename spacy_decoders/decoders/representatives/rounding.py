"""What float64 may lose in a sum, so that a bound can leave it out."""

from __future__ import annotations

from typing import TypeVar

import numpy as np
from numpy.typing import NDArray

__all__ = ["relative_tolerance", "rounded_down"]

#: The relative error of one operation, and the absolute one of a result near 0.
UNIT, SMALLEST = float(np.finfo(np.float64).eps) / 2, 5e-324

Number = TypeVar("Number", float, NDArray[np.float64])


def relative_tolerance(scale: float) -> float:
    """Return how near a bound must be to the cost of a choice whose absolute costs add to this.

    The second part, far below any cost that is meant, is for sums of denormal numbers.
    """
    return 1e-9 * scale + 1e-250


def rounded_down(sums: Number, magnitudes: Number, terms: int) -> Number:
    """Return what computed sums are at least, whatever was lost to rounding.

    Parameters
    ----------
    sums
        As computed, from terms that are right to a few roundings each.
    magnitudes
        The sums of the terms' absolute values.
    terms
        How many terms each has, at most.

    Examples
    --------
    >>> rounded_down(0.1 + 0.2, 0.1 + 0.2, 2) < 0.3
    True
    """
    # twice the usual bound: the magnitudes are rounded, too, and so is what is taken off
    operations = 2 * (terms + 4)
    lowered: Number = sums - operations * UNIT * magnitudes - operations * SMALLEST
    return lowered
