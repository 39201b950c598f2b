"""Constraints as users state them: where they apply, and what they demand there."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, fields
from difflib import get_close_matches
from math import isfinite
from typing import Any

from ...arrays import is_number
from ...errors import ProblemError

__all__ = ["DEMANDS", "PLACES", "Constraint", "check_known", "checked", "constraints_about"]

#: The keys that say where a constraint applies; each constraint has one.
PLACES = ("pattern", "phrases", "file", "spans")

#: The keys that say what it demands, by what they are about.
DEMANDS: dict[str, tuple[str, ...]] = {
    "labels": ("labels", "not_labels"),
    "entities": ("entity", "not_entity"),
    "trees": ("head", "root", "deps", "not_deps"),
    "links": ("candidates", "not_candidates"),
}
_ALL_DEMANDS = tuple(key for keys in DEMANDS.values() for key in keys)

#: The largest weight beside which scores, float32, keep digits enough.
LARGEST_WEIGHT = 1e4

#: Token attributes by which phrases may be compared.
_ATTRIBUTES = ("ORTH", "LOWER", "NORM", "SHAPE")


@dataclass(frozen=True)
class Constraint:
    """One demand on the annotation of the tokens or spans that match.

    It has one place (`pattern`, `phrases`, `file` or `spans`) and one demand. Without a `weight`
    it is hard: what it demands must be. With one it is soft: agreeing is worth so much more than
    not agreeing, in the units of the model's scores.

    Parameters
    ----------
    pattern
        A pattern of spaCy's ``Matcher``, a list with a dict for each token, or a list of patterns.
    phrases
        Phrases, which are found as by spaCy's ``PhraseMatcher``; of overlapping ones the longest.
    file
        The path of a file with one phrase a line, gzipped or not. The phrases are saved with the
        component.
    spans
        The spans of ``doc.spans[KEY]``, which an earlier component or the user has set.
    attr
        The token attribute by which phrases are compared: "ORTH", "LOWER", "NORM" or "SHAPE".
    token
        Which token of the match is meant, counted from 0, or from the end with a minus; None for
        all of them. For demands on labels and trees.
    labels, not_labels
        The labels (or parts of joint labels) that a token may, or may not, have.
    entity, not_entity
        The span is an entity of one of these types; none of its tokens is part of an entity of
        these types. True for any type. With `spans`, ``"label"`` for the label of each span.
    head
        Which token of the match is the head, as for `token`.
    root
        Whether the token is a root.
    deps, not_deps
        The relations that a token may, or may not, have to its head.
    candidates, not_candidates
        The concepts that a mention may, or may not, be linked to; an empty list of `candidates`
        leaves it without a link.
    weight
        How much it is worth to agree, at most 10,000; None if it must be so.

    Raises
    ------
    ProblemError
        If it does not have one place and one demand, or a value is not of its kind.

    Examples
    --------
    >>> Constraint(pattern=[{"LOWER": "can"}], labels=["MD"], weight=2.0).as_dict()
    {'pattern': [[{'LOWER': 'can'}]], 'labels': ['MD'], 'weight': 2.0}
    >>> Constraint(phrases=["Acme Corp"], entity="ORG", lables=["NNP"])
    Traceback (most recent call last):
    TypeError: Constraint.__init__() got an unexpected keyword argument 'lables'
    >>> Constraint(phrases=["Acme Corp"])  # doctest: +ELLIPSIS
    Traceback (most recent call last):
    spacy_decoders.errors.ProblemError: constraint: it demands nothing; give one of labels, ...
    """

    pattern: Any = None
    phrases: Any = None
    file: str | None = None
    spans: str | None = None
    attr: str = "ORTH"
    token: int | None = None
    labels: Any = None
    not_labels: Any = None
    entity: Any = None
    not_entity: Any = None
    head: int | None = None
    root: bool | None = None
    deps: Any = None
    not_deps: Any = None
    candidates: Any = None
    not_candidates: Any = None
    weight: float | None = None

    def __post_init__(self) -> None:
        _check_whole(self)
        for name, normalise in _NORMALISED.items():
            value = getattr(self, name)
            if value is not None:
                object.__setattr__(self, name, normalise(name, value))

    @property
    def place(self) -> str:
        """The key that says where it applies."""
        return next(key for key in PLACES if getattr(self, key) is not None)

    @property
    def demand(self) -> str:
        """The key that says what it demands."""
        return next(key for key in _ALL_DEMANDS if getattr(self, key) is not None)

    @property
    def about(self) -> str:
        """What it is about: "labels", "entities", "trees" or "links"."""
        return next(about for about, keys in DEMANDS.items() if self.demand in keys)

    def as_dict(self) -> dict[str, Any]:
        """Return what was given, in plain types: as in a config."""
        given = {field.name: getattr(self, field.name) for field in fields(self)}
        return {
            name: value
            for name, value in given.items()
            if value is not None and (name, value) != ("attr", "ORTH")
        }


def constraints_about(*about: str) -> Callable[[str, Any], tuple[dict[str, Any], ...]]:
    """Return the check of an option `constraints` whose demands are about some things.

    It takes dictionaries and :class:`Constraint` objects, and stores dictionaries: they are saved
    with the component.

    Examples
    --------
    >>> check = constraints_about("labels")
    >>> check("constraints", [{"pattern": [{"LOWER": "can"}], "label": ["MD"]}])
    Traceback (most recent call last):
    spacy_decoders.errors.ProblemError: constraints[0]: unknown key 'label'; did you mean 'labels'?
    """

    def check(name: str, value: Any) -> tuple[dict[str, Any], ...]:
        return tuple(of.as_dict() for of in checked(name, value, about))

    return check


def checked(name: str, value: Any, about: Sequence[str]) -> list[Constraint]:
    """Return constraints of dictionaries or objects, checked; errors name their place in the list.

    Raises
    ------
    ProblemError
        If `value` is no list, a constraint is wrong, or demands what the component does not do.
    """
    if isinstance(value, (str, Mapping, Constraint)) or not isinstance(value, Iterable):
        raise ProblemError(f"{name}: expected a list of constraints; got {value!r}.")
    found = []
    for number, given in enumerate(value):
        where = f"{name}[{number}]"
        constraint = given if isinstance(given, Constraint) else _of_dict(where, given)
        if constraint.about not in about:
            known = ", ".join(key for kind in about for key in DEMANDS[kind])
            raise ProblemError(
                f"{where}: this component has no use for {constraint.demand!r}; "
                f"it takes demands by {known}."
            )
        found.append(constraint)
    return found


def check_known(constraints: Iterable[Mapping[str, Any]], labels: Sequence[str]) -> None:
    """Raise if checked constraints on trees name labels that a parser does not have.

    Examples
    --------
    >>> check_known([{"phrases": ["she"], "deps": ["subject"]}], ["nsubj", "ROOT"])
    Traceback (most recent call last):
    spacy_decoders.errors.ProblemError: constraints[0].deps: the parser has no 'subject'; it has \
