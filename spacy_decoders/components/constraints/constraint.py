"""Constraints as users state them: where they apply, and what they demand."""

import re
from collections.abc import Callable, Collection, Iterable, Mapping
from typing import Annotated, Any, Literal

from pydantic import BaseModel, BeforeValidator, ConfigDict, Field

from ...arrays import is_number
from ...errors import ProblemError
from ..option_checks import Name, Names, SomeNames, faults_of_fields

__all__ = ["DEMANDS", "SELECTORS", "Constraint", "check_known", "constraints_about"]

#: The keys that select where a constraint applies; each constraint has one.
SELECTORS = ("pattern", "phrases", "spans")

#: The keys that say what it demands, by what the demands are about.
DEMANDS: dict[str, tuple[str, ...]] = {
    "labels": ("labels", "not_labels"),
    "entities": ("entity", "not_entity"),
    "trees": ("head", "root", "deps", "not_deps"),
    "links": ("candidates", "not_candidates"),
}
_ALL_DEMANDS = tuple(key for keys in DEMANDS.values() for key in keys)


def _patterns(value: Any) -> Any:
    """One pattern or several as a list, each validated as spaCy's matcher does."""
    from spacy.matcher import Matcher
    from spacy.schemas import validate_token_pattern
    from spacy.vocab import Vocab

    patterns = list(value) if isinstance(value, (list, tuple)) else [value]
    if patterns and all(isinstance(token, Mapping) for token in patterns):
        patterns = [patterns]
    for pattern in patterns:
        if not isinstance(pattern, (list, tuple)) or not pattern:
            raise ValueError("expected a list with a dict for each token")
        faults = validate_token_pattern(list(pattern))
        if faults:
            raise ValueError("; ".join(map(str, faults)))
    found = [[dict(token) for token in pattern] for pattern in patterns]
    try:  # regular expressions, and values that only some attributes have
        Matcher(Vocab()).add("pattern", found)
    except (TypeError, ValueError, re.error) as error:
        raise ValueError(f"spaCy's matcher refuses it ({error})") from None
    return found


def _no_number(value: Any) -> Any:
    if is_number(value):  # pydantic takes 1 for True
        raise ValueError("expected True, 'label' or names")
    return value


_Types = Annotated[Literal[True, "label"] | SomeNames, BeforeValidator(_no_number)]
_Patterns = Annotated[list[list[dict[str, Any]]], BeforeValidator(_patterns), Field(min_length=1)]


class Constraint(BaseModel):
    """One demand on the annotation of the tokens or spans that match.

    It has one selector (`pattern`, `phrases` or `spans`) and one demand, which must be met.

    Parameters
    ----------
    pattern, phrases, spans
        Where it applies: patterns of spaCy's ``Matcher``, lists with a dict for each token;
        phrases, of overlapping ones the longest; the spans of ``doc.spans[KEY]``.
    attr
        The token attribute by which phrases are compared.
    token
        The token of the match that is meant, counted from 0, or from the end with a minus; None
        for all of them. For demands on labels and trees.
    labels, not_labels, deps, not_deps
        The labels (or parts of joint labels), or the relations to its head, that a token may, or
        may not, have.
    entity, not_entity
        The types that the span as an entity may have, or of which none of its tokens may be part;
        True for any, and with `spans` ``"label"`` for the label of each.
    head, root
        The token of the match that is the head, as for `token`, and without that of all others;
        whether the token is a root.
    candidates, not_candidates
        The concepts that a mention may, or may not, be linked to; an empty list of `candidates`
        leaves it without a link.

    Raises
    ------
    ProblemError
        If it does not have one selector and one demand, or a value is of the wrong type.

    Examples
    --------
    >>> Constraint(pattern=[{"LOWER": "can"}], labels="MD").as_dict()
    {'pattern': [[{'LOWER': 'can'}]], 'labels': ['MD']}
    >>> Constraint(phrases=["Acme Corp"], entity="ORG", lables=["NNP"])
    Traceback (most recent call last):
    spacy_decoders.errors.ProblemError: constraint.lables: extra inputs are not permitted; got \
['NNP'].
    >>> Constraint(phrases=["Acme Corp"])  # doctest: +ELLIPSIS
    Traceback (most recent call last):
    spacy_decoders.errors.ProblemError: constraint: it demands nothing; give one of labels, ...
    """

    model_config = ConfigDict(frozen=True, extra="forbid", strict=True)

    pattern: _Patterns | None = None
    phrases: SomeNames | None = None
    spans: Name | None = None
    attr: Literal["ORTH", "LOWER", "NORM", "SHAPE"] = "ORTH"
    token: int | None = None
    labels: SomeNames | None = None
    not_labels: SomeNames | None = None
    entity: _Types | None = None
    not_entity: _Types | None = None
    head: int | None = None
    root: bool | None = None
    deps: SomeNames | None = None
    not_deps: SomeNames | None = None
    candidates: Names | None = None
    not_candidates: SomeNames | None = None

    def __init__(self, **given: Any) -> None:
        with faults_of_fields("constraint"):
            super().__init__(**given)
        _check_whole(self)

    @property
    def demands(self) -> list[str]:
        """The keys that say what it demands: one, or several for trees."""
        return [key for key in _ALL_DEMANDS if getattr(self, key) is not None]

    @property
    def about(self) -> str:
        """What it is about: "labels", "entities", "trees" or "links"."""
        return next(about for about, keys in DEMANDS.items() if self.demands[0] in keys)

    def as_dict(self) -> dict[str, Any]:
        """Return what was given, in plain types, as in a config."""
        return self.model_dump(exclude_defaults=True)


