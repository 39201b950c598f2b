"""Sums over non-projective trees: the matrix-tree theorem, without subtractions."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from ...errors import InfeasibleError, ProblemError

__all__ = ["by_elimination"]

Floats = NDArray[np.float64]

#: What is taken off the scores of arcs from the root where only one is allowed, the first that is
#: enough: a tree with two of them then counts nothing beside one with one.
HANDICAPS = (140.0, 500.0, 2000.0, 20000.0)

#: How far the expected number of arcs from the root may be from 1.
ROUNDING = 1e-9

#: Tokens up to which the compiled kernel keeps its shares, of 8 n^3 / 3 bytes.
LONGEST = 300


def by_elimination(scores: Floats, single_root: bool) -> tuple[Floats, float]:
    """Return the probability of each arc, and the log of the sum over all trees.

    Parameters
    ----------
    scores
        **Shape (n + 1, n + 1)**, head by token, with ``-inf`` in column 0 and on the diagonal.
    single_root
        Whether one token alone hangs on the root.

    Raises
    ------
    InfeasibleError
        If there is no tree.

    Notes
    -----
    By the matrix-tree theorem the sum over all trees is a determinant. It is computed by
    eliminating one token after the other, as Grassmann, Taksar and Heyman eliminate the states of
    a Markov chain: without a subtraction. Going back, the probability of each arc between those
    that are left is handed on, in shares, to the arcs that it stands for.

    References
    ----------
    Koo, Globerson, Carreras, Collins 2007, *Structured Prediction Models via the Matrix-Tree
    Theorem*. Grassmann, Taksar, Heyman 1985, *Regenerative Analysis and Steady State
    Distributions for Markov Chains*.
    """
    best = scores[:, 1:].max(axis=0)
    if np.isneginf(best).any():
        raise no_tree()
    logs = np.full_like(scores, -np.inf)
    logs[1:] = (scores[:, 1:] - best).T  # from token to head; what all have changes no share
    scale = float(best.sum())
    if not single_root:
        found, total = _eliminated(logs)
        return found.T, total + scale
    for handicap in HANDICAPS:
        handicapped = logs.copy()
        handicapped[:, 0] -= handicap
        found, total = _eliminated(handicapped)
        if abs(found[:, 0].sum() - 1.0) <= ROUNDING:
            return found.T, total + handicap + scale
    raise ProblemError(
        "arcs: the scores of arcs from the root are so much larger than others that trees with "
        "one root can't be told from those with several; forbid (-inf) what can't be the root."
    )


def _eliminated(logs: Floats) -> tuple[Floats, float]:
    """Return the probability of each arc, **(token, head)**, and the log of the sum.

    From the logarithms of weights; with weights themselves where none can underflow.
    """
    if len(logs) <= LONGEST:
        from .kernels.matrix_tree import arc_probabilities

        found, total = arc_probabilities(np.exp(logs))
        if not np.isnan(total):
            return np.clip(found, 0.0, 1.0), float(total)
    return _eliminated_by_logs(logs)


def _eliminated_by_logs(logs: Floats) -> tuple[Floats, float]:
    size = len(logs)
    left = logs.copy()
    rows: list[Floats] = []
    direct: list[Floats] = []
    log_sum = 0.0
    for k in range(size - 1, 0, -1):
        top = left[k, :k].max()
        if top == -np.inf:
            raise no_tree()
        total = top + np.log(np.exp(left[k, :k] - top).sum())
        log_sum += float(total)
        rows.append(np.exp(left[k, :k] - total))
        # what hangs on k hangs on the heads of k instead; a cycle is none of a tree's
        detour = left[1:k, k, None] + (left[k, :k] - total)
        detour[np.arange(k - 1), np.arange(1, k)] = -np.inf
        before = left[1:k, :k].copy()
        np.logaddexp(before, detour, out=left[1:k, :k])
        after = np.where(np.isneginf(left[1:k, :k]), 0.0, left[1:k, :k])
        direct.append(np.exp(before - after))
    found = np.zeros((size, size))
    for k in range(1, size):
        share, row = direct[size - 1 - k], rows[size - 1 - k]
        over = found[1:k, :k] * (1.0 - share)
        found[1:k, :k] *= share
        found[1:k, k] = over.sum(axis=1)
        # its own head, by how the others choose theirs through it
        found[k, :k] = row * (1.0 - float(over.sum())) + over.sum(axis=0)
    return np.clip(found, 0.0, 1.0), log_sum


def no_tree() -> InfeasibleError:
    """The error of scores without a tree."""
    return InfeasibleError("no tree: some token has no allowed head from which the root is met.")