nsubj, ROOT.
    """
    for number, given in enumerate(constraints):
        for key in ("deps", "not_deps"):
            unknown = sorted(set(given.get(key, ())).difference(labels))
            if unknown:
                raise ProblemError(
                    f"constraints[{number}].{key}: the parser has no "
                    f"{', '.join(map(repr, unknown))}; it has {', '.join(labels)}."
                )


def _of_dict(where: str, given: Any) -> Constraint:
    if not isinstance(given, Mapping):
        raise ProblemError(f"{where}: expected a dictionary or a Constraint; got {given!r}.")
    known = [field.name for field in fields(Constraint)]
    for key in given:
        if key not in known:
            near = get_close_matches(str(key), known, n=1)
            hint = f"did you mean {near[0]!r}?" if near else f"known: {', '.join(known)}."
            raise ProblemError(f"{where}: unknown key {key!r}; {hint}")
    try:
        return Constraint(**given)
    except ProblemError as error:
        message = str(error).removeprefix("constraint: ").removeprefix("constraint.")
        part = "." if str(error).startswith("constraint.") else ": "
        raise ProblemError(f"{where}{part}{message}") from None


def _check_whole(given: Constraint) -> None:
    """Raise unless there is one place, one demand, and keys that go with them."""
    places = [key for key in PLACES if getattr(given, key) is not None]
    demands = [key for key in _ALL_DEMANDS if getattr(given, key) is not None]
    if len(places) != 1:
        fault = f"it has {' and '.join(places)}" if places else "it applies nowhere"
        raise ProblemError(f"constraint: {fault}; give one of {', '.join(PLACES)}.")
    if not demands:
        raise ProblemError(
            f"constraint: it demands nothing; give one of {', '.join(_ALL_DEMANDS)}."
        )
    together = set(demands) <= set(DEMANDS["trees"])
    if len(demands) > 1 and not (together and {"head", "root"} - set(demands)):
        raise ProblemError(
            f"constraint: it demands {' and '.join(demands)}; make a constraint of each."
        )
    about = given.about
    if given.token is not None and about not in ("labels", "trees"):
        raise ProblemError("constraint.token: only for demands on labels and trees.")
    if given.weight is not None and about in ("trees", "links"):
        raise ProblemError(
            "constraint.weight: demands on trees and links are hard; leave it out, or demand "
            "labels or entities."
        )
    if given.attr != "ORTH" and places[0] not in ("phrases", "file"):
        raise ProblemError("constraint.attr: only for phrases; a pattern has its own attributes.")
    if "label" in (given.entity, given.not_entity) and given.spans is None:
        raise ProblemError("constraint: 'label' is the label of each span: only with spans.")


def _patterns(name: str, value: Any) -> list[list[dict[str, Any]]]:
    """One pattern or several, each validated as spaCy's matcher does."""
    from spacy.schemas import validate_token_pattern

    patterns = list(value) if isinstance(value, (list, tuple)) else [value]
    if patterns and all(isinstance(token, Mapping) for token in patterns):
        patterns = [patterns]
    if not patterns:
        raise ProblemError("constraint.pattern: it has no tokens.")
    plain = []
    for pattern in patterns:
        if not isinstance(pattern, (list, tuple)) or not pattern:
            raise ProblemError(
                f"constraint.pattern: expected a list with a dict for each token; got {pattern!r}."
            )
        tokens = [dict(token) if isinstance(token, Mapping) else token for token in pattern]
        faults = validate_token_pattern(tokens)
        if faults:
            raise ProblemError(f"constraint.pattern: {'; '.join(map(str, faults))}.")
        plain.append(tokens)
    return plain


