"""The integer program that verifies trees of sentences too long for enumeration."""

from __future__ import annotations

import math
from collections.abc import Iterator
from typing import Any, NamedTuple

import numpy as np

from ...verify import best_of_program
from .problem import TreeProblem
from .rules import (
    AtMost,
    FixedArc,
    FixedLabel,
    FixedStart,
    ForbiddenArc,
    ForbiddenLabel,
    Leaves,
    Rule,
)

__all__ = [
    "Arc",
    "Heads",
    "LabelledArc",
    "Objective",
    "best_by_program",
    "factors_of",
    "limits_of",
]

#: The most parts of an integer program, and the largest score that a solver can handle.
MOST_PARTS, LARGEST = 150_000, 1e7

Heads = tuple[int, ...]
Arc = tuple[int, int]


class LabelledArc(NamedTuple):
    """An arc with one of its labels."""

    head: int
    modifier: int
    label: int


class ArcLimit(NamedTuple):
    """The least and the most number of certain labelled arcs in a tree."""

    members: list[LabelledArc]
    low: float
    high: float


class Objective(NamedTuple):
    """What a decoder scores: only adjacent siblings, and only outermost grandparents."""

    adjacent: bool = False
    outermost: bool = False


class Part(NamedTuple):
    """A score that is added if from `low` to `high` of its arcs are in the tree.

    With arcs that must be `absent`, all of its own arcs are needed.
    """

    arcs: list[Arc]
    low: int
    high: int
    score: float
    absent: tuple[Arc, ...] = ()

    @classmethod
    def of_all(cls, arcs: list[Arc], score: float, absent: tuple[Arc, ...] = ()) -> Part:
        return cls(arcs, len(arcs), len(arcs), score, absent)


class _Rows:
    """The rows of a program: columns, coefficients, and the range of each row's sum."""

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
    """Return the best tree that a program finds, if any, its labels, and the solver's bound.

    Parts with which no tree can score `least` are forbidden.
    """
    from scipy.sparse import csr_matrix

    parts = [*_parts_of(problem, objective), *factors_of(problem)]
    scores = [part.score for part in parts]
    gains = math.fsum(score for score in scores if score > 0.0)
    n, boundaries = problem.n, problem.gaps
    of_labels = np.zeros((n + 1, n, 0)) if problem.labels is None else problem.labels[:, 1:]
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
        _add_part(rows, costs, column, part, lowest)
    upper = np.ones(len(costs))
    upper[len(arcs) : 2 * len(arcs)] = problem.n
    whole = np.ones(len(costs))
    whole[len(arcs) : 2 * len(arcs)] = 0.0
    matrix = csr_matrix((rows.values, (rows.rows, rows.columns)), (len(rows.low), len(costs)))
    given = np.array(costs), [(matrix, np.array(rows.low), np.array(rows.high))]
    solved, bound = best_of_program(*given, seconds, whole, upper)
    heads, labels = None, (0,) * problem.n
    if solved is not None:
        taken = {m: h for (h, m), value in zip(arcs, solved) if value > 0.5}  # noqa: B905
        heads = tuple(taken.get(m, 0) for m in range(1, problem.n + 1))
        marks = {arc.modifier: arc.label for arc, at in labelled.items() if solved[at] > 0.5}
        labels = tuple(marks.get(m, 0) for m in range(1, problem.n + 1))
    return heads, labels, bound


def _parts_of(problem: TreeProblem, objective: Objective) -> Iterator[Part]:
    """Yield the parts that trees of the allowed arcs may have, except factors."""
    allowed = problem.allowed
    for h, m in np.argwhere(allowed).tolist():
        yield Part.of_all([(h, m)], float(problem.arcs[h, m]))
    if problem.grandparents is not None:
        scored = allowed[:, :, None] & allowed[None] & (problem.grandparents != 0.0)
        for g, h, m in np.argwhere(scored).tolist():
            if h and g != m:
                beyond = range(m + 1, problem.n + 1) if m > h else range(1, m)
                absent = tuple((h, c) for c in beyond) if objective.outermost else ()
                yield Part.of_all([(g, h), (h, m)], float(problem.grandparents[g, h, m]), absent)
    if problem.siblings is not None:
        scored = allowed[:, :, None] & allowed[:, None] & (problem.siblings != 0.0)
        for h, a, b in np.argwhere(scored).tolist():
            if not a < b or (objective.adjacent and (a < h) != (b < h)):
                continue
            absent = tuple((h, c) for c in range(a + 1, b)) if objective.adjacent else ()
            yield Part.of_all([(h, a), (h, b)], float(problem.siblings[h, a, b]), absent)


