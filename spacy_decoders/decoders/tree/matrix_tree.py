"""Sums over non-projective trees: the matrix-tree theorem, without subtractions."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from ...errors import InfeasibleError

__all__ = ["by_elimination"]

Floats = NDArray[np.float64]

#: What is taken off the scores of arcs from the root where only one is allowed, the first that is
#: enough: a tree with two of them then counts nothing beside one with one. Where none is, every
#: root has a sum of its own.
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

    With a single root the scores of its arcs are lowered, so that trees with several count
    nothing. Where every tree with one root has an arc that is scored as if forbidden (-1e6, say),
    no moderate amount is enough: then each token is the root in turn, in O(n^4).

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
    logs[1:] = scores[:, 1:].T  # as given: the best heads, now the root, may not be allowed
    found, total = _root_by_root(logs)
    return found.T, total


def _root_by_root(logs: Floats) -> tuple[Floats, float]:
    """Return the probability of each arc, and the log of the sum, over trees with one root."""
    others = logs.copy()
    others[:, 0] = -np.inf
    # every sum is kept relative to these, so that large scores that all share cost no digits
    shared = others[1:].max(axis=1)
    shared[np.isneginf(shared)] = 0.0
    common = float(shared.max())
    found, sums = [], []
    for root in np.flatnonzero(logs[:, 0] > -np.inf):
        alone = others.copy()
        alone[root] = -np.inf
        alone[root, 0] = 0.0
        best = alone[1:].max(axis=1)
        if np.isneginf(best).any():
            continue
        alone[1:] -= best[:, None]
        try:
            part, total = _eliminated(alone)
        except InfeasibleError:
            continue
        best -= shared
        best[root - 1] = logs[root, 0] - (shared[root - 1] - common)
        found.append(part)
        sums.append(total + float(best.sum()))
    if not found:
        raise no_tree()
    weights = np.exp(np.array(sums) - max(sums))
    likely = np.tensordot(weights / weights.sum(), np.array(found), axes=1)
    return likely, float(max(sums) + np.log(weights.sum()) + (shared.sum() - common))


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
