"""All choices of a small box that are cheap enough."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from .fixed_point import FixedPoint
from .kernels.evaluation import reduced, search

__all__ = ["Enumerated", "enumerate_box"]

#: Depth-first steps before a box is split and bounded anew; fewer where each has so many
#: candidates to look at that this takes long, and none beyond so many candidates.
STEPS, LOOKS, MOST = 20_000, 20_000_000, 2_000


class Enumerated(NamedTuple):
    """What became of a box.

    Attributes
    ----------
    least
        Quanta that every choice in it costs at least.
    choices
        **Shape:** (k,): the cheapest, if it is cheap enough; else None.
    """

    least: int
    choices: NDArray[np.int64] | None


def enumerate_box(
    numbers: FixedPoint,
    keep: NDArray[np.bool_],
    potentials: NDArray[np.int64],
    cutoff: int,
) -> Enumerated | None:
    """Look at all choices of a box that may cost `cutoff` quanta at most; None if too many.

    The potentials, of which any are valid, make the bounds of partial choices good. The costs
    are the problem's own, apart from the sweeps.
    """
    kept = np.flatnonzero(keep)
    if len(kept) > MOST:
        return None
    ends = np.searchsorted(kept, numbers.offsets)
    paid, pairs, begins, rest = reduced(
        numbers.unary, numbers.blocks, numbers.starts, numbers.offsets, kept, ends, potentials
    )
    steps = min(STEPS, LOOKS // len(kept))
    least, best, chosen, nodes = search(
        paid, pairs, begins, rest, ends, cutoff, numbers.step, steps
    )
    if nodes > steps:
        return None
    return Enumerated(int(least), kept[chosen] - numbers.offsets[:-1] if best <= cutoff else None)
