"""The distribution over trees: the probability of each arc, of sentence starts, of whole trees."""

import math
import warnings
from dataclasses import dataclass

import numpy as np
from numpy.typing import ArrayLike

from ...arrays import Floats, Integers, checked_indices, checked_scores, read_only
from ...errors import InfeasibleError, ProblemError
from .fallbacks import bounded
from .problem import NO_GAPS
from .scoring import is_tree

__all__ = ["TreePosteriors", "tree_posteriors"]


#: There are fewer than 7^n projective trees over n tokens.
GROWTH = np.log(7.0)

#: Log of the range of float64, less twenty digits.
RANGE = 285.0 * np.log(10.0)

#: If the root scores this much more than all other heads of a token, these have probability 0.
FAR = 300.0

#: Weights are tried, before logarithms, if underflow can hide only log-sums below this.
USUAL = -60.0


@dataclass(frozen=True, eq=False)
class TreePosteriors:
    """The distribution over the trees of a sentence; made by :func:`tree_posteriors`."""

    scores: Floats
    """**Shape (n + 1, n + 1)**: the scores of the arcs."""
    arcs: Floats
    """**Shape (n + 1, n + 1)**: the probability of each arc; columns but the first sum to 1."""
    starts: Floats
    """**Shape (n,)**: the probability that a sentence begins at each token; 1 at the first, and
    without boundaries 0 at the others."""
    log_partition: float
    """Log of the sum over all trees of exp(score)."""

    def of_heads(self, heads: ArrayLike) -> Floats:
        """Return the probability of each token's head, 0 for the root: both **shape (n,)**."""
        given = self._checked(heads)
        return self.arcs[given, np.arange(1, len(given) + 1)]

    def of_tree(self, heads: ArrayLike) -> float:
        """Return the probability of a whole tree, for a distribution without boundaries.

        It is 0 if the heads are not a tree.
        """
        given = self._checked(heads)
        if not is_tree(given):
            return 0.0
        score = float(self.scores[given, np.arange(1, len(given) + 1)].sum())
        return float(min(np.exp(score - self.log_partition), 1.0))

    def _checked(self, heads: ArrayLike) -> Integers:
        size = len(self.scores)
        return checked_indices("heads", heads, (size - 1,), low=0, high=size, dtype=np.int64)


def tree_posteriors(
    arcs: ArrayLike,
    *,
    projective: bool = False,
    single_root: bool = True,
    boundaries: ArrayLike | None = None,
) -> TreePosteriors:
    """Return the distribution over trees with probabilities proportional to exp(score).

    Parameters
    ----------
    arcs
        **Shape (n + 1, n + 1)**: `arcs[h, m]` scores h as the head of m; 0 is the root. ``-inf``
        forbids; column 0 and the diagonal are ignored.
    projective
        Whether arcs must not cross.
    single_root
        Whether exactly one token is attached to the root.
    boundaries
        **Shape (n,)**: the score of a sentence beginning at each token; ``-inf`` forbids it. That
        of the first token is ignored. Each sentence has one root, so `single_root` is ignored, and
        `projective` must be true.

    Raises
    ------
    ProblemError
        If a shape does not fit, or a score is NaN or ``+inf``.
    InfeasibleError
        If there is no tree.

    Notes
    -----
    Projective: inside and outside sums over Eisner's spans. Non-projective: the matrix-tree
    theorem. Nothing in the sums cancels, and scores are taken relative to those of the best tree:
    the error is about ``1e-13 * n``, plus 1e-16 of how much the arcs of a likely tree differ from
    these. Boundaries with scores such as 1e9 are taken as decided. Arcs may be masked by scores
    such as -1e6.

    Examples
    --------
    >>> found = tree_posteriors([[0, 1, 3], [0, 0, 1], [0, 2, 0]], projective=True)
    >>> found.of_heads([2, 0]).round(3).tolist(), round(found.of_tree([2, 0]), 3)
    ([0.953, 0.953], 0.953)
    """
    scores = checked_scores("arcs", arcs, (None, None), dtype=np.float64).copy()
    size = len(scores)
    if scores.shape != (size, size) or not size:
        raise ProblemError(f"arcs: expected a square array, the root first; got {scores.shape}.")
    scores[:, 0] = -np.inf
    np.fill_diagonal(scores, -np.inf)
    starts = np.zeros(size)
    if boundaries is not None:
        if not projective:
            raise ProblemError("boundaries: they need projective trees; pass projective=True.")
        starts[1:] = checked_scores("boundaries", boundaries, (size - 1,), dtype=np.float64)
        starts[1:2] = 0.0
    single_root = single_root and boundaries is None
    found_starts = np.zeros(size - 1)
    if size == 1:
        return TreePosteriors(scores, np.zeros((1, 1)), found_starts, 0.0)
    if projective:
        found, likely, total = _with_decided(scores, starts, single_root)
        found_starts[:] = likely[1:]
    else:
        found, total = _by_elimination(scores, single_root)
    if boundaries is None:
        found_starts[1:] = 0.0
    found_starts[0] = 1.0
    return TreePosteriors(
        read_only(scores),
        read_only(np.ascontiguousarray(np.clip(found, 0.0, 1.0))),
        read_only(np.clip(found_starts, 0.0, 1.0)),
        total,
    )