def _add_tree(rows: _Rows, problem: TreeProblem, arcs: list[Arc]) -> None:
    """Add rows for one head and one unit of flow into each token, and for crossing arcs."""
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
    """Add a column for each boundary, 1 if no arc crosses it, and a row that counts the roots."""
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
    if not fixed.get(1, True):  # a sentence always begins there
        rows.add(dict.fromkeys(roots, 0.0), 1.0, 1.0)


def _add_labels(
    rows: _Rows, costs: list[float], problem: TreeProblem, arcs: list[Arc], lowest: float
) -> dict[LabelledArc, int]:
    """Add a column for each label of each arc, and rows for the rules; return these columns."""
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
    rows: _Rows, costs: list[float], column: dict[Arc, int], part: Part, lowest: float
) -> None:
    """Add a part's score to its only arc, or to a new column that is 1 if the part is scored."""
    score, forbidden = part.score, part.score < lowest
    present = [column[arc] for arc in part.arcs if arc in column]
    absent = [column[arc] for arc in part.absent if arc in column]
    paid = len(costs)
    if part.low == len(present) == len(part.arcs) > 0:
        all_there = dict.fromkeys(present, 1.0) | dict.fromkeys(absent, -1.0)
        if forbidden:
            rows.add(all_there, -np.inf, part.low - 1.0)
        elif len(present) == 1 and not absent:
            costs[present[0]] += score
        else:
            costs.append(score)
            if score < 0.0:
                rows.add(all_there | {paid: -1.0}, -np.inf, part.low - 1.0)
            for arc in present if score >= 0.0 else []:
                rows.add({paid: 1.0, arc: -1.0}, -np.inf, 0.0)
            for arc in absent if score >= 0.0 else []:
                rows.add({paid: 1.0, arc: 1.0}, -np.inf, 1.0)
        return
    # exactly one of: the number of arcs is within the range, below it, or above it
    below, above = paid + 1, paid + 2
    costs += [0.0 if forbidden else score, 0.0, 0.0]
    rows.add({paid: 1.0, below: 1.0, above: 1.0}, 1.0, 1.0)
    if forbidden:
        rows.add({paid: 1.0}, 0.0, 0.0)
    low, high, number = part.low, part.high, dict.fromkeys(present, 1.0)
    rows.add(number | {paid: -float(low), above: -float(high + 1)}, 0.0, np.inf)
    limits = {
        paid: -float(high),
        below: -float(low - 1),
        above: -float(max(len(present), high + 1)),
    }
    rows.add(number | limits, -np.inf, 0.0)


def factors_of(problem: TreeProblem) -> Iterator[Part]:
    """Yield a problem's factors as parts."""
    factors = problem.factors
    if factors is not None:
        for f in range(factors.count):
            arcs = factors.arcs[factors.offsets[f] : factors.offsets[f + 1]]
            members = [(int(h), int(m)) for h, m in arcs]
            low, high = int(factors.at_least[f]), int(factors.at_most[f])
            yield Part(members, low, high, float(factors.scores[f]))


def limits_of(rule: Rule, n: int, arcs: list[LabelledArc]) -> Iterator[ArcLimit]:
    """Yield a rule as limits on the given labelled arcs, of which the tree is made.

    This is independent of :attr:`.Rule.limits`, which decoders use.
    """
    labels: Any = getattr(rule, "labels", None)  # rules store numbers as a tuple
    if isinstance(rule, (FixedArc, ForbiddenArc)):
        members = [one for one in arcs if one.modifier == rule.token and one.head == rule.head]
        number = float(isinstance(rule, FixedArc))
        yield ArcLimit(members, number, number)
    elif isinstance(rule, (FixedLabel, ForbiddenLabel)):
        named = [one for one in arcs if one.modifier == rule.token and one.label in labels]
        number = float(isinstance(rule, FixedLabel))
        yield ArcLimit(named, number, number)
    elif isinstance(rule, AtMost):
        heads: Any = range(n + 1) if rule.heads is None else rule.heads
        for h in heads:
            members = [one for one in arcs if one.head == h and one.label in labels]
            yield ArcLimit(members, 0.0, float(rule.count))
    elif isinstance(rule, Leaves):
        yield from _of_leaves(rule, n, arcs)


def _of_leaves(rule: Leaves, n: int, arcs: list[LabelledArc]) -> Iterator[ArcLimit]:
    """Yield, for each leaf token and arc below it, that not both are in the tree."""
    labels: Any = rule.labels
    exempt: Any = rule.exempt
    tokens: Any = range(1, n + 1) if rule.tokens is None else rule.tokens
    for token in tokens:
        own = [one for one in arcs if one.modifier == token]
        marks = [one for one in own if labels is None or one.label in labels]
        kept = [one for one in arcs if one.head == token and one.label not in exempt]
        for m in range(1, n + 1):
            below = [one for one in kept if one.modifier == m]
            if below:
                yield ArcLimit(marks + below, 0.0, 1.0)