def constraints_about(*about: str) -> Callable[[str, Any], tuple[dict[str, Any], ...]]:
    """Return the check of an option `constraints` with demands about some keys of `DEMANDS`.

    It takes dictionaries and :class:`Constraint` objects, and returns dictionaries, which can be
    saved. It raises `ProblemError`, with the index in the list, if a constraint is invalid or has
    a demand that the component can't meet.

    Examples
    --------
    >>> check = constraints_about("labels")
    >>> check("constraints", [{"pattern": [{"LOWER": "can"}], "label": ["MD"]}])
    Traceback (most recent call last):
    spacy_decoders.errors.ProblemError: constraints[0].label: extra inputs are not permitted; got \
['MD'].
    """

    def check(name: str, value: Any) -> tuple[dict[str, Any], ...]:
        if isinstance(value, (str, Mapping, Constraint)) or not isinstance(value, Iterable):
            raise ProblemError(f"{name}: expected a list of constraints; got {value!r}.")
        return tuple(one(f"{name}[{number}]", given) for number, given in enumerate(value))

    def one(where: str, given: Any) -> dict[str, Any]:
        if not isinstance(given, (Mapping, Constraint)):
            raise ProblemError(f"{where}: expected a dictionary or a Constraint; got {given!r}.")
        try:
            constraint = given if isinstance(given, Constraint) else Constraint(**given)
        except ProblemError as error:
            raise ProblemError(where + str(error).removeprefix("constraint")) from None
        if constraint.about not in about:
            known = ", ".join(key for kind in about for key in DEMANDS[kind])
            raise ProblemError(
                f"{where}: this component has no use for {constraint.demands[0]!r}; "
                f"it takes demands by {known}."
            )
        return constraint.as_dict()

    return check


def check_known(
    constraints: Iterable[Mapping[str, Any]], known: Mapping[str, Collection[str]]
) -> None:
    """Raise if checked constraints demand names that are not `known` for their keys.

    Examples
    --------
    >>> check_known([{"phrases": ["she"], "deps": ["subject"]}], {"deps": ["nsubj", "ROOT"]})
    Traceback (most recent call last):
    spacy_decoders.errors.ProblemError: constraints[0].deps: the component has no 'subject'; it \
has ROOT, nsubj.
    """
    for number, given in enumerate(constraints):
        for key, names in known.items():
            wanted = given.get(key, ())
            unknown = sorted(set(wanted).difference(names)) if isinstance(wanted, list) else []
            if unknown:
                more = f" and {len(names) - 20} more." if len(names) > 20 else "."
                raise ProblemError(
                    f"constraints[{number}].{key}: the component has no "
                    f"{', '.join(map(repr, unknown))}; it has {', '.join(sorted(names)[:20])}"
                    + more
                )


def _check_whole(given: Constraint) -> None:
    """Raise unless there is one selector, one demand, and only keys that fit them."""
    selectors = [key for key in SELECTORS if getattr(given, key) is not None]
    demands = given.demands
    if len(selectors) != 1:
        fault = f"it has {' and '.join(selectors)}" if selectors else "it applies nowhere"
        raise ProblemError(f"constraint: {fault}; give one of {', '.join(SELECTORS)}.")
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
    if given.attr != "ORTH" and selectors[0] != "phrases":
        raise ProblemError("constraint.attr: only for phrases; a pattern has its own attributes.")
    if "label" in (given.entity, given.not_entity) and given.spans is None:
        raise ProblemError("constraint: 'label' is the label of each span: only with spans.")
