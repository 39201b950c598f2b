"""Rules that a tree must satisfy: labels that a head may have once, leaves, roots, fixed arcs."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections import Counter
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, fields
from typing import Any

import numpy as np

from ...errors import ProblemError

__all__ = [
    "AtMost",
    "Constituent",
    "FixedArc",
    "FixedLabel",
    "FixedStart",
    "ForbiddenArc",
    "ForbiddenLabel",
    "Leaves",
    "Roots",
    "Rule",
    "checked_rules",
]

#: Labels or tokens of a rule, in rising order.
Numbers = tuple[int, ...]


class Rule(ABC):
    """What a tree must satisfy; a frozen dataclass of whole numbers, tuples of them, and None.

    Tokens are numbered from 1 and labels from 0, as in :class:`TreeProblem`.
    """

    #: Fields that name tokens (the root, 0, where it may be a head), and those that name labels.
    of_tokens: tuple[str, ...] = ()
    of_labels: tuple[str, ...] = ()
    #: Whether the rule speaks of labels, so that the problem must have some.
    needs_labels = False

    @abstractmethod
    def is_broken(self, heads: Sequence[int], labels: Sequence[int]) -> bool:
        """Return whether a tree breaks the rule.

        Parameters
        ----------
        heads, labels
            By token number, -1 for the root itself; without labels all are -1.
        """

    def __str__(self) -> str:
        values = [f"{one.name}={getattr(self, one.name)!r}" for one in fields(self)]  # type: ignore[arg-type]
        return f"{type(self).__name__}({', '.join(values)})"


@dataclass(frozen=True)
class AtMost(Rule):
    """No head has more than `count` dependants with one of these labels.

    Parameters
    ----------
    labels
        The labels that are counted together, such as all subjects. Others are exempt.
    count
        At least 0.
    heads
        The heads that the rule is about, 0 for the root; None for all.

    Examples
    --------
    >>> rule = AtMost([3, 1])
    >>> rule
    AtMost(labels=(1, 3), count=1, heads=None)
    """

    labels: Numbers
    count: int = 1
    heads: Numbers | None = None

    of_tokens = ("heads",)
    of_labels = ("labels",)
    needs_labels = True

    def __init__(
        self, labels: Iterable[int] | int, count: int = 1, heads: Iterable[int] | int | None = None
    ) -> None:
        _set(self, labels=_some_numbers("labels", labels), heads=_numbers("heads", heads))
        _set(self, count=_number("count", count))

    def is_broken(self, heads: Sequence[int], labels: Sequence[int]) -> bool:
        counted = [h for h, label in zip(heads, labels, strict=True) if label in self.labels]
        if len(counted) <= self.count:
            return False
        among = counted if self.heads is None else [h for h in counted if h in self.heads]
        return any(number > self.count for number in Counter(among).values())


@dataclass(frozen=True)
class Leaves(Rule):
    """Some tokens have no dependants, such as function words.

    Parameters
    ----------
    labels
        The rule is about tokens with one of these labels; None for any label.
    tokens
        The rule is about these tokens; None for all of them. At least one of the two is given.
    exempt
        Labels of dependants that such tokens may have.

    Examples
    --------
    >>> Leaves([2], exempt=[5])
    Leaves(labels=(2,), tokens=None, exempt=(5,))
    """

    labels: Numbers | None = None
    tokens: Numbers | None = None
    exempt: Numbers = ()

    of_tokens = ("tokens",)
    of_labels = ("labels", "exempt")

    def __init__(
        self,
        labels: Iterable[int] | int | None = None,
        tokens: Iterable[int] | int | None = None,
        exempt: Iterable[int] | int = (),
    ) -> None:
        _set(self, labels=_numbers("labels", labels), tokens=_numbers("tokens", tokens))
        _set(self, exempt=_numbers("exempt", exempt) or ())
        if self.labels is None and self.tokens is None:
            raise ProblemError("Leaves: give labels or tokens; a tree has to have some heads.")

    @property
    def needs_labels(self) -> bool:  # type: ignore[override]
        return self.labels is not None or bool(self.exempt)

    def is_broken(self, heads: Sequence[int], labels: Sequence[int]) -> bool:
        leaves = {
            token
            for token, label in enumerate(labels)
            if token and (self.labels is None or label in self.labels)
        }
        if self.tokens is not None:
            leaves.intersection_update(self.tokens)
        for h, label in zip(heads, labels, strict=True):
            if h in leaves and label not in self.exempt:
                return True
        return False


@dataclass(frozen=True)
class Roots(Rule):
    """Only these tokens hang on the root, with these labels; None for any.

    Examples
    --------
    >>> Roots([4, 2])
    Roots(tokens=(2, 4), labels=None)
    """

    tokens: Numbers | None = None
    labels: Numbers | None = None

    of_tokens = ("tokens",)
    of_labels = ("labels",)

    def __init__(
        self,
        tokens: Iterable[int] | int | None = None,
        labels: Iterable[int] | int | None = None,
    ) -> None:
        _set(self, tokens=_numbers("tokens", tokens), labels=_numbers("labels", labels))

    @property
    def needs_labels(self) -> bool:  # type: ignore[override]
        return self.labels is not None

    def is_broken(self, heads: Sequence[int], labels: Sequence[int]) -> bool:
        for token, h in enumerate(heads):
            if h == 0 and (
                (self.tokens is not None and token not in self.tokens)
                or (self.labels is not None and labels[token] not in self.labels)
            ):
                return True
        return False


@dataclass(frozen=True)
class _ArcRule(Rule):
    """A rule about one arc."""

    head: int
    token: int

    of_tokens = ("head", "token")

    def __init__(self, head: int, token: int) -> None:
        _set(self, head=_number("head", head), token=_number("token", token))


@dataclass(frozen=True, init=False)
class FixedArc(_ArcRule):
    """The head of a token is given, 0 for the root.

    Examples
    --------
    >>> FixedArc(2, 1)
    FixedArc(head=2, token=1)
    """

    def is_broken(self, heads: Sequence[int], labels: Sequence[int]) -> bool:
        return heads[self.token] != self.head


@dataclass(frozen=True, init=False)
class ForbiddenArc(_ArcRule):
    """A token does not have this head, 0 for the root.

    Examples
    --------
    >>> ForbiddenArc(2, 1)
    ForbiddenArc(head=2, token=1)
    """

    def is_broken(self, heads: Sequence[int], labels: Sequence[int]) -> bool:
        return heads[self.token] == self.head


@dataclass(frozen=True)
class _LabelRule(Rule):
    """A rule about the label of one token."""

    token: int
    labels: Numbers

    of_tokens = ("token",)
    of_labels = ("labels",)
    needs_labels = True

    def __init__(self, token: int, labels: Iterable[int] | int) -> None:
        _set(self, token=_number("token", token), labels=_some_numbers("labels", labels))


@dataclass(frozen=True, init=False)
class FixedLabel(_LabelRule):
    """The label of a token is this one, or one of these.

    Examples
    --------
    >>> FixedLabel(1, 4)
    FixedLabel(token=1, labels=(4,))
    """

    def is_broken(self, heads: Sequence[int], labels: Sequence[int]) -> bool:
        return labels[self.token] not in self.labels


@dataclass(frozen=True, init=False)
class ForbiddenLabel(_LabelRule):
    """A token does not have this label, or any of these.

    Examples
    --------
    >>> ForbiddenLabel(1, [4, 5])
    ForbiddenLabel(token=1, labels=(4, 5))
    """

    def is_broken(self, heads: Sequence[int], labels: Sequence[int]) -> bool:
        return labels[self.token] in self.labels


@dataclass(frozen=True)
class FixedStart(Rule):
    """A sentence begins at a token, or none does; for problems with boundaries.

    Examples
    --------
    >>> FixedStart(3, False)
    FixedStart(token=3, begins=False)
    """

    token: int
    begins: bool = True

    of_tokens = ("token",)

    def __init__(self, token: int, begins: bool = True) -> None:
        if not isinstance(begins, (bool, np.bool_)):
            raise ProblemError(f"begins: expected True or False, got {begins!r}.")
        _set(self, token=_number("token", token), begins=bool(begins))

    def is_broken(self, heads: Sequence[int], labels: Sequence[int]) -> bool:
        crossed = any(h > 0 and min(h, m) < self.token <= max(h, m) for m, h in enumerate(heads))
        return crossed == self.begins and self.token > 1


@dataclass(frozen=True)
class Constituent(Rule):
    """Of the tokens from `first` to `last`, exactly one has its head outside of them.

    The head of an entity or of a noun chunk, for example. Tokens outside may depend on any.

    Examples
    --------
    >>> Constituent(2, 4)
    Constituent(first=2, last=4)
    """

    first: int
    last: int

    of_tokens = ("first", "last")

    def __init__(self, first: int, last: int) -> None:
        _set(self, first=_number("first", first), last=_number("last", last))
        if not 1 <= self.first <= self.last:
            raise ProblemError(
                f"Constituent: first must be a token not behind last; got {first} and {last}."
            )

    def is_broken(self, heads: Sequence[int], labels: Sequence[int]) -> bool:
        inner = heads[self.first : self.last + 1]
        return sum(not self.first <= h <= self.last for h in inner) != 1


_KINDS: tuple[type[Rule], ...] = (
    AtMost, Constituent, FixedArc, FixedLabel, FixedStart, ForbiddenArc, ForbiddenLabel, Leaves,
    Roots,
)  # fmt: skip


def checked_rules(rules: Sequence[Rule], n: int, labels: int | None, sentences: bool) -> Any:
    """Return rules as a tuple after checking them against a problem.

    Parameters
    ----------
    n
        The number of tokens.
    labels
        The number of labels; None if arcs have none.
    sentences
        Whether the problem decides on boundaries.

    Raises
    ------
    ProblemError
        If one is no rule, or names a token or label that does not exist.
    """
    if isinstance(rules, Rule) or not isinstance(rules, Iterable):
        raise ProblemError("rules: expected a sequence of rules; write [rule].")
    given = tuple(rules)
    for place, rule in enumerate(given):
        if not isinstance(rule, Rule):
            raise ProblemError(f"rules[{place}]: expected a Rule, got {type(rule).__name__}.")
        if type(rule) not in _KINDS:
            raise ProblemError(
                f"rules[{place}]: {type(rule).__name__} is none of the rules that decoders know: "
                f"{', '.join(kind.__name__ for kind in _KINDS)}."
            )
        if rule.needs_labels and labels is None:
            raise ProblemError(f"rules[{place}]: {rule} needs labels; pass labels= as well.")
        if isinstance(rule, FixedStart) and not sentences:
            raise ProblemError(f"rules[{place}]: {rule} needs boundaries; pass boundaries= too.")
        for name in rule.of_tokens:
            least = 0 if name in ("head", "heads") else 1
            _check_range(place, rule, name, least, n, "tokens")
        for name in rule.of_labels:
            _check_range(place, rule, name, 0, (labels or 0) - 1, "labels")
    return given


def _check_range(place: int, rule: Rule, name: str, least: int, most: int, what: str) -> None:
    values = getattr(rule, name)
    values = () if values is None else values if isinstance(values, tuple) else (values,)
    wrong = [value for value in values if not least <= value <= most]
    if wrong:
        raise ProblemError(
            f"rules[{place}]: {rule} names {wrong[0]} in {name}, but {what} are numbered from "
            f"{least} to {most}."
        )


def _set(rule: Any, **values: Any) -> None:
    for name, value in values.items():
        object.__setattr__(rule, name, value)


def _number(name: str, value: Any) -> int:
    if isinstance(value, bool) or not isinstance(value, (int, np.integer)) or value < 0:
        raise ProblemError(f"{name}: expected a whole number from 0 on, got {value!r}.")
    return int(value)


def _some_numbers(name: str, values: Any) -> Numbers:
    found = _numbers(name, values)
    if found is None:
        raise ProblemError(f"{name}: expected whole numbers from 0 on, got None.")
    return found


def _numbers(name: str, values: Any) -> Numbers | None:
    if values is None:
        return None
    if isinstance(values, (int, np.integer)):
        return (_number(name, values),)
    if isinstance(values, str) or not isinstance(values, Iterable):
        raise ProblemError(f"{name}: expected whole numbers from 0 on, got {values!r}.")
    return tuple(sorted({_number(name, value) for value in values}))
