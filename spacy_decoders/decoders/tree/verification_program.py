"""The integer program that checks trees of sentences too long for enumeration."""

from __future__ import annotations

import math
from collections.abc import Iterator
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from .problem import TreeProblem
from .rules import FixedStart
from .verification_rules import Arc, Heads, LabelledArc, Objective, factors_of, limits_of

__all__ = ["best_by_program"]

#: Parts beyond which no integer program is stated, and scores that a solver can't handle.
MOST_PARTS, LARGEST = 150_000, 1e7


Floats = NDArray[np.float64]


class Part(NamedTuple):
    """A score that is added where some arcs are in the tree and others are not."""

    present: tuple[Arc, ...]
    absent: tuple[Arc, ...]
    score: float


class _Rows:
    """Rows of a program: columns, coefficients, and the range of each sum."""

    def __init__(self) -> None:
        self.rows: list[int] = []
        self.columns: list[int] = []
        self.values: list[float] = []
        self.low: list[float] = []
        self.high: list[float] = []

    def add(self, entries: dict[int, float], low: float, high: float) -> None:
        self.rows += [len(self.low)] * len(entries)
        self.columns += entries.keys()
        self.values += entries.values()
        self.low.append(low)
        self.high.append(high)


def best_by_program(
    problem: TreeProblem, objective: Objective, least: float, seconds: float
) -> tuple[Heads | None, Heads, float]:
    """Return the best tree and its labels that a program finds, if any, and the solver's bound.

    Parts so low that no tree with one scores `least` are forbidden.
    """
    from scipy.optimize import Bounds, LinearConstraint, milp
    from scipy.sparse import csr_matrix

    parts, factors = list(_parts_of(problem, objective)), list(factors_of(problem))
    scores = [part.score for part in parts] + [factor[-1] for factor in factors]
    gains = math.fsum(score for score in scores if score > 0.0)
    of_labels, boundaries = _labels_and_boundaries(problem)
    gains += float(of_labels.max(axis=(0, 2), initial=0.0).sum() + boundaries.clip(min=0.0).sum())
    lowest = least - gains
    kept = [abs(score) for score in scores if score >= lowest]
    kept += [float(np.abs(of[of >= lowest]).max(initial=0.0)) for of in (of_labels, boundaries)]
    if len(scores) > MOST_PARTS or max(kept, default=0.0) > LARGEST:
        return None, (), math.inf
    arcs = [(int(h), int(m)) for h, m in np.argwhere(problem.allowed)]
    column = {arc: place for place, arc in enumerate(arcs)}
    costs: list[float] = [0.0] * (2 * len(arcs))  # arcs, then the flow along each
    rows = _Rows()
    _add_tree(rows, problem, arcs)
    if problem.boundaries is not None:
        _add_sentences(rows, costs, problem, arcs, lowest)
    labelled = _add_labels(rows, costs, problem, arcs, lowest)
    for part in parts:
        absent = [column[arc] for arc in part.absent if arc in column]
        _add_part(rows, costs, [column[arc] for arc in part.present], absent, part.score, lowest)
    for members, low, high, score in factors:
        known = [column[arc] for arc in members if arc in column]
        _add_factor(rows, costs, known, low, high, score, lowest)
    upper = np.ones(len(costs))
    upper[len(arcs) : 2 * len(arcs)] = problem.n
    whole = np.ones(len(costs))
    whole[len(arcs) : 2 * len(arcs)] = 0.0
    matrix = csr_matrix((rows.values, (rows.rows, rows.columns)), (len(rows.low), len(costs)))
    found: Any = milp(
        -np.array(costs),
        integrality=whole,
        bounds=Bounds(np.zeros(len(costs)), upper),
        constraints=LinearConstraint(matrix, np.array(rows.low), np.array(rows.high)),
        options={"time_limit": seconds, "mip_rel_gap": 0.0},
    )
    bound = getattr(found, "mip_dual_bound", None)
    heads, labels = None, (0,) * problem.n
    if found.x is not None:
        taken = {m: h for (h, m), value in zip(arcs, found.x) if value > 0.5}  # noqa: B905
        heads = tuple(taken.get(m, 0) for m in range(1, problem.n + 1))
        marks = {arc.modifier: arc.label for arc, at in labelled.items() if found.x[at] > 0.5}
        labels = tuple(marks.get(m, 0) for m in range(1, problem.n + 1))
    bound = math.inf if bound is None or not math.isfinite(bound) else -float(bound)
    return heads, labels, bound


def _labels_and_boundaries(problem: TreeProblem) -> tuple[Floats, Floats]:
    """Return the scores of tokens' labels, (n + 1, n, labels), and of boundaries, if any."""
    n = problem.n
    labels = np.zeros((n + 1, n, 0)) if problem.labels is None else problem.labels[:, 1:]
    return labels, np.zeros(0) if problem.boundaries is None else problem.boundaries


def _parts_of(problem: TreeProblem, objective: Objective) -> Iterator[Part]:
    """Return the parts that trees of the allowed arcs may have, factors aside."""
    allowed = problem.allowed
    for h, m in np.argwhere(allowed).tolist():
        yield Part(((h, m),), (), float(problem.arcs[h, m]))
    if problem.grandparents is not None:
        scored = allowed[:, :, None] & allowed[None] & (problem.grandparents != 0.0)
        for g, h, m in np.argwhere(scored).tolist():
            if h and g != m:
                beyond = range(m + 1, problem.n + 1) if m > h else range(1, m)
                absent = tuple((h, c) for c in beyond) if objective.outermost else ()
                yield Part(((g, h), (h, m)), absent, float(problem.grandparents[g, h, m]))
    if problem.siblings is not None:
        scored = allowed[:, :, None] & allowed[:, None] & (problem.siblings != 0.0)
        for h, a, b in np.argwhere(scored).tolist():
            if not a < b or (objective.adjacent and (a < h) != (b < h)):
                continue
            absent = tuple((h, c) for c in range(a + 1, b)) if objective.adjacent else ()
            yield Part(((h, a), (h, b)), absent, float(problem.siblings[h, a, b]))


