"""Rules that a tree must satisfy, such as at most one subject, leaves, and fixed arcs.

Every rule is expressed as limits on the labelled arcs of a tree, which decoders and checks use.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Collection, Sequence
from dataclasses import dataclass, fields, replace
from functools import cached_property, lru_cache
from typing import Any

import numpy as np

from ...arrays import Integers, checked_list, checked_whole, read_only
from ...errors import ProblemError
from .limits import ANY, Except, Limit, Term

__all__ = [
    "AtMost",
    "FixedArc",
    "FixedLabel",
    "FixedStart",
    "ForbiddenArc",
    "ForbiddenLabel",
    "Leaves",
    "Rule",
    "checked_rules",
    "rules_on_classes",
]

#: Labels or tokens of a rule, stored as an ascending tuple.
Numbers = Collection[int] | int

#: The fields of rules that name tokens, with the least number allowed, and those that name labels.
OF_TOKENS = {"head": 0, "heads": 0, "token": 1, "tokens": 1}
OF_LABELS = ("labels", "exempt")


class Rule(ABC):
    """What a tree must satisfy; a frozen dataclass of whole numbers, tuples of them, and None.

    Tokens are numbered from 1 and labels from 0, as in :class:`TreeProblem`.
    """

    def __post_init__(self) -> None:
        for one in fields(self):  # type: ignore[arg-type]
            value = getattr(self, one.name)
            if one.type == "int":
                value = checked_whole(one.name, value, low=0)
            elif one.type == "bool":
                if not isinstance(value, (bool, np.bool_)):
                    raise ProblemError(f"{one.name}: expected True or False, got {value!r}.")
            elif not (value is None and one.default is None):
                value = _numbers(one.name, value)
            object.__setattr__(self, one.name, value)

    @property
    @abstractmethod
    def limits(self) -> tuple[Limit, ...]:
        """The rule as limits on the labelled arcs of a tree."""

    @cached_property
    def needs_labels(self) -> bool:
        """Whether the rule mentions labels, so that the problem must have them."""
        terms = [term for limit in self.limits for term in (limit.members, limit.excluded_by)]
        return any(term is not None and term.labels is not ANY for term in terms)

    @cached_property
    def ranges(self) -> dict[str, tuple[int, int]]:
        """The smallest and the largest number in each field that names tokens or labels."""
        named = {one.name: getattr(self, one.name) for one in fields(self)}  # type: ignore[arg-type]
        given = {name: _set(named[name]) for name in (*OF_TOKENS, *OF_LABELS) if name in named}
        return {name: (min(of), max(of)) for name, of in given.items() if of is not ANY and of}

    def is_broken(self, heads: Sequence[int], labels: Sequence[int]) -> bool:
        """Return whether a tree breaks the rule.

        Heads and labels are indexed by token number, -1 for the root; without labels all are -1.
        """
        return any(limit.exceeded(heads, labels) for limit in self.limits)


@dataclass(frozen=True)
class AtMost(Rule):
    """No head has more than `count` dependants with one of these labels.

    Parameters
    ----------
    labels
        The labels that are counted together, such as all kinds of subject.
    count
        The most such dependants, at least 0.
    heads
        The heads that the rule applies to, 0 for the root; None for all.

    Examples
    --------
    >>> rule = AtMost([3, 1])
    >>> rule
    AtMost(labels=(1, 3), count=1, heads=None)
    """

    labels: Numbers
    count: int = 1
    heads: Numbers | None = None

    @cached_property
    def limits(self) -> tuple[Limit, ...]:
        members = Term(heads=_set(self.heads), labels=_set(self.labels), of_each="head")
        return (Limit(members, self.count),)


@dataclass(frozen=True)
class Leaves(Rule):
    """Some tokens have no dependants, such as function words.

    Parameters
    ----------
    labels
        The rule applies to tokens with one of these labels; None for any label.
    tokens
        The rule applies to these tokens; None for all. Give at least one of the two.
    exempt
        Labels of the dependants that such tokens may still have.

    Examples
    --------
    >>> Leaves([2], exempt=[5])
    Leaves(labels=(2,), tokens=None, exempt=(5,))
    """

    labels: Numbers | None = None
    tokens: Numbers | None = None
    exempt: Numbers = ()

    def __post_init__(self) -> None:
        super().__post_init__()
        if self.labels is None and self.tokens is None:
            raise ProblemError("Leaves: give labels or tokens; not all tokens can be leaves.")

    @cached_property
    def limits(self) -> tuple[Limit, ...]:
        tokens, exempt = _set(self.tokens), _set(self.exempt)
        labels = Except(*exempt) if exempt else ANY
        below = Term(heads=tokens, labels=labels, of_each="head")
        if self.labels is None:
            return (Limit(below),)
        leaves = Term(tokens=tokens, labels=_set(self.labels), of_each="token")
        return (Limit(below, excluded_by=leaves),)


@dataclass(frozen=True)
class ArcRule(Rule):
    """A rule about the arc from a head, 0 for the root, to a token."""

    head: int
    token: int

    def __post_init__(self) -> None:
        super().__post_init__()
        if self.head == self.token:
            raise ProblemError(
                f"head: token {self.token} can't be its own head; name another token, or 0 for "
                "the root."
            )


@dataclass(frozen=True)
class FixedArc(ArcRule):
    """A token has this head, 0 for the root.

    Examples
    --------
    >>> FixedArc(2, 1)
    FixedArc(head=2, token=1)
    """

    @cached_property
    def limits(self) -> tuple[Limit, ...]:
        return (Limit(Term(heads=Except(self.head), tokens={self.token})),)


@dataclass(frozen=True)
class ForbiddenArc(ArcRule):
    """A token does not have this head, 0 for the root.

    Examples
    --------
    >>> ForbiddenArc(2, 1)
    ForbiddenArc(head=2, token=1)
    """

    @cached_property
    def limits(self) -> tuple[Limit, ...]:
        return (Limit(Term(heads={self.head}, tokens={self.token})),)


@dataclass(frozen=True)
class LabelRule(Rule):
    """A rule about the label of a token: one label, or several."""

    token: int
    labels: Numbers


@dataclass(frozen=True)
class FixedLabel(LabelRule):
    """A token has this label, or one of these.

    Examples
    --------
    >>> FixedLabel(1, 4)
    FixedLabel(token=1, labels=(4,))
    """

    @cached_property
    def limits(self) -> tuple[Limit, ...]:
        return (Limit(Term(tokens={self.token}, labels=Except(*_set(self.labels)))),)


@dataclass(frozen=True)
class ForbiddenLabel(LabelRule):
    """A token does not have this label, or none of these.

    Examples
    --------
    >>> ForbiddenLabel(1, [4, 5])
    ForbiddenLabel(token=1, labels=(4, 5))
    """

    @cached_property
    def limits(self) -> tuple[Limit, ...]:
        return (Limit(Term(tokens={self.token}, labels=_set(self.labels))),)


@dataclass(frozen=True)
class FixedStart(Rule):
    """A sentence begins at a token, or none does; for problems with boundaries.

    One always begins at token 1: no tree satisfies that none does.

    Examples
    --------
    >>> FixedStart(3, False)
    FixedStart(token=3, begins=False)
    """

    token: int
    begins: bool = True

    @cached_property
    def limits(self) -> tuple[Limit, ...]:
        """No arc crosses a required start; for the absence of one, the boundary is forbidden."""
        if self.token == 1:
            return () if self.begins else (Limit(Term(heads={0})),)
        if not self.begins:
            return ()
        before, behind = set(range(1, self.token)), Except(*range(self.token))
        return Limit(Term(before, behind)), Limit(Term(behind, before))

    def is_broken(self, heads: Sequence[int], labels: Sequence[int]) -> bool:
        crossed = any(h > 0 and min(h, m) < self.token <= max(h, m) for m, h in enumerate(heads))
        return crossed == self.begins if self.token > 1 else not self.begins


@lru_cache(maxsize=64)
def rules_on_classes(
    rules: tuple[Rule, ...], labels: int
) -> tuple[Integers, int, tuple[Rule, ...]]:
    """Return the class of each label, (labels,), the number of classes, and the rules on classes.

    Labels that no rule distinguishes form a class: only the best label of each matters. `labels`
    is the number of labels.

    Examples
    --------
    >>> rules_on_classes((AtMost([0, 2]),), 4)
    (array([1, 0, 1, 0]), 2, (AtMost(labels=(1,), count=1, heads=None),))
    """
    named = [
        {name: np.array(given, int) for name in OF_LABELS
         if (given := getattr(rule, name, None)) is not None}
        for rule in rules
    ]  # fmt: skip
    sets = [members for of in named for members in of.values()]
    patterns = np.array([np.isin(np.arange(labels), one) for one in sets] + [np.zeros(labels)]).T
    _, class_of = np.unique(patterns, axis=0, return_inverse=True)
    class_of = read_only(class_of.reshape(-1))
    stated = [
        replace(rule, **{name: class_of[members].tolist() for name, members in of.items()})  # type: ignore[type-var]
        for rule, of in zip(rules, named, strict=True)
    ]
    return class_of, int(class_of.max(initial=-1)) + 1, tuple(stated)


def checked_rules(
    rules: Sequence[Rule], n: int, labels: int | None, sentences: bool
) -> tuple[Rule, ...]:
    """Return rules as a tuple after checking them against a problem.

    It has `n` tokens, so many `labels` (None for unlabelled arcs), and boundaries if `sentences`.
    Raises `ProblemError` if one is not a rule, or names a token or label that does not exist.
    """
    given = tuple(checked_list("rules", rules, "rules, such as [rule]"))
    for place, rule in enumerate(given):
        if not isinstance(rule, Rule):
            raise ProblemError(f"rules[{place}]: expected a Rule, got {type(rule).__name__}.")
        if rule.needs_labels and labels is None:
            raise ProblemError(f"rules[{place}]: {rule} needs labels; pass labels= as well.")
        if isinstance(rule, FixedStart) and not sentences:
            raise ProblemError(
                f"rules[{place}]: {rule} needs boundaries; pass boundaries= as well."
            )
        for name, (low, high) in rule.ranges.items():
            is_token = name in OF_TOKENS
            least, most = (OF_TOKENS[name], n) if is_token else (0, (labels or 0) - 1)
            if low < least or high > most:
                raise ProblemError(
                    f"rules[{place}]: {rule} names {low if low < least else high} in {name}, but "
                    f"{'tokens' if is_token else 'labels'} are numbered from {least} to {most}."
                )
    return given


def _set(numbers: Numbers | None) -> Any:
    """Return the numbers of a rule as a set; None stands for any."""
    if numbers is None:
        return ANY
    return frozenset((numbers,) if isinstance(numbers, int) else numbers)


def _numbers(name: str, values: Any) -> tuple[int, ...]:
    if isinstance(values, (int, np.integer)):
        return (checked_whole(name, values, low=0),)
    listed = checked_list(name, values, "whole numbers")
    return tuple(sorted({checked_whole(name, value, low=0) for value in listed}))
