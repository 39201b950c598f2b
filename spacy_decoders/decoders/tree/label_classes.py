"""Labels and arcs that rules forbid by themselves, and labels sorted by what rules say of them."""

from __future__ import annotations

from collections.abc import Iterable
from functools import lru_cache
from typing import Any

import numpy as np
from numpy.typing import NDArray

from ...arrays import read_only
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

__all__ = [
    "allowed_arcs",
    "allowed_labels",
    "breaks_any",
    "marked",
    "named_labels",
    "rules_on_classes",
]

Mask = NDArray[np.bool_]


def rules_on_classes(
    rules: Iterable[Rule], labels: int
) -> tuple[NDArray[np.int64], int, tuple[Rule, ...]]:
    """Return classes of labels that rules tell apart, and the rules on these.

    Only the best label of each class matters. Each label is a class of its own if a rule names
    labels in another way than `AtMost` and `Leaves` do.

    Parameters
    ----------
    labels
        The number of labels.

    Returns
    -------
    class_of
        int64 (labels,), the class of each label.
    classes
        Their number.
    rules
        With classes in the place of labels.

    Examples
    --------
    >>> rules_on_classes([AtMost([0, 2])], 4)
    (array([1, 0, 1, 0]), 2, (AtMost(labels=(1,), count=1, heads=None),))
    """
    given = tuple(rules)
    if any(rule.needs_labels and not isinstance(rule, (AtMost, Leaves)) for rule in given):
        return np.arange(labels), labels, given
    return _rules_on_classes(given, labels)


@lru_cache(maxsize=64)
def _rules_on_classes(
    rules: tuple[Rule, ...], labels: int
) -> tuple[NDArray[np.int64], int, tuple[Rule, ...]]:
    named = [marked(named_labels(rule, labels), labels) for rule in rules]
    exempt = [marked(getattr(rule, "exempt", ()), labels) for rule in rules]
    patterns = np.array([*named, *exempt, np.zeros(labels, bool)]).T
    _, first, class_of = np.unique(patterns, axis=0, return_index=True, return_inverse=True)
    found: list[Rule] = []
    for rule, of, escapes in zip(rules, named, exempt, strict=True):
        own = np.flatnonzero(of[first]).tolist()
        if isinstance(rule, AtMost):
            found.append(AtMost(own, rule.count, rule.heads))
        elif isinstance(rule, Leaves):
            leaf = None if rule.labels is None else own
            found.append(Leaves(leaf, rule.tokens, np.flatnonzero(escapes[first]).tolist()))
        else:
            found.append(rule)
    return read_only(class_of.reshape(-1)), len(first), tuple(found)


def breaks_any(
    rules: Iterable[Rule],
    heads: NDArray[np.int32],
    labels: NDArray[np.integer[Any]] | None,
) -> bool:
    """Return whether a labelled tree breaks any of some rules.

    Parameters
    ----------
    heads, labels
        (n,); None without labels.

    Examples
    --------
    >>> heads, labels = np.array([2, 0, 2], "i"), np.array([1, 0, 1], "i")
    >>> breaks_any([AtMost([1])], heads, labels), breaks_any([AtMost([0])], heads, labels)
    (True, False)
    """
    tree = [-1, *heads.tolist()]
    marks = [-1] * len(tree) if labels is None else [-1, *labels.tolist()]
    return any(rule.is_broken(tree, marks) for rule in rules)


def named_labels(rule: Rule, labels: int) -> Iterable[int]:
    """Return the labels that an `AtMost` counts, or that make a token one of the `Leaves`."""
    if isinstance(rule, AtMost):
        return rule.labels
    if isinstance(rule, Leaves):
        return range(labels) if rule.labels is None else rule.labels
    return ()


def marked(members: Iterable[int], size: int) -> Mask:
    """Return where some members are, bool (size,)."""
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
            allowed[0] &= marked(rule.tokens, problem.n + 1)
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
            allowed[:, rule.token] &= marked(rule.labels, count)
        elif isinstance(rule, ForbiddenLabel):
            allowed[:, rule.token] &= ~marked(rule.labels, count)
        elif isinstance(rule, Roots):
            allowed[0] &= marked(rule.labels or (), count)
        elif isinstance(rule, Leaves):
            allowed[list(rule.tokens or ())] &= marked(rule.exempt, count)
        elif isinstance(rule, AtMost):
            heads = range(problem.n + 1) if rule.heads is None else rule.heads
            allowed[list(heads)] &= ~marked(rule.labels, count)
    return allowed


def _forbids_labels(rule: Rule) -> bool:
    if isinstance(rule, Roots):
        return rule.labels is not None
    if isinstance(rule, Leaves):
        return rule.labels is None and bool(rule.exempt)
    if isinstance(rule, AtMost):
        return rule.count == 0
    return isinstance(rule, (FixedLabel, ForbiddenLabel))