def _texts(name: str, value: Any) -> list[str]:
    items = [value] if isinstance(value, str) else value
    if isinstance(items, Mapping) or not isinstance(items, Iterable):
        raise ProblemError(f"constraint.{name}: expected a list of strings; got {value!r}.")
    found = list(items)
    is_empty = [isinstance(item, str) and not item.strip() for item in found]
    if any(is_empty) and items is value:
        raise ProblemError(f"constraint.{name}: it has an empty string; take it out: {value!r}.")
    if any(is_empty) or not all(isinstance(item, str) for item in found):
        raise ProblemError(f"constraint.{name}: expected a list of strings; got {value!r}.")
    return found


def _some_texts(name: str, value: Any) -> list[str]:
    found = _texts(name, value)
    if not found:
        raise ProblemError(f"constraint.{name}: it is empty; leave the constraint out.")
    return found


def _types(name: str, value: Any) -> bool | str | list[str]:
    """True, "label", or a list of types of entities."""
    if value is True or value == "label":
        return bool(value) if value is True else "label"
    if isinstance(value, bool):
        other = "not_entity" if name == "entity" else "entity"
        raise ProblemError(f"constraint.{name}: expected types or true; to deny it, use {other}.")
    return _some_texts(name, value)


def _text(name: str, value: Any) -> str:
    if not isinstance(value, str) or not value:
        raise ProblemError(f"constraint.{name}: expected a string; got {value!r}.")
    return value


def _attribute(name: str, value: Any) -> str:
    if value not in _ATTRIBUTES:
        raise ProblemError(
            f"constraint.attr: expected one of {', '.join(_ATTRIBUTES)}; got {value!r}."
        )
    return str(value)


def _index(name: str, value: Any) -> int:
    if isinstance(value, bool) or not isinstance(value, int):
        raise ProblemError(
            f"constraint.{name}: expected the number of a token of the match, from 0 on; "
            f"got {value!r}."
        )
    return value


def _flag(name: str, value: Any) -> bool:
    if not isinstance(value, bool):
        raise ProblemError(f"constraint.{name}: expected true or false; got {value!r}.")
    return value


def _positive(name: str, value: Any) -> float:
    if not is_number(value) or not isfinite(value) or not value > 0:
        raise ProblemError(
            f"constraint.weight: expected a finite number greater than 0, or none for what must "
            f"be; got {value!r}. To make it unlikely instead, use the demand that begins "
            "with not_."
        )
    if value > LARGEST_WEIGHT:
        raise ProblemError(
            f"constraint.weight: expected at most {LARGEST_WEIGHT:g}, as scores have seven "
            f"digits; got {value!r}. Leave it out for what must be so."
        )
    return float(value)


_NORMALISED: dict[str, Callable[[str, Any], Any]] = {
    "pattern": _patterns,
    "phrases": _some_texts,
    "file": lambda name, value: _text(name, str(value)),
    "spans": _text,
    "attr": _attribute,
    "token": _index,
    "labels": _some_texts,
    "not_labels": _some_texts,
    "entity": _types,
    "not_entity": _types,
    "head": _index,
    "root": _flag,
    "deps": _some_texts,
    "not_deps": _some_texts,
    "candidates": _texts,
    "not_candidates": _some_texts,
    "weight": _positive,
}
