"""Leaving out candidates that are never the best choice, nor the best but one, before decoding."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

__all__ = ["undominated"]

#: By which part of the scores in question a candidate must be worse, beyond all rounding.
SAFETY = 1e-7


def undominated(
    offsets: NDArray[np.int64],
    least: NDArray[np.float64],
    most: NDArray[np.float64],
    near: NDArray[np.float64],
    voices: NDArray[np.float64],
) -> NDArray[np.bool_]:
    """Which candidates may be chosen, or be the best other choice, in any best answer.

    Candidates belong to groups of mentions with the same ones. One is left out if two others of
    its group, by the least that they gain by each other group, are better than it is by the most.
    Then neither the best choice nor any margin changes: where one of the two is the choice, the
    other is an alternative at least as good. (Desmet et al. 1992, *The dead-end elimination
    theorem*, here with two witnesses.)

    Parameters
    ----------
    offsets
        Where the candidates of each group begin, at least two. **Shape:** ``(groups + 1,)``
    least, most
        What each candidate is worth to the mentions of its group by itself, ``-inf`` where it is
        forbidden. **Shapes:** ``(n,)``
    near
        What two candidates gain by each other. **Shape:** ``(n, n)``
    voices
        The weight that a mention of each group gives to each other group, not negative.
        **Shape:** ``(groups, groups)``

    Returns
    -------
    **Shape:** ``(n,)``
    """
    own = np.repeat(np.arange(len(offsets) - 1), np.diff(offsets))
    high, low = (
        np.einsum("ij,ij->i", extreme.reduceat(near, offsets[:-1], axis=1), voices[own])
        for extreme in (np.maximum, np.minimum)
    )
    # each is at least this much, to every mention; of the two best, the lower
    at_worst = least + low
    floor = at_worst[np.lexsort((at_worst, own))[offsets[1:] - 2]][own]
    at_best = most + high
    size = 1.0 + np.abs(np.where(np.isinf(at_best), 0.0, at_best)) + np.abs(floor)
    return np.asarray(np.isinf(floor) | (at_best >= floor - SAFETY * size))
