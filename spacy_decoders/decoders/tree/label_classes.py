"""Labels and arcs that rules forbid by themselves, and labels sorted by what rules say of them."""

from __future__ import annotations

from collections.abc import Iterable
from functools import lru_cache
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from .problem import TreeProblem
from .rules import (
    AtMost,
    FixedArc,
    FixedLabel,
    FixedStart,
    ForbiddenArc,
    ForbiddenLabel,
    Leaves,
    Roots,
    Rule,
)

__all__ = ["LabelClasses", "allowed_arcs", "allowed_labels", "classes_of"]

Mask = NDArray[np.bool_]


class LabelClasses(NamedTuple):
    """Labels that no rule tells apart are of one class: only the best of each matters.

    Attributes
    ----------
    members
        The labels of each class.
    named, exempt
        For each rule, bool (classes,): the classes of the labels that an `AtMost` counts or that
        mark a token as one of the `Leaves`, and of those that the latter exempts.
    """

    members: tuple[NDArray[np.int64], ...]
    named: tuple[Mask, ...]
    exempt: tuple[Mask, ...]


@lru_cache(maxsize=64)
def classes_of(rules: tuple[Rule, ...], labels: int) -> LabelClasses:
    """Sort labels into the classes that rules tell apart.

    Examples
    --------
    >>> found = classes_of((AtMost([0, 2]), Leaves([3])), 4)
    >>> [members.tolist() for members in found.members]
    [[1], [3], [0, 2]]
    """
    named = [_mask(_named(rule, labels), labels) for rule in rules]
    exempt = [_mask(getattr(rule, "exempt", ()), labels) for rule in rules]
    patterns = np.array([*named, *exempt, np.zeros(labels, bool)]).T
    of_label = np.unique(patterns, axis=0, return_inverse=True)[1].reshape(-1)
    members = tuple(np.flatnonzero(of_label == one) for one in range(of_label.max() + 1))
    first = [int(labels_of[0]) for labels_of in members]
    return LabelClasses(
        members, tuple(mask[first] for mask in named), tuple(mask[first] for mask in exempt)
    )


def _named(rule: Rule, labels: int) -> Iterable[int]:
    """Return the labels that an `AtMost` counts, or that make a token one of the `Leaves`."""
    if isinstance(rule, AtMost):
        return rule.labels
    if isinstance(rule, Leaves):
        return range(labels) if rule.labels is None else rule.labels
    return ()


def _mask(members: Iterable[int], size: int) -> Mask:
    mask = np.zeros(size, bool)
    mask[list(members)] = True
    return mask


def allowed_arcs(problem: TreeProblem) -> Mask | None:
    """Return the arcs that no rule forbids by itself, bool (n + 1, n + 1); None for all.

    Examples
    --------
    >>> allowed_arcs(TreeProblem([[0, 1, 3], [0, 0, 1], [0, 2, 0]], rules=[Roots([2])]))
    array([[False, False,  True],
           [False, False,  True],
           [False,  True, False]])
    """
    if not any(
        isinstance(rule, (FixedArc, ForbiddenArc, Roots, Leaves, FixedStart))
        for rule in problem.rules
    ):
        return None
    allowed = np.array(problem.allowed)
    for rule in problem.rules:
        if isinstance(rule, FixedArc):
            allowed[np.arange(problem.n + 1) != rule.head, rule.token] = False
        elif isinstance(rule, ForbiddenArc):
            allowed[rule.head, rule.token] = False
        elif isinstance(rule, Roots) and rule.tokens is not None:
            allowed[0] &= _mask(rule.tokens, problem.n + 1)
        elif isinstance(rule, Leaves) and rule.labels is None and not rule.exempt:
            allowed[list(rule.tokens or ())] = False
        elif isinstance(rule, FixedStart) and rule.begins and rule.token > 1:
            allowed[1 : rule.token, rule.token :] = False
            allowed[rule.token :, : rule.token] = False
    return allowed


def allowed_labels(problem: TreeProblem, count: int) -> Mask | None:
    """Return the labels that no rule forbids by itself, (n + 1, n + 1, count); None for all."""
    allowed: Mask | None = None
    for rule in problem.rules:
        if not _forbids_labels(rule):
            continue
        if allowed is None:
            allowed = np.ones((problem.n + 1, problem.n + 1, count), bool)
        if isinstance(rule, FixedLabel):
            allowed[:, rule.token] &= _mask(rule.labels, count)
        elif isinstance(rule, ForbiddenLabel):
            allowed[:, rule.token] &= ~_mask(rule.labels, count)
        elif isinstance(rule, Roots):
            allowed[0] &= _mask(rule.labels or (), count)
        elif isinstance(rule, Leaves):
            allowed[list(rule.tokens or ())] &= _mask(rule.exempt, count)
        elif isinstance(rule, AtMost):
            heads = range(problem.n + 1) if rule.heads is None else rule.heads
            allowed[list(heads)] &= ~_mask(rule.labels, count)
    return allowed


def _forbids_labels(rule: Rule) -> bool:
    if isinstance(rule, Roots):
        return rule.labels is not None
    if isinstance(rule, Leaves):
        return rule.labels is None and bool(rule.exempt)
    if isinstance(rule, AtMost):
        return rule.count == 0
    return isinstance(rule, (FixedLabel, ForbiddenLabel))
