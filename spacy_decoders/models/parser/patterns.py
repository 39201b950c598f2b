"""Hand-made patterns of arcs as users state them, in the form of spaCy's ``DependencyMatcher``."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Mapping, Sequence
from copy import deepcopy
from dataclasses import dataclass
from functools import cached_property
from math import isfinite
from typing import Any

from ...arrays import is_number
from ...errors import ProblemError

__all__ = ["OF_ROOT", "TOP", "ArcPattern", "arc_patterns", "stated_patterns"]

#: The head of a token that has none in its pattern, and of one that the root must head.
TOP, OF_ROOT = -1, -2

#: How many arcs a pattern may have.
MOST_ARCS = 3

#: The largest weight beside which scores keep digits enough.
LARGEST_WEIGHT = 1e4

#: What an operator's first character says of the later token, and its others of its side.
_RELATIONS = {">": "dependant", "<": "head", "$": "sibling"}
_SIDES = {"": (0, False), "+": (1, True), "-": (-1, True), "++": (1, False), "--": (-1, False)}
OPERATORS = {
    relation + side: (meaning, *_SIDES[side])
    for relation, meaning in _RELATIONS.items()
    for side in _SIDES
    if relation + side != "$"
}

#: Predicates of spaCy's Matcher that DEP and TAG may have.
_PREDICATES: dict[str, Callable[[str, Any], bool]] = {
    "IN": lambda name, given: name in given,
    "NOT_IN": lambda name, given: name not in given,
    "REGEX": lambda name, given: re.search(given, name) is not None,
}


@dataclass(frozen=True)
class ArcPattern:
    """A set of one to three arcs between tokens that satisfy conditions."""

    #: What explanations and messages call it.
    name: str
    #: What it adds to a tree's score wherever the tree has it.
    weight: float
    #: For each token the attributes that spaCy's ``Matcher`` compares.
    attributes: tuple[dict[str, Any], ...]
    #: Conditions on each token's tag, and on the label of the arc from its head; None for none.
    tags: tuple[Any, ...]
    deps: tuple[Any, ...]
    #: The head of each token, as its number in the pattern; `TOP` for none, `OF_ROOT` for the
    #: root of the sentence.
    heads: tuple[int, ...]
    #: Rows (left, right, whether next to each other) of tokens whose order is given.
    orders: tuple[tuple[int, int, bool], ...]

    @cached_property
    def top_down(self) -> tuple[int, ...]:
        """The tokens, each behind its head."""
        found = [token for token, head in enumerate(self.heads) if head < 0]
        for head in found:
            found += [token for token, of in enumerate(self.heads) if of == head]
        return tuple(found)

    @cached_property
    def arcs(self) -> tuple[tuple[int, int], ...]:
        """Rows (head, dependant) of tokens; the head of a root is `OF_ROOT`."""
        return tuple((head, token) for token, head in enumerate(self.heads) if head != TOP)

    @cached_property
    def has_siblings(self) -> bool:
        """Whether two tokens have one head."""
        heads = [head for head, _ in self.arcs]
        return len(set(heads)) < len(heads)


def accepts(condition: Any, name: str) -> bool:
    """Whether a name satisfies a condition: a name, or a dictionary of predicates."""
    if isinstance(condition, str):
        return condition == name
    return all(_PREDICATES[key](name, given) for key, given in condition.items())


def arc_patterns(name: str, value: Any) -> tuple[dict[str, Any], ...]:
    """Return the option `patterns` of a parser, checked, in plain types.

    Raises
    ------
    ProblemError
        If a pattern is wrong; the message names it, the field, and what is expected.

    Examples
    --------
    >>> verb = {"RIGHT_ID": "verb", "RIGHT_ATTRS": {"TAG": "VB"}}
    >>> _ = arc_patterns("patterns", [{"name": "verbs", "weight": 1, "pattern": [verb]}])
    Traceback (most recent call last):
    spacy_decoders.errors.ProblemError: patterns[0] ('verbs'): it has no arc; expected 1 to 3.
    """
    return tuple(dict(given) for given, _ in _parsed(name, value))


def stated_patterns(given: Iterable[Mapping[str, Any]]) -> tuple[ArcPattern, ...]:
    """Return the patterns of a checked option."""
    return tuple(pattern for _, pattern in _parsed("patterns", given))


def _parsed(name: str, value: Any) -> list[tuple[Mapping[str, Any], ArcPattern]]:
    if isinstance(value, (str, Mapping)) or not isinstance(value, Iterable):
        raise ProblemError(f"{name}: expected a list of patterns; got {value!r}.")
    found: list[tuple[Mapping[str, Any], ArcPattern]] = []
    for number, stated in enumerate(value):
        given = _unescaped(stated)
        pattern = _pattern(f"{name}[{number}]", given)
        if pattern.name in (other.name for _, other in found):
            raise ProblemError(f"{name}[{number}].name: {pattern.name!r} is taken; change it.")
        found.append((given, pattern))
    return found


def _unescaped(given: Any) -> Any:
    """Read the operator ``$$++`` as ``$++``: config files double each dollar."""
    if isinstance(given, Mapping):
        return {
            key: re.sub(r"^\$+", "$", value)
            if key == "REL_OP" and isinstance(value, str)
            else _unescaped(value)
            for key, value in given.items()
        }
    return [_unescaped(value) for value in given] if isinstance(given, (list, tuple)) else given


def _pattern(where: str, given: Any) -> ArcPattern:
    _check_keys(where, given, ("name", "weight", "pattern"))
    if not isinstance(given["name"], str) or not given["name"]:
        raise ProblemError(f"{where}.name: expected a name; got {given['name']!r}.")
    where = f"{where} ({given['name']!r})"
    weight = given["weight"]
    if not is_number(weight) or not isfinite(weight):
        raise ProblemError(f"{where}.weight: expected a finite number; got {weight!r}.")
    if not weight or abs(weight) > LARGEST_WEIGHT:
        raise ProblemError(
            f"{where}.weight: expected a number other than 0, at most {LARGEST_WEIGHT:g} and at "
            f"least {-LARGEST_WEIGHT:g}; got {weight!r}. For what must or must not be, use rules "
            "or constraints."
        )
    tokens = given["pattern"]
    if not isinstance(tokens, (list, tuple)) or not tokens:
        raise ProblemError(f"{where}.pattern: expected a list with a dict for each token.")
    links = _Links(where)
    for number, token in enumerate(tokens):
        links.add(f"{where}.pattern[{number}]", number, token)
    return links.pattern(given["name"], float(weight))


class _Links:
    """The tokens of a pattern, read one after the other."""

    def __init__(self, where: str) -> None:
        self.where = where
        self.names: list[str] = []
        self.heads: list[int] = []
        self.orders: list[tuple[int, int, bool]] = []
        self.conditions: list[dict[str, Any]] = []

    def add(self, where: str, number: int, token: Any) -> None:
        """Read one token, which has a relation to one before it."""
        own = ("RIGHT_ID", "RIGHT_ATTRS")
        _check_keys(where, token, own if number == 0 else (*own, "LEFT_ID", "REL_OP"))
        name = token["RIGHT_ID"]
        if not isinstance(name, str) or name in self.names:
            raise ProblemError(f"{where}.RIGHT_ID: expected a name of its own; got {name!r}.")
        self.conditions.append(_conditions(f"{where}.RIGHT_ATTRS", token["RIGHT_ATTRS"]))
        self.names.append(name)
        self.heads.append(TOP)
        if number:
            self._link(where, number, token["LEFT_ID"], token["REL_OP"])

    def _link(self, where: str, token: int, left: Any, operator: Any) -> None:
        if left not in self.names[:-1]:
            raise ProblemError(
                f"{where}.LEFT_ID: expected the RIGHT_ID of a token before, "
                f"{', '.join(map(repr, self.names[:-1]))}; got {left!r}."
            )
        if operator not in OPERATORS:
            raise ProblemError(
                f"{where}.REL_OP: expected one of {' '.join(OPERATORS)}, each of which states one "
                f"arc; got {operator!r}."
            )
        other = self.names.index(left)
        relation, side, adjacent = OPERATORS[operator]
        if relation == "dependant":
            self.heads[token] = other
        elif relation == "sibling":
            if self.heads[other] == TOP:
                raise ProblemError(
                    f"{where}.REL_OP: the head of {left!r} is no token of the pattern; begin with "
                    "the head and state both as its dependants, by >."
                )
            self.heads[token] = self.heads[other]
        elif self.heads[other] != TOP:
            raise ProblemError(f"{where}.REL_OP: {left!r} has a head already.")
        else:
            self.heads[other] = token
        if side:
            self.orders.append((*((other, token) if side > 0 else (token, other)), adjacent))

    def pattern(self, name: str, weight: float) -> ArcPattern:
        """Return the whole, if it states arcs."""
        top = self.heads.index(TOP)
        of_top = self.conditions[top].pop("DEP", None)
        if of_top is not None:
            if not isinstance(of_top, str) or of_top.upper() != "ROOT":
                raise ProblemError(
                    f"{self.where}.pattern[{top}].RIGHT_ATTRS.DEP: {self.names[top]!r} has no "
                    "head in the pattern, so it can only be 'ROOT'; add its head as a token."
                )
            self.heads[top] = OF_ROOT
        for token, (head, of) in enumerate(zip(self.heads, self.conditions, strict=True)):
            if head >= 0 and str(of.get("DEP", "")).upper() == "ROOT":
                raise ProblemError(
                    f"{self.where}.pattern[{token}].RIGHT_ATTRS.DEP: the root has no head, and "
                    f"{self.names[token]!r} has {self.names[head]!r}; leave one of them out."
                )
        arcs = sum(head != TOP for head in self.heads)
        if not 1 <= arcs <= MOST_ARCS:
            raise ProblemError(
                f"{self.where}: it has {arcs or 'no'} arc{'s' * (arcs > 1)}; expected 1 to "
                f"{MOST_ARCS}."
            )
        tags, deps = (tuple(of.pop(key, None) for of in self.conditions) for key in ("TAG", "DEP"))
        return ArcPattern(
            name,
            weight,
            tuple(self.conditions),
            tags,
            deps,
            tuple(self.heads),
            tuple(self.orders),
        )


def _check_keys(where: str, given: Any, needed: Sequence[str]) -> None:
    if not isinstance(given, Mapping):
        raise ProblemError(f"{where}: expected a dict; got {given!r}.")
    missing, unknown = set(needed).difference(given), set(given).difference(needed)
    if missing or unknown:
        wrong = f"{min(missing)!r} is missing" if missing else f"got {min(unknown)!r}"
        raise ProblemError(f"{where}: expected the keys {', '.join(needed)}; {wrong}.")


def _conditions(where: str, given: Any) -> dict[str, Any]:
    from spacy.schemas import validate_token_pattern

    if not isinstance(given, Mapping):
        raise ProblemError(f"{where}: expected a dict of token attributes; got {given!r}.")
    # spaCy takes small letters, too
    found = {str(key).upper(): deepcopy(value) for key, value in given.items()}
    if len(found) < len(given):
        raise ProblemError(f"{where}: an attribute is given twice, in capital and small letters.")
    faults = validate_token_pattern([found]) if found else []
    if faults:
        raise ProblemError(f"{where}: {'; '.join(map(str, faults))}.")
    if "OP" in found:
        raise ProblemError(f"{where}.OP: each token of a pattern stands for one token.")
    for key in ("SENT_START", "IS_SENT_START"):
        if key in found:
            raise ProblemError(f"{where}.{key}: where sentences begin is found with the trees.")
    for key in ("TAG", "DEP"):
        if key in found and not _is_condition(found[key]):
            raise ProblemError(
                f"{where}.{key}: expected a name, or a dict with {', '.join(_PREDICATES)}; got "
                f"{found[key]!r}."
            )
    _check_expressions(where, found)
    return found


def _is_condition(given: Any) -> bool:
    if not isinstance(given, Mapping):
        return isinstance(given, str)
    # spaCy's check leaves that an expression may be a dict
    return bool(given) and all(
        key in _PREDICATES and not isinstance(value, Mapping) for key, value in given.items()
    )


def _check_expressions(where: str, given: Any, is_regular: bool = False) -> None:
    """Raise if a regular expression in a condition can't be read."""
    if isinstance(given, Mapping):
        for key, value in given.items():
            _check_expressions(f"{where}.{key}", value, is_regular or key == "REGEX")
    elif isinstance(given, (list, tuple)):
        for item in given:
            _check_expressions(where, item, is_regular)
    elif is_regular and isinstance(given, str):
        try:
            re.compile(given)
        except re.error as error:
            raise ProblemError(f"{where}: {given!r} is no regular expression: {error}.") from None
