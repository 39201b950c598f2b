"""Hand-made patterns of arcs as users state them, in the form of spaCy's ``DependencyMatcher``."""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import Annotated, Any

from pydantic import BaseModel, BeforeValidator, ConfigDict, Field, TypeAdapter, ValidationError
from spacy.matcher import DependencyMatcher
from spacy.vocab import Vocab

from ...errors import ProblemError

__all__ = ["OF_ROOT", "TOP", "ArcPattern", "arc_patterns", "stated_patterns"]

#: The head of a token that has none in its pattern, and of one that the root must head.
TOP, OF_ROOT = -1, -2

#: How many arcs a pattern may have.
MOST_ARCS = 3

#: The largest weight beside which scores keep digits enough.
LARGEST_WEIGHT = 1e4

#: What an operator's first character says of the later token, and its others of its side: whether
#: it is on the right, and whether it is next to the other.
_RELATIONS = {">": "dependant", "<": "head", "$": "sibling"}
_SIDES = {"": (0, False), "+": (1, True), "-": (-1, True), "++": (1, False), "--": (-1, False)}
OPERATORS = {
    relation + side: (meaning, *_SIDES[side])
    for relation, meaning in _RELATIONS.items()
    for side in _SIDES
    if relation + side != "$"
}


def _operator(given: Any) -> Any:
    """An operator that states one arc; config files double each dollar."""
    operator = re.sub(r"^\$+", "$", given) if isinstance(given, str) else given
    if operator not in OPERATORS:
        raise ValueError(f"expected one of {' '.join(OPERATORS)}")
    return operator


def _nonzero(given: Any) -> Any:
    if given == 0:
        raise ValueError("expected a number other than 0")
    return given


class _Token(BaseModel):
    model_config = ConfigDict(extra="forbid")

    RIGHT_ID: str
    RIGHT_ATTRS: dict[str, Any]
    LEFT_ID: str | None = None
    REL_OP: Annotated[str, BeforeValidator(_operator)] | None = None


class _Stated(BaseModel):
    model_config = ConfigDict(extra="forbid")

    name: Annotated[str, Field(min_length=1)]
    weight: Annotated[
        float,
        BeforeValidator(_nonzero),
        Field(strict=True, ge=-LARGEST_WEIGHT, le=LARGEST_WEIGHT, allow_inf_nan=False),
    ]
    pattern: Annotated[list[_Token], Field(min_length=1)]


_OPTION = TypeAdapter(list[_Stated])


@dataclass(frozen=True)
class ArcPattern:
    """A set of one to three arcs between tokens that satisfy conditions."""

    #: What messages call it.
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


def arc_patterns(name: str, value: Any) -> tuple[dict[str, Any], ...]:
    """Return the option `patterns` of a parser, checked, in plain types.

    Raises
    ------
    ProblemError
        If a pattern is wrong; the message names it, and what is expected.

    Examples
    --------
    >>> verb = {"RIGHT_ID": "verb", "RIGHT_ATTRS": {"TAG": "VB"}}
    >>> _ = arc_patterns("patterns", [{"name": "verbs", "weight": 1, "pattern": [verb]}])
    Traceback (most recent call last):
    spacy_decoders.errors.ProblemError: patterns[0] ('verbs'): it has no arc; expected 1 to 3.
    """
    try:
        stated = _OPTION.validate_python(value)
    except ValidationError as error:
        fault = error.errors()[0]
        where = "".join(f"[{at}]" if isinstance(at, int) else f".{at}" for at in fault["loc"])
        raise ProblemError(f"{name}{where}: {fault['msg']}; got {fault['input']!r}.") from None
    names = [of.name for of in stated]
    if len(set(names)) < len(names):
        raise ProblemError(f"{name}: each needs a name of its own; got {', '.join(names)}.")
    found = tuple(of.model_dump(exclude_none=True) for of in stated)
    for number, given in enumerate(found):
        try:
            # LEFT_ID and RIGHT_ID, attributes, their predicates and regular expressions
            DependencyMatcher(Vocab(), validate=True).add("pattern", [given["pattern"]])
            _pattern(given)
        except (ValueError, KeyError, re.error) as error:
            said = " ".join(str(error).split())
            raise ProblemError(f"{name}[{number}] ({given['name']!r}): {said}") from None
    return found


def stated_patterns(given: Iterable[Mapping[str, Any]]) -> tuple[ArcPattern, ...]:
    """Return the patterns of a checked option."""
    return tuple(map(_pattern, given))


def _pattern(given: Mapping[str, Any]) -> ArcPattern:
    """Return a pattern, if it states arcs."""
    tokens = given["pattern"]
    names = [token["RIGHT_ID"] for token in tokens]
    # spaCy takes small letters, too
    conditions = [
        {key.upper(): value for key, value in token["RIGHT_ATTRS"].items()} for token in tokens
    ]
    heads, orders = _links(tokens, names)
    for name, head, of in zip(names, heads, conditions, strict=True):
        if "OP" in of:
            raise ProblemError(f"OP at {name!r}: each token of a pattern stands for one token.")
        if "SENT_START" in of or "IS_SENT_START" in of:
            raise ProblemError(f"{name!r}: where sentences begin is found with the trees.")
        is_root = str(of.get("DEP", "")).upper() == "ROOT"
        if head == TOP and "DEP" in of and not is_root:
            raise ProblemError(
                f"DEP at {name!r}: it has no head in the pattern, so it can only be 'ROOT'; add "
                "its head as a token."
            )
        if head >= 0 and is_root:
            raise ProblemError(
                f"DEP at {name!r}: the root has no head, and it has {names[head]!r}; leave one "
                "of them out."
            )
    top = heads.index(TOP)
    if conditions[top].pop("DEP", None) is not None:
        heads[top] = OF_ROOT
    arcs = sum(head != TOP for head in heads)
    if not 1 <= arcs <= MOST_ARCS:
        count = f"{arcs or 'no'} arc{'s' * (arcs > 1)}"
        raise ProblemError(f"it has {count}; expected 1 to {MOST_ARCS}.")
    tags, deps = (tuple(of.pop(key, None) for of in conditions) for key in ("TAG", "DEP"))
    plain = tuple(conditions), tags, deps, tuple(heads), tuple(orders)
    return ArcPattern(given["name"], float(given["weight"]), *plain)


def _links(
    tokens: Sequence[Mapping[str, Any]], names: Sequence[str]
) -> tuple[list[int], list[tuple[int, int, bool]]]:
    """Return the head of each token in its pattern, and the orders of tokens."""
    heads = [TOP] * len(tokens)
    orders: list[tuple[int, int, bool]] = []
    for token, given in enumerate(tokens[1:], start=1):
        other = names.index(given["LEFT_ID"])
        relation, side, adjacent = OPERATORS[given["REL_OP"]]
        if relation == "dependant":
            heads[token] = other
        elif relation == "head":
            if heads[other] != TOP:
                raise ProblemError(f"REL_OP: {names[other]!r} has a head already.")
            heads[other] = token
        else:
            if heads[other] == TOP:
                raise ProblemError(
                    f"REL_OP: the head of {names[other]!r} is no token of the pattern; begin "
                    "with the head and state both as its dependants, by >."
                )
            heads[token] = heads[other]
        if side:
            orders.append((*((other, token) if side > 0 else (token, other)), adjacent))
    return heads, orders
