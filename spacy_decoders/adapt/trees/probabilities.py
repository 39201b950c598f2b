"""The probability of each arc, summed over all trees."""

from __future__ import annotations

import numpy as np
from numpy.typing import ArrayLike, NDArray

from ...arrays import checked_scores
from ...errors import InfeasibleError, ProblemError

__all__ = ["arc_probabilities"]

Floats = NDArray[np.float64]

#: What is taken off the scores of arcs from the root where only one is allowed, the first that is
#: enough: a tree with two of them then counts nothing beside one with one.
HANDICAPS = (140.0, 500.0, 2000.0, 20000.0)

#: How far the expected number of arcs from the root may be from 1.
ROUNDING = 1e-9


def arc_probabilities(
    arcs: ArrayLike, *, projective: bool = False, single_root: bool = True
) -> Floats:
    """Return the probability of each arc, where a tree's is proportional to exp(its score).

    Parameters
    ----------
    arcs
        **Shape (n + 1, n + 1)**: `arcs[h, m]` scores h as the head of m; 0 is the root. ``-inf``
        forbids; column 0 and the diagonal are ignored.
    projective
        Whether arcs may not cross.
    single_root
        Whether one token alone hangs on the root.

    Returns
    -------
    **Shape (n + 1, n + 1)**, float64; every column but the first sums to 1. Right to about
    ``1e-13 * n``, however far apart the scores are: nothing in the sums cancels.

    Raises
    ------
    ProblemError
        If the shape does not fit, or a score is NaN or ``+inf``.
    InfeasibleError
        If there is no tree.

    Notes
    -----
    Projective: inside and outside sums over Eisner's spans. Non-projective: by the matrix-tree
    theorem the sum over all trees is a determinant. It is computed by eliminating one token after
    the other, as Grassmann, Taksar and Heyman eliminate the states of a Markov chain: without a
    subtraction, and in logarithms. Going back, the probability of each arc between those that are
    left is handed on, in shares, to the arcs that it stands for.

    References
    ----------
    Koo, Globerson, Carreras, Collins 2007, *Structured Prediction Models via the Matrix-Tree
    Theorem*. Grassmann, Taksar, Heyman 1985, *Regenerative Analysis and Steady State
    Distributions for Markov Chains*.

    Examples
    --------
    >>> arc_probabilities([[0, 1, 3], [0, 0, 1], [0, 2, 0]]).round(3).tolist()
    [[0.0, 0.047, 0.953], [0.0, 0.0, 0.047], [0.0, 0.953, 0.0]]
    """
    scores = checked_scores("arcs", arcs, (None, None), dtype=np.float64).copy()
    size = len(scores)
    if scores.shape != (size, size) or not size:
        raise ProblemError(f"arcs: expected a square array, the root first; got {scores.shape}.")
    scores[:, 0] = -np.inf
    np.fill_diagonal(scores, -np.inf)
    if size == 1:
        return np.zeros((1, 1))
    if projective:
        from .kernels.inside_outside import arc_probabilities as inside_outside

        found, total = inside_outside(scores, single_root)
        if total == -np.inf:
            raise _no_tree()
        projective_ones: Floats = found
        return projective_ones
    return _by_elimination(scores, single_root)


def _by_elimination(scores: Floats, single_root: bool) -> Floats:
    """Sum over non-projective trees."""
    best = scores[:, 1:].max(axis=0)
    if np.isneginf(best).any():
        raise _no_tree()
    logs = np.full_like(scores, -np.inf)
    logs[1:] = (scores[:, 1:] - best).T  # from token to head; what all have changes no share
    if not single_root:
        return _eliminated(logs).T
    for handicap in HANDICAPS:
        handicapped = logs.copy()
        handicapped[:, 0] -= handicap
        found = _eliminated(handicapped)
        if abs(found[:, 0].sum() - 1.0) <= ROUNDING:
            return found.T
    raise ProblemError(
        "arcs: the scores of arcs from the root are so much larger than others that trees with "
        "one root can't be told from those with several; forbid (-inf) what can't be the root."
    )


def _eliminated(logs: Floats) -> Floats:
    """Return the probability of each arc, **(token, head)**, from the logarithms of weights."""
    size = len(logs)
    left = logs.copy()
    rows: list[Floats] = []
    direct: list[Floats] = []
    for k in range(size - 1, 0, -1):
        top = left[k, :k].max()
        if top == -np.inf:
            raise _no_tree()
        total = top + np.log(np.exp(left[k, :k] - top).sum())
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
    probabilities: Floats = np.clip(found, 0.0, 1.0)
    return probabilities


def _no_tree() -> InfeasibleError:
    return InfeasibleError("no tree: some token has no allowed head from which the root is met.")
