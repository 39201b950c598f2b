"""The probability of each arc, summed over all trees."""

from __future__ import annotations

import numpy as np
from numpy.typing import ArrayLike, NDArray

from ...arrays import checked_scores
from ...errors import InfeasibleError, ProblemError

__all__ = ["arc_probabilities"]

Floats = NDArray[np.float64]

#: By what arcs from the root are scaled where only one is allowed, one after the other: a tree
#: with two then counts nothing beside one with one.
SCALES = (1e-60, 1e-120, 1e-240)

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
    ``1e-14 * n``, however far apart the scores are: nothing in the sums cancels.

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
    subtraction; and the probabilities are its derivatives, by going back through the elimination.

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
    heads = scores[:, 1:].max(axis=0)
    if np.isneginf(heads).any():
        raise _no_tree()
    # a factor for each token changes no probability
    weights = np.zeros_like(scores)
    weights[1:] = np.exp(scores[:, 1:] - heads).T  # from token to head
    if not single_root:
        return _eliminated(weights).T
    for scale in SCALES:
        scaled = weights.copy()
        scaled[:, 0] *= scale
        found = _eliminated(scaled)
        if abs(found[:, 0].sum() - 1.0) <= ROUNDING:
            return found.T
    raise ProblemError(
        "arcs: the scores of arcs from the root are so much larger than others that trees with "
        "one root can't be told from those with several; forbid (-inf) what can't be the root."
    )


def _eliminated(weights: Floats) -> Floats:
    """Return the probability of each arc, **(token, head)**, from the weights of arcs."""
    size = len(weights)
    left = weights.copy()
    columns, rows = [], []
    for k in range(size - 1, 0, -1):
        total = left[k, :k].sum()
        if not total > 0.0:
            raise _no_tree()
        row, column = left[k, :k] / total, left[1:k, k].copy()
        columns.append(column)
        rows.append(row)
        # what hangs on k hangs on the heads of k instead; a cycle is none of a tree's
        left[1:k, :k] += column[:, None] * row
        left[np.arange(1, k), np.arange(1, k)] = 0.0
    # backwards: `slopes` are the derivatives of the logarithm of the sum by each weight
    slopes = np.zeros((size, size))
    for k in range(1, size):
        column, row = columns[size - 1 - k], rows[size - 1 - k]
        total = left[k, :k].sum()
        inner = slopes[1:k, :k]
        gains = inner - (inner @ row)[:, None]
        slopes[k, :k] = (1.0 + column @ gains) / total
        slopes[1:k, k] = inner @ row
    found: Floats = np.clip(weights * slopes, 0.0, 1.0)
    return found


def _no_tree() -> InfeasibleError:
    return InfeasibleError("no tree: some token has no allowed head from which the root is met.")