def _with_decided(
    scores: Floats, starts: Floats, single_root: bool
) -> tuple[Floats, Floats, float]:
    """Sum over projective trees, clipping boundary scores that no other scores can outweigh.

    Sums with larger ones would have no digits left for the others. If such boundaries turn out to
    conflict, the scores are summed unclipped.
    """
    within = np.where(np.isfinite(scores), scores, np.nan)[:, 1:]
    with np.errstate(invalid="ignore"), warnings.catch_warnings():
        warnings.simplefilter("ignore", RuntimeWarning)  # about tokens without any head
        span = float(np.nan_to_num(np.nanmax(within, axis=0) - np.nanmin(within, axis=0)).sum())
    usual = np.abs(starts) <= 4.0 * (span + RANGE)
    most = 2.0 * (span + RANGE + float(np.abs(starts[usual]).sum()))
    decided = ~usual & np.isfinite(starts) & (np.abs(starts) > most)
    if decided.any():
        clipped = np.where(decided, np.clip(starts, -most, most), starts)
        found, likely, total = _inside_outside(scores, clipped, single_root)
        if np.allclose(likely[decided], starts[decided] > 0.0, rtol=0.0, atol=1e-12):
            high = decided & (starts > 0.0)
            return found, likely, total + float((starts[high] - most).sum())
    return _inside_outside(scores, starts, single_root)


def _inside_outside(
    scores: Floats, starts: Floats, single_root: bool
) -> tuple[Floats, Floats, float]:
    """Sum over projective trees, with weights, or with logarithms if weights may underflow."""
    from .kernels.probabilities import posterior, posterior_by_logs

    best = scores.max(axis=0)
    best[np.isneginf(best)] = 0.0
    # the log of the least sum over all trees beside which what underflows is negligible
    least = GROWTH * len(scores) + float(starts.clip(min=0.0).sum()) - RANGE
    if least <= USUAL:
        weights = (np.exp(scores - best), np.exp(starts))
        found = posterior(*weights, single_root, np.exp(least))
        if found.log_partition > -np.inf:
            return found.arcs, found.starts, math.fsum([found.log_partition, *best])
    best, _ = _of_best_tree(scores, True, single_root, NO_GAPS if single_root else starts)
    found = posterior_by_logs(scores - best, starts, single_root, -np.inf)
    return found.arcs, found.starts, math.fsum([found.log_partition, *best])


def _of_best_tree(
    scores: Floats, projective: bool, single_root: bool, gaps: Floats = NO_GAPS
) -> tuple[Floats, Integers]:
    """Return the score of each token's arc in the best tree, (n + 1,), and its root's modifiers.

    Relative to these the sums over good trees are near 0, so that logarithms keep their digits.
    """
    heads, value, *_ = bounded(read_only(scores.copy()), projective, single_root, gaps)
    if value == -np.inf:
        raise InfeasibleError("no tree: some token can't reach the root by allowed arcs.")
    tokens = np.arange(1, len(scores))
    return np.concatenate([[0.0], scores[heads, tokens]]), tokens[heads == 0]


def _by_elimination(scores: Floats, single_root: bool) -> tuple[Floats, float]:
    """Return the probability of each arc, and the log of the sum over all trees.

    By the matrix-tree theorem the sum over all trees is a determinant. It is computed by
    eliminating one token after the other, as Grassmann, Taksar and Heyman eliminate the states of
    a Markov chain, without any subtraction. Then, in reverse order, the probability of each arc
    between the remaining tokens is distributed to the arcs that it stands for.

    References
    ----------
    Koo, Globerson, Carreras, Collins 2007, *Structured Prediction Models via the Matrix-Tree
    Theorem*. Grassmann, Taksar, Heyman 1985, *Regenerative Analysis and Steady State
    Distributions for Markov Chains*.
    """
    from .kernels.probabilities import eliminate

    best = scores.max(axis=0)
    if single_root:  # of the other heads, unless the root scores so much more that none is likely
        best[1:] = np.maximum(scores[1:, 1:].max(axis=0), scores[0, 1:] - FAR)
    best[np.isneginf(best)] = 0.0
    relative = scores - best
    highest = max(float(relative[0].max()), -1e300) if single_root else 0.0
    relative[0] -= highest  # each tree has one arc from the root
    found, total = eliminate(np.exp(relative).T.copy(), single_root, False)
    if np.isnan(total):
        best, roots = _of_best_tree(scores, False, single_root)
        order = np.arange(len(scores))
        order[[1, roots[0]]] = order[[roots[0], 1]]  # the root's token is eliminated last
        relative = (scores - best)[np.ix_(order, order)]
        found, total = eliminate(relative.T.copy(), single_root, True)
        found, highest = found[np.ix_(order, order)], 0.0
    return found.T, math.fsum([total, highest, *best])
