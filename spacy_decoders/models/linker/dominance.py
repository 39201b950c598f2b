"""Leaving out candidates that are never the best choice, nor the best but one, before decoding."""

from __future__ import annotations

from itertools import pairwise
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

__all__ = ["Group", "undominated"]

#: By which part of the scores in question a candidate must be worse, beyond all rounding.
SAFETY = 1e-7


class Group(NamedTuple):
    """Mentions with the same candidates."""

    #: What each candidate is worth alone to each of the mentions, ``-inf`` where it is
    #: forbidden. **Shape:** ``(mentions, candidates)``
    scores: NDArray[np.float64]
    #: What else a mention may gain by a candidate: that others of its text have chosen it.
    slack: float


def undominated(
    groups: list[Group], near: NDArray[np.float64], voices: NDArray[np.float64]
) -> NDArray[np.bool_]:
    """Which candidates may be chosen, or be the best other choice, in any best answer.

    A candidate is left out if two others of its mention, by the least that they gain by each
    group, are better than it is by the most. Then neither the best choice nor any margin changes:
    where one of the two is the choice, the other is an alternative at least as good. (Desmet et
    al. 1992, *The dead-end elimination theorem*, here with two witnesses.)

    Parameters
    ----------
    groups
        The groups of mentions.
    near
        What two candidates gain by each other, of all groups end to end. **Shape:** ``(n, n)``
    voices
        The weight that a mention of each group gives to each other group, not negative.
        **Shape:** ``(groups, groups)``

    Returns
    -------
    **Shape:** ``(n,)``
    """
    sizes = np.array([group.scores.shape[1] for group in groups])
    offsets = np.concatenate([[0], np.cumsum(sizes)]).astype(np.int64)
    own = np.repeat(np.arange(len(groups)), sizes)
    high, low = (
        np.einsum("ij,ij->i", extreme.reduceat(near, offsets[:-1], axis=1), voices[own])
        for extreme in (np.maximum, np.minimum)
    )
    kept = [
        _unbeaten(group, high[start:stop], low[start:stop])
        for group, (start, stop) in zip(groups, pairwise(offsets.tolist()), strict=True)
    ]
    return np.concatenate(kept)


def _unbeaten(
    group: Group, high: NDArray[np.float64], low: NDArray[np.float64]
) -> NDArray[np.bool_]:
    """Which candidates at their best are better than the second one at its worst."""
    scores = group.scores
    if scores.shape[1] <= 2:
        return np.ones(scores.shape[1], bool)
    # each is at least this much, to every mention; of the two best, the lower
    floor = np.sort(scores.min(axis=0) + low)[-2]
    if not np.isfinite(floor):
        return np.ones(scores.shape[1], bool)
    ceiling = scores.max(axis=0) + high + group.slack
    size = 1.0 + np.abs(np.where(np.isinf(ceiling), 0.0, ceiling)) + abs(float(floor))
    return np.asarray(ceiling >= floor - SAFETY * size)
