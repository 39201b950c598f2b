"""Leaving out candidates that are never the best choice, nor the best but one, before decoding."""

from __future__ import annotations

from itertools import pairwise
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from .kernels.extremes import extremes_by_group, most_beside_rivals

__all__ = ["Group", "Voices", "undominated"]

#: Rounds of comparing candidates, each among those that the one before has left.
ROUNDS = 2
#: Candidates of a mention that the others are compared with.
RIVALS = 3
#: By which part of the scores in question a candidate must be worse, beyond all rounding.
SAFETY = 1e-7


class Group(NamedTuple):
    """Mentions with the same candidates."""

    #: What each candidate is worth alone to each of the mentions, ``-inf`` where it is
    #: forbidden. **Shape:** ``(mentions, candidates)``
    scores: NDArray[np.float64]
    #: What else a mention may gain by a candidate: that others of its text have chosen it.
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
    sizes = np.array([group.scores.shape[1] for group in groups])
    offsets = np.concatenate([[0], np.cumsum(sizes)]).astype(np.int64)
    own = np.repeat(np.arange(len(groups)), sizes)
    keep = np.ones(int(offsets[-1]), bool)
    # first by what each can gain at most and at least: cheap, and leaves out most
    most, least = np.empty((2, len(near), len(groups)))
    extremes_by_group(near, offsets, most, least)
    high, low = _weighed(most, voices, own), -_weighed(-least, voices, own)
    for group, start, stop in zip(groups, offsets.tolist(), offsets[1:].tolist(), strict=False):
        keep[start:stop] = _unbeaten(group, high[start:stop], low[start:stop])
    for _ in range(ROUNDS):
        rows = np.flatnonzero(keep)
        starts = np.searchsorted(rows, offsets)
        left = np.ascontiguousarray(near[np.ix_(rows, rows)])
        unmatched = _unmatched(groups, left, starts, rows - offsets[own[rows]], voices)
        keep[rows] = unmatched
        if unmatched.all():
            break
    return keep


def _weighed(
    gains: NDArray[np.float64], voices: Voices, own: NDArray[np.int64]
) -> NDArray[np.float64]:
    """The most that gains by each group may come to. **Shapes:** ``(n, groups)`` to ``(n,)``"""
    weights = np.where(gains > 0, voices.most[own], voices.least[own])
    return np.asarray(np.einsum("ij,ij->i", gains, weights))


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
    groups: list[Group],
    near: NDArray[np.float64],
    offsets: NDArray[np.int64],
    places: NDArray[np.int64],
    voices: Voices,
) -> NDArray[np.bool_]:
    """Which candidates fewer than two rivals beat, whatever the other mentions are linked to.

    `near` is between the candidates that are left, `places` are theirs in their groups.
    """
    own = np.repeat(np.arange(len(groups)), np.diff(offsets))
    highest, lowest = np.empty((2, len(near), len(groups)))
    extremes_by_group(near, offsets, highest, lowest)
    most = _weighed(highest, voices, own)
    # of each group a rival by rank, and by how much each candidate is better than it alone
    rivals = np.full((RIVALS, len(groups)), -1, np.int64)
    apart, largest = np.zeros((RIVALS, len(places))), np.zeros((RIVALS, len(groups)))
    for g, (start, stop) in enumerate(pairwise(offsets.tolist())):
        if stop - start <= 2:
            continue
        scores = groups[g].scores[:, places[start:stop]]
        support = scores.min(axis=0) + 0.5 * most[start:stop]
        for rank, i in enumerate(np.argsort(-support)[:RIVALS].tolist()):
            if np.isfinite(support[i]):
                rivals[rank, g] = start + i
                better = np.where(np.isinf(scores), -np.inf, scores - scores[:, i, None])
                apart[rank, start:stop] = better.max(axis=0)
                largest[rank, g] = np.abs(scores[:, i]).max()
    slack = np.array([group.slack for group in groups])[own]
    beaten = np.zeros(len(places), np.int64)
    for rank in range(RIVALS):
        rival = rivals[rank, own]
        some = np.flatnonzero(rival >= 0)
        if not len(some):
            continue
        gains = np.empty((len(some), len(groups)))
        most_beside_rivals(near, some, rival[some], offsets, gains)
        size = np.abs(gains).sum(axis=1) + largest[rank, own[some]]
        worst = apart[rank, some] + _weighed(gains, voices, own[some]) + slack[some]
        beaten[some] += worst + SAFETY * (1.0 + size) < 0
    return np.asarray(beaten < 2)
