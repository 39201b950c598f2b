"""All choices of a small box that are cheap enough."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from .fixed_point import FixedPoint
from .kernels.enumeration import reduced, search
from .kernels.layout import Box

__all__ = ["Enumerated", "enumerate_box"]

#: Depth-first steps before a box is split and bounded anew; fewer where each has so many
#: candidates to look at that this takes long, and none beyond so many candidates.
STEPS, LOOKS, MOST = 20_000, 20_000_000, 2_000


class Enumerated(NamedTuple):
    """What became of a box."""

    least: int  # quanta that every choice in it costs at least
    choices: NDArray[np.int64] | None  # (k,): the cheapest, if it is cheap enough; else None


def enumerate_box(
    numbers: FixedPoint, keep: NDArray[np.bool_], potentials: NDArray[np.int64], cutoff: int
) -> Enumerated | None:
    """Look at all choices of a box that may cost `cutoff` quanta at most; None if too many.

    The potentials, of which any are valid, make the bounds of partial choices good. The costs
    are the problem's own, apart from the sweeps.
    """
    box = Box.of(keep, numbers.offsets)
    if len(box.kept) > MOST:
        return None
    steps = min(STEPS, LOOKS // len(box.kept))
    found = search(reduced(numbers.arrays, box, potentials), cutoff, numbers.step, steps)
    if found.nodes > steps:
        return None
    choices = box.kept[found.choices] - numbers.offsets[:-1] if found.best <= cutoff else None
    return Enumerated(int(found.least), choices)
