"""What a tree must be and have, as its judge reads a problem: legality, rules and factors."""

from __future__ import annotations

import math
from collections.abc import Iterator
from typing import NamedTuple

from .problem import TreeProblem
from .rules import (
    AtMost,
    Constituent,
    FixedArc,
    FixedLabel,
    FixedStart,
    ForbiddenArc,
    ForbiddenLabel,
    Leaves,
    Roots,
    Rule,
)

__all__ = [
    "Arc",
    "ArcLimit",
    "Heads",
    "LabelledArc",
    "Objective",
    "first_tokens",
    "breaks",
    "factors_of",
    "fault_of",
    "fault_of_labels",
    "limits_of",
]

Heads = tuple[int, ...]
Arc = tuple[int, int]


class LabelledArc(NamedTuple):
    """An arc with one of its labels."""

    head: int
    modifier: int
    label: int


class ArcLimit(NamedTuple):
    """How many of some labelled arcs a tree has at least and at most."""

    members: list[LabelledArc]
    low: float
    high: float


class Objective(NamedTuple):
    """What a decoder scores: adjacent siblings alone, and the outermost grandparents alone."""

    adjacent: bool = False
    outermost: bool = False


def fault_of(problem: TreeProblem, heads: Heads) -> str | None:
    """Return why the heads are no tree of the problem, forbidden parts aside, or None."""
    n = problem.n
    if len(heads) != n:
        return f"{len(heads)} heads for {n} tokens."
    for m, h in enumerate(heads, start=1):
        if not 0 <= h <= n or not problem.allowed[h, m]:
            return f"the arc {h} -> {m} is forbidden."
    for m, h in enumerate(heads, start=1):
        above, steps = m, 0
        while above and steps <= n:
            above, steps = heads[above - 1], steps + 1
        if above:
            return f"token {m} does not reach the root."
        low, high = min(h, m), max(h, m)
        if problem.projective and any(
            not low <= heads[between - 1] <= high for between in range(low + 1, high)
        ):
            return f"an arc crosses {h} -> {m}."
    if problem.has_one_root and n and heads.count(0) != 1:
        return f"{heads.count(0)} tokens hang on the root."
    if problem.boundaries is not None and heads.count(0) != len(first_tokens(heads)):
        return "two sentences overlap, or one has several roots."
    return None


def fault_of_labels(problem: TreeProblem, heads: Heads, labels: Heads) -> str | None:
    """Return which label is forbidden, or which rule the tree breaks, or None."""
    if len(labels) != len(heads):
        return f"{len(labels)} labels for {len(heads)} tokens."
    if problem.labels is not None:
        for m, (h, label) in enumerate(zip(heads, labels, strict=True), start=1):
            known = 0 <= label < problem.labels.shape[2]
            if not known or problem.labels[h, m, label] == -math.inf:
                return f"label {label} of the arc {h} -> {m} is forbidden."
    for place, rule in enumerate(problem.rules):
        if breaks(rule, heads, labels, first_tokens(heads)):
            return f"rules[{place}] is broken: {rule}."
    return None


def first_tokens(heads: Heads) -> set[int]:
    """Return the tokens that no arc passes over, root arcs aside."""
    return {
        s
        for s in range(1, len(heads) + 1)
        if not any(h and min(h, m) < s <= max(h, m) for m, h in enumerate(heads, start=1))
    }


def factors_of(problem: TreeProblem) -> Iterator[tuple[list[Arc], int, int, float]]:
    """Yield each factor's arcs, the range of their number that is scored, and the score."""
    factors = problem.factors
    if factors is not None:
        for f in range(factors.count):
            arcs = factors.arcs[factors.offsets[f] : factors.offsets[f + 1]]
            members = [(int(h), int(m)) for h, m in arcs]
            low, high = int(factors.at_least[f]), int(factors.at_most[f])
            yield members, low, high, float(factors.scores[f])


def breaks(rule: Rule, heads: Heads, labels: Heads, begins: set[int]) -> bool:
    """Return whether a tree breaks a rule."""
    if isinstance(rule, FixedStart):
        return rule.token > 1 and (rule.token in begins) != rule.begins
    tree = {LabelledArc(h, m, one) for m, (h, one) in enumerate(zip(heads, labels), start=1)}  # noqa: B905
    n = len(heads)
    return any(
        not limit.low <= len(tree.intersection(limit.members)) <= limit.high
        for limit in limits_of(rule, n, sorted(tree))
    )


def limits_of(rule: Rule, n: int, arcs: list[LabelledArc]) -> Iterator[ArcLimit]:
    """Yield what a rule says about the labelled arcs of a tree, all else being absent."""
    if isinstance(rule, FixedArc):
        members = [one for one in arcs if one.modifier == rule.token and one.head == rule.head]
        yield ArcLimit(members, 1.0, 1.0)
    elif isinstance(rule, ForbiddenArc):
        members = [one for one in arcs if one.modifier == rule.token and one.head == rule.head]
        yield ArcLimit(members, 0.0, 0.0)
    elif isinstance(rule, (FixedLabel, ForbiddenLabel)):
        named = [one for one in arcs if one.modifier == rule.token and one.label in rule.labels]
        number = float(isinstance(rule, FixedLabel))
        yield ArcLimit(named, number, number)
    elif isinstance(rule, Roots):
        wrong = [
            one
            for one in arcs
            if one.head == 0
            and (
                (rule.tokens is not None and one.modifier not in rule.tokens)
                or (rule.labels is not None and one.label not in rule.labels)
            )
        ]
        yield ArcLimit(wrong, 0.0, 0.0)
    elif isinstance(rule, AtMost):
        for h in range(n + 1) if rule.heads is None else rule.heads:
            members = [one for one in arcs if one.head == h and one.label in rule.labels]
            yield ArcLimit(members, 0.0, float(rule.count))
    elif isinstance(rule, Constituent):
        inner = range(rule.first, rule.last + 1)
        members = [one for one in arcs if one.modifier in inner and one.head not in inner]
        yield ArcLimit(members, 1.0, 1.0)
    elif isinstance(rule, Leaves):
        yield from _of_leaves(rule, n, arcs)


def _of_leaves(rule: Leaves, n: int, arcs: list[LabelledArc]) -> Iterator[ArcLimit]:
    """Yield that a token is none of the leaves, or that an arc below it is absent."""
    for token in range(1, n + 1) if rule.tokens is None else rule.tokens:
        marks = [
            one
            for one in arcs
            if one.modifier == token and (rule.labels is None or one.label in rule.labels)
        ]
        for m in range(1, n + 1):
            below = [
                one
                for one in arcs
                if one.head == token and one.modifier == m and one.label not in rule.exempt
            ]
            if below:
                yield ArcLimit(marks + below, 0.0, 1.0)