def _add_tree(rows: _Rows, problem: TreeProblem, arcs: list[Arc]) -> None:
    """One head for each token, one unit of flow into each, and no crossing arcs."""
    n, count = problem.n, len(arcs)
    for t in range(1, n + 1):
        into = [a for a, (_, m) in enumerate(arcs) if m == t]
        out = [a for a, (h, _) in enumerate(arcs) if h == t]
        rows.add(dict.fromkeys(into, 1.0), 1.0, 1.0)
        flow = {count + a: 1.0 for a in into} | {count + a: -1.0 for a in out}
        rows.add(flow, 1.0, 1.0)
    if problem.has_one_root:
        rows.add({a: 1.0 for a, (h, _) in enumerate(arcs) if h == 0}, 1.0, 1.0)
    ends = np.sort(np.array(arcs), axis=1)
    for a, (low, high) in enumerate(ends):
        rows.add({count + a: 1.0, a: -float(n)}, -np.inf, 0.0)
        if problem.projective:
            inside = (low < ends) & (ends < high)
            outside = (ends < low) | (ends > high)
            crossing = np.flatnonzero(
                (inside[:, 0] & outside[:, 1]) | (outside[:, 0] & inside[:, 1])
            )
            entries = dict.fromkeys(crossing.tolist(), 1.0) | {a: float(n)}
            rows.add(entries, -np.inf, float(n))


def _add_sentences(
    rows: _Rows, costs: list[float], problem: TreeProblem, arcs: list[Arc], lowest: float
) -> None:
    """A column for each boundary, taken where no arc passes over it, and as many roots."""
    boundaries = problem.boundaries
    assert boundaries is not None  # else it is not called
    fixed = {rule.token: rule.begins for rule in problem.rules if isinstance(rule, FixedStart)}
    roots = {a: 1.0 for a, (h, _) in enumerate(arcs) if h == 0}
    for s in range(2, problem.n + 1):
        begins, worth = len(costs), float(boundaries[s - 1])
        forbidden = worth < lowest or not fixed.get(s, True)
        costs.append(0.0 if forbidden else worth)
        over = {a: 1.0 for a, (h, m) in enumerate(arcs) if h and min(h, m) < s <= max(h, m)}
        rows.add(over | {begins: 1.0}, 1.0, np.inf)
        rows.add(over | {begins: float(len(over))}, -np.inf, float(len(over)))
        if forbidden:
            rows.add({begins: 1.0}, 0.0, 0.0)
        if fixed.get(s, False):
            rows.add({begins: 1.0}, 1.0, 1.0)
        roots[begins] = -1.0
    rows.add(roots, 1.0, 1.0)


def _add_labels(
    rows: _Rows, costs: list[float], problem: TreeProblem, arcs: list[Arc], lowest: float
) -> dict[LabelledArc, int]:
    """A column for each label of each arc, and rows for all rules; return these columns."""
    column: dict[LabelledArc, int] = {}
    if problem.labels is None:
        column = {LabelledArc(h, m, 0): a for a, (h, m) in enumerate(arcs)}
    else:
        for a, (h, m) in enumerate(arcs):
            entries = {a: -1.0}
            for label in np.flatnonzero(problem.labels[h, m] >= lowest).tolist():
                column[LabelledArc(h, m, label)] = len(costs)
                entries[len(costs)] = 1.0
                costs.append(float(problem.labels[h, m, label]))
            rows.add(entries, 0.0, 0.0)
    for rule in problem.rules:
        for limit in limits_of(rule, problem.n, list(column)):
            rows.add({column[one]: 1.0 for one in limit.members}, limit.low, limit.high)
    return column


def _add_part(
    rows: _Rows,
    costs: list[float],
    present: list[int],
    absent: list[int],
    score: float,
    lowest: float,
) -> None:
    """Add a score for arcs that are present where others are absent."""
    all_there = dict.fromkeys(present, 1.0) | dict.fromkeys(absent, -1.0)
    if score < lowest:
        rows.add(all_there, -np.inf, len(present) - 1.0)
        return
    if len(present) == 1 and not absent:
        costs[present[0]] += score
        return
    paid = len(costs)
    costs.append(score)
    if score < 0.0:
        rows.add(all_there | {paid: -1.0}, -np.inf, len(present) - 1.0)
        return
    for arc in present:
        rows.add({paid: 1.0, arc: -1.0}, -np.inf, 0.0)
    for arc in absent:
        rows.add({paid: 1.0, arc: 1.0}, -np.inf, 1.0)


def _add_factor(
    rows: _Rows,
    costs: list[float],
    members: list[int],
    low: int,
    high: int,
    score: float,
    lowest: float,
) -> None:
    """Add a score where the number of arcs lies within a range; else it is below or above."""
    within, below, above = len(costs), len(costs) + 1, len(costs) + 2
    forbidden = score < lowest
    costs += [0.0 if forbidden else score, 0.0, 0.0]
    size = float(len(members))
    rows.add({within: 1.0, below: 1.0, above: 1.0}, 1.0, 1.0)
    if forbidden:
        rows.add({within: 1.0}, 0.0, 0.0)
    number = dict.fromkeys(members, 1.0)
    rows.add(number | {within: -float(low), above: -float(high + 1)}, 0.0, np.inf)
    limits = {within: -float(high), below: -float(low - 1), above: -max(size, high + 1.0)}
    rows.add(number | limits, -np.inf, 0.0)
