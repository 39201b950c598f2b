"""Leaving out candidates that are never the best choice, nor the best but one, before decoding."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

__all__ = ["Group", "Voices", "undominated"]

#: Rounds of comparing candidates, each among those that the one before has left.
ROUNDS = 2
#: Candidates of a mention that the others are compared with.
RIVALS = 3
#: By which part of the scores in question a candidate must be worse, beyond all rounding.
SAFETY = 1e-7


class Group(NamedTuple):
    """Mentions with the same candidates.

    Attributes
    ----------
    scores
        What each candidate is worth alone to each of the mentions, ``-inf`` where it is
        forbidden. **Shape:** ``(mentions, candidates)``
    slack
        What else a mention may gain by a candidate: that others of its text have chosen it.
    """

    scores: NDArray[np.float64]
    slack: float


class Voices(NamedTuple):
    """The least and the most weight that a mention of a group gives to another group.

    **Shapes:** ``(groups, groups)``, 0 where they have the same form.
    """

    least: NDArray[np.float64]
    most: NDArray[np.float64]


def undominated(
    groups: list[Group], near: NDArray[np.float64], voices: Voices
) -> NDArray[np.bool_]:
    """Which candidates may be chosen, or be the best other choice, in any best answer.

    A candidate is left out if two others of its mention are better whatever the other mentions
    are linked to. Then neither the best choice nor any margin changes: where one of the two is
    the choice, the other is an alternative at least as good. (Desmet et al. 1992, *The dead-end
    elimination theorem*, here with two witnesses.)

    Parameters
    ----------
    groups
        The groups of mentions.
    near
        What two candidates gain by each other, of all groups end to end. **Shape:** ``(n, n)``
    voices
        How much the groups gain by each other.

    Returns
    -------
    **Shape:** ``(n,)``
    """
    offsets = np.cumsum([0, *(group.scores.shape[1] for group in groups)]).astype(np.int64)
    keep = np.ones(int(offsets[-1]), bool)
    # first by what each can gain at most and at least: cheap, and leaves out most
    for at, group in enumerate(groups):
        own = slice(int(offsets[at]), int(offsets[at + 1]))
        most = np.maximum.reduceat(near[own], offsets[:-1], axis=1)
        least = np.minimum.reduceat(near[own], offsets[:-1], axis=1)
        high = _weighed(most, voices, at)
        keep[own] = _unbeaten(group, high, -_weighed(-least, voices, at))
    for _ in range(ROUNDS):
        before = int(keep.sum())
        rows = np.flatnonzero(keep)
        starts = np.searchsorted(rows, offsets[:-1])
        left = near[np.ix_(rows, rows)]
        for at, group in enumerate(groups):
            stop = starts[at + 1] if at + 1 < len(groups) else len(rows)
            own = slice(int(starts[at]), int(stop))
            places = rows[own]
            if len(places) > 2:
                scores = group.scores[:, places - offsets[at]]
                keep[places] = _unmatched(
                    Group(scores, group.slack), left[own], starts, voices, at
                )
        if int(keep.sum()) == before:
            break
    return keep


def _weighed(gains: NDArray[np.float64], voices: Voices, at: int) -> NDArray[np.float64]:
    """The most that gains by each group may come to. **Shapes:** ``(n, groups)`` to ``(n,)``"""
    weights = np.where(gains > 0, voices.most[at], voices.least[at])
    return np.asarray((gains * weights).sum(axis=1))


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


def _unmatched(
    group: Group,
    near: NDArray[np.float64],
    starts: NDArray[np.int64],
    voices: Voices,
    at: int,
) -> NDArray[np.bool_]:
    """Which candidates fewer than two rivals beat, whatever the other mentions are linked to."""
    scores = group.scores
    support = scores.min(axis=0)
    support = support + 0.5 * _weighed(np.maximum.reduceat(near, starts, axis=1), voices, at)
    rivals = [i for i in np.argsort(-support)[:RIVALS].tolist() if np.isfinite(support[i])]
    beaten = np.zeros(scores.shape[1], np.int64)
    for rival in rivals:
        gains = np.maximum.reduceat(near - near[rival], starts, axis=1)
        apart = np.where(np.isinf(scores), -np.inf, scores - scores[:, rival, None]).max(axis=0)
        size = np.abs(gains).sum(axis=1) + np.abs(scores[:, rival]).max()
        worst = apart + _weighed(gains, voices, at) + group.slack
        beaten += worst + SAFETY * (1.0 + size) < 0
    return np.asarray(beaten < 2)
