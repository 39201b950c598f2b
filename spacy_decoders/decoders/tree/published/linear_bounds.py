"""Linear bounds on non-local factors: the least of a few functions of the arcs."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray
from scipy import sparse

from ..factors import Factors
from ..magnitudes import parts_of
from ..problem import TreeProblem

__all__ = ["LinearBounds", "bound_linearly"]

Floats = NDArray[np.float64]


@dataclass(frozen=True)
class LinearBounds:
    """Factors "`score` for at least `need` of `size` arcs", each with its linear bounds.

    Bound p is ``constants[p] + matrix[p] @ present``. With all arcs needed for a gain there is
    one for each arc (eq. 5); else two: the factor's limit, and a line in the number of its
    arcs (eq. 8 where all arcs are needed for a loss).
    """

    #: Sparse (bounds, columns). Columns are the arcs, (h, m) at h (n + 1) + m, then the
    #: pairs of siblings and the grandparents that the backbone sees, (n + 1)^3 each.
    matrix: sparse.csr_matrix
    #: (bounds,).
    constants: Floats
    #: (factors + 1,), the bounds of each factor.
    offsets: NDArray[np.int64]
    #: (factors,), the score of the factor, and for how many of how many arcs.
    score: Floats
    need: NDArray[np.int64]
    size: NDArray[np.int64]
    #: Sparse (factors, columns), the arcs of each factor.
    members: sparse.csr_matrix
    #: (columns,), the scores of parts that the backbone scores exactly.
    local: Floats
    #: A common divisor of all scores, 0 if none is known.
    unit: float
    #: The constant part of every tree's score.
    constant: float
    #: Number of tokens.
    tokens: int
    #: Whether the backbone sees adjacent siblings and grandparents, and whether of the
    #: latter only the outermost grandchildren.
    sees_parts: bool
    outermost: bool

    def start(self) -> Floats:
        """Return the weights of section 4.4: equal for gains; for losses all on the limit."""
        counts = np.diff(self.offsets)
        weights: Floats = np.repeat(1.0 / np.maximum(counts, 1), counts)
        losses = np.flatnonzero(self.score < 0.0)
        weights[self.offsets[losses]] = 1.0
        weights[self.offsets[losses] + 1] = 0.0
        return weights

    def scores(self, weights: Floats) -> Floats:
        """Return the scores of all columns under weights of the bounds."""
        total: Floats = self.local + self.matrix.T @ weights
        return total

    def values(self, present: Floats) -> Floats:
        """Return the value of each bound at a tree: the subgradient."""
        score: Floats = self.constants + self.matrix @ present
        return score

    def gaps(self, weights: Floats, values: Floats, present: Floats) -> Floats:
        """Return, for each column, the sum of the gaps of the factors that hold it."""
        truth = np.where(self.members @ present >= self.need, self.score, 0.0)
        gap = np.maximum(_sums(weights * values, self.offsets) - truth, 0.0)
        total: Floats = self.members.T @ gap
        return total

    def round_down(self, value: float) -> float:
        """Lower a bound to the next multiple of the unit (section 4.4)."""
        if self.unit == 0.0:
            return value
        return float(np.floor(value / self.unit) * self.unit)

    def project(self, weights: Floats) -> Floats:
        """Project the weights of each factor onto its simplex (Duchi et al. 2008)."""
        counts = np.diff(self.offsets)
        projected = weights.copy()
        for count in np.unique(counts):
            rows = np.flatnonzero(counts == count)
            places = self.offsets[rows][:, None] + np.arange(count)
            projected[places] = _onto_simplex(weights[places])
        return projected

    def lower_scores(self, present: Floats) -> Floats:
        """Return scores of a linear lower bound that is tight at a tree (section 3.4)."""
        number = self.members @ present
        paid = number >= self.need
        every = self.need == self.size
        # an active gain: the line through (need - 1, 0) and (size, score); else nothing
        slope = np.where((self.score > 0.0) & paid, self.score / (self.size - self.need + 1), 0.0)
        # a loss: spread over its arcs where that is tight or nothing simple is
        spread = (self.score < 0.0) & (paid == every)
        slope = np.where(spread, self.score / self.need, slope)
        total = self.local + self.members.T @ slope
        # an inactive loss: all of it on an absent arc
        broken = np.flatnonzero((self.score < 0.0) & every & ~paid)
        absent = [next(a for a in self._arcs(int(f)) if not present[a]) for f in broken]
        np.add.at(total, np.array(absent, dtype=np.int64), self.score[broken])
        return np.asarray(total)

    def _arcs(self, factor: int) -> NDArray[np.int32]:
        begin, end = self.members.indptr[factor : factor + 2]
        arcs: NDArray[np.int32] = self.members.indices[begin:end]
        return arcs

    def present(self, heads: NDArray[np.int32]) -> Floats:
        """Return the indicator of the columns of a tree; `heads` has the root at 0."""
        size = self.tokens + 1
        present = np.zeros(len(self.local))
        tokens = np.arange(1, size)
        present[heads[1:] * size + tokens] = 1.0
        if self.sees_parts:
            left, right = _adjacent(heads)
            h = heads[left].astype(np.int64)
            present[size**2 + (h * size + left) * size + right] = 1.0
            m = tokens[heads[1:] > 0]
            if self.outermost:
                # a modifier with a neighbour further out is not the last on its side
                m = np.setdiff1d(m, np.concatenate([left[left > h], right[right < h]]))
            h = heads[m].astype(np.int64)
            present[size**2 + size**3 + (heads[h] * size + h) * size + m] = 1.0
        return present


def bound_linearly(problem: TreeProblem, backbone: str, forbidden: float) -> LinearBounds:
    """Bound all non-local scores; parts that the backbone scores exactly stay local.

    Parameters
    ----------
    backbone
        ``"first-order"``, ``"carreras"`` or ``"second-order"``.
    forbidden
        The finite score of a forbidden part.
    """
    size = problem.n + 1
    square, cube = size**2, size**3
    sees_parts = backbone != "first-order" and problem.projective
    local = np.zeros(square + (2 * cube if sees_parts else 0))
    local[:square] = np.where(problem.allowed, problem.arcs, 0.0).ravel()
    factors = problem.factors or Factors.empty()
    limits = [np.full(factors.count, -1)]  # the backbone's column of a loss that it sees, or -1
    allowed = problem.allowed
    if problem.grandparents is not None and backbone == "second-order" and sees_parts:
        local[square + cube :] = np.maximum(problem.grandparents, forbidden).ravel()
    elif problem.grandparents is not None:
        scored = allowed[:, :, None] & allowed & (problem.grandparents != 0.0)
        g, h, m = np.nonzero(scored)
        score = problem.grandparents[g, h, m]
        factors += Factors.grandparents(np.column_stack([g, h, m]), score)
        column = square + cube + (g * size + h) * size + m
        limits.append(np.where((score < 0.0) & sees_parts, column, -1))
    if problem.siblings is not None:
        scored = allowed[:, :, None] & allowed[:, None] & (problem.siblings != 0.0)
        scored[0] &= not problem.single_root
        h, a, b = np.nonzero(scored)
        score = problem.siblings[h, a, b]
        factors += Factors.siblings(np.column_stack([h, a, b]), score)
        seen = (score < 0.0) & sees_parts & ((a > h) == (b > h))
        limits.append(np.where(seen, square + (h * size + a) * size + b, -1))
    return _bounds(problem, factors, np.concatenate(limits), local, forbidden, backbone)


def _bounds(
    problem: TreeProblem,
    factors: Factors,
    limits: NDArray[np.int64],
    local: Floats,
    forbidden: float,
    backbone: str,
) -> LinearBounds:
    """Write "low to high" as "at least low" less "at least high + 1", and bound each of these."""
    worth, sizes = np.maximum(factors.scores, forbidden), np.diff(factors.offsets)
    low = np.flatnonzero((factors.at_least > 0) & (worth != 0.0))
    high = np.flatnonzero((factors.at_most < sizes) & (worth != 0.0))
    chosen = np.concatenate([low, high])
    score = np.concatenate([worth[low], -worth[high]])
    need = np.concatenate([factors.at_least[low], factors.at_most[high] + 1]).astype(np.int64)
    size, limit = sizes[chosen], limits[chosen]
    count = len(score)
    owner = np.repeat(np.arange(count), size)
    place = np.arange(len(owner)) - np.repeat(np.cumsum(size) - size, size)
    arcs = factors.arcs[factors.offsets[chosen][owner] + place]
    columns = arcs[:, 0].astype(np.int64) * (problem.n + 1) + arcs[:, 1]
    single = (score > 0.0) & (need == size)  # one bound for each arc
    offsets = np.concatenate([[0], np.cumsum(np.where(single, size, 2))]).astype(np.int64)
    constants = np.zeros(offsets[-1])
    limited = ~single & (score > 0.0)
    constants[offsets[:-1][limited]] = score[limited]
    slope = np.where(score > 0.0, score / np.maximum(need, 1), score / (size - need + 1))
    losses = score < 0.0
    constants[offsets[:-1][losses] + 1] = -(slope * (need - 1))[losses]
    # members: each in a bound of its own, or all in the second bound
    rows = offsets[owner] + np.where(single[owner], place, 1)
    entries = np.where(single[owner], score[owner], slope[owner])
    seen = np.flatnonzero(limit >= 0)
    matrix = sparse.csr_matrix(
        (
            np.concatenate([entries, score[seen]]),
            (np.concatenate([rows, offsets[seen]]), np.concatenate([columns, limit[seen]])),
        ),
        shape=(offsets[-1], len(local)),
    )
    members = sparse.csr_matrix(
        (np.ones(len(columns)), (owner, columns)), shape=(count, len(local))
    )
    constant = float(worth[factors.at_least == 0].sum())
    sees_parts = len(local) > (problem.n + 1) ** 2
    return LinearBounds(
        matrix, constants, offsets, score, need, size, members, local, _unit(problem), constant,
        problem.n, sees_parts, backbone == "carreras",
    )  # fmt: skip


def _unit(problem: TreeProblem) -> float:
    """Return 1 if all scores are whole numbers, so that all trees' scores are; else 0."""
    for values in parts_of(problem).values():
        finite = values[values > -np.inf]
        if (np.abs(finite) > 1e9).any() or (finite != np.rint(finite)).any():
            return 0.0
    return 1.0


def _onto_simplex(rows: Floats) -> Floats:
    # the projection does not see a shift, nor what lies further below the largest than 1
    rows = np.maximum(rows - rows.max(axis=1, keepdims=True), -1.0)
    ordered = -np.sort(-rows, axis=1)
    above = (np.cumsum(ordered, axis=1) - 1.0) / np.arange(1, rows.shape[1] + 1)
    count = (ordered > above).sum(axis=1)
    threshold = above[np.arange(len(rows)), np.maximum(count, 1) - 1]
    projected: Floats = np.maximum(rows - threshold[:, None], 0.0)
    return projected


def _sums(values: Floats, offsets: NDArray[np.int64]) -> Floats:
    before = np.concatenate([[0.0], np.cumsum(values)])
    sums: Floats = before[offsets[1:]] - before[offsets[:-1]]
    return sums


def _adjacent(heads: NDArray[np.int32]) -> tuple[NDArray[np.int64], NDArray[np.int64]]:
    """Return the left and right tokens of all adjacent pairs on one side of their head."""
    order = np.argsort(heads[1:], kind="stable") + 1
    left, right = order[:-1], order[1:]
    h = heads[left]
    same = (h == heads[right]) & ((left > h) == (right > h))
    return left[same], right[same]
