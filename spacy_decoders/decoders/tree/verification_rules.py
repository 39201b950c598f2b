"""What rules say, for the independent check of trees: as a test, and as rows of a program.

Apart from the data of the rules nothing is shared with the search for trees that satisfy them.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import TYPE_CHECKING, NamedTuple

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

if TYPE_CHECKING:
    from .verification import Heads

__all__ = ["LabelledArc", "ArcLimit", "breaks", "limits_of"]


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
