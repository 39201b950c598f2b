"""Checks of options: each takes the option's name and a value, and returns what is stored."""

from __future__ import annotations

import types
from collections.abc import Callable, Iterable, Sequence
from math import inf, isfinite
from typing import Any, Literal, Union, get_args, get_origin

from ..arrays import checked_whole, is_number
from ..decoders.protocols import ChainDecoding, PathDecoding, RepresentativesDecoding, TreeDecoding
from ..errors import ProblemError

__all__ = [
    "alternatives",
    "check_of",
    "decoder_of",
    "flag",
    "function",
    "number",
    "one_of",
    "optional",
    "several_of",
    "strings",
    "text",
    "whole",
]

Check = Callable[[str, Any], Any]

#: The most alternatives that are written to a Doc; the decoders themselves rank more.
MOST_ALTERNATIVES = 1000

#: The protocol of the decoders of each core.
_PROTOCOLS = {
    "chain": ChainDecoding,
    "tree": TreeDecoding,
    "path": PathDecoding,
    "representatives": RepresentativesDecoding,
}


def check_of(annotation: Any, check: Check | None = None) -> Check:
    """Return the check of an option by its type; `check` applies to values other than None.

    Examples
    --------
    >>> check_of(bool)("margins", True)
    True
    >>> check_of(Literal["words", "phrases"])("mode", "wörds")
    Traceback (most recent call last):
    spacy_decoders.errors.ProblemError: mode: expected one of 'words', 'phrases'; got 'wörds'.
    """
    origin, given = get_origin(annotation), get_args(annotation)
    if origin in (Union, types.UnionType) and type(None) in given:
        rest = [kind for kind in given if kind is not type(None)]
        inner = check_of(rest[0], check)
        return inner if getattr(inner, "takes_none", False) else optional(inner)
    if check is not None:
        return check
    if origin is Literal:
        return one_of(given)
    if origin is list and get_origin(given[0]) is Literal:
        return several_of(get_args(given[0]))
    simple: dict[Any, Check] = {bool: flag, str: text, list[str]: strings}
    if annotation not in simple:
        raise TypeError(f"An option of the type {annotation} needs a check of its own.")
    return simple[annotation]


def flag(name: str, value: Any) -> bool:
    """True or False."""
    if not isinstance(value, bool):
        raise ProblemError(f"{name}: expected True or False; got {value!r}.")
    return value


def text(name: str, value: Any) -> str:
    """A string."""
    if not isinstance(value, str):
        raise ProblemError(f"{name}: expected a string; got {value!r}.")
    return value


def strings(name: str, value: Any) -> tuple[str, ...]:
    """A sequence of strings, but not a single string."""
    several = isinstance(value, Iterable) and not isinstance(value, str)
    found = tuple(value) if several else (None,)
    if not all(isinstance(item, str) for item in found):
        raise ProblemError(f"{name}: expected a list of strings; got {value!r}.")
    return found


def function(name: str, value: Any) -> Any:
    """Anything that can be called."""
    if not callable(value):
        raise ProblemError(f"{name}: expected a function; got {value!r}.")
    return value


def whole(least: int, most: int | None = None) -> Check:
    """A whole number from `least` on, and up to `most` if given."""

    def check(name: str, value: Any) -> int:
        found = checked_whole(name, value, low=least)
        if most is not None and found > most:
            raise ProblemError(f"{name}: expected at most {most:,}; got {found:,}.")
        return found

    return check


def alternatives(name: str, value: Any) -> int:
    """The number of alternatives written to a Doc."""
    count = checked_whole(name, value, low=1)
    if count > MOST_ALTERNATIVES:
        raise ProblemError(
            f"{name}: at most {MOST_ALTERNATIVES:,} alternatives go to a Doc; got {count:,}."
        )
    return count


def number(*, least: float | None = None, above: float | None = None, most: float = inf) -> Check:
    """A finite number with an inclusive or exclusive lower limit, and an inclusive upper one."""
    limit = "" if least is None else f" of at least {least:g}"
    if above is not None:
        limit = f" greater than {above:g}"
    if isfinite(most):
        limit += f"{' and' if limit else ' of'} at most {most:g}"

    def check(name: str, value: Any) -> float:
        fits = is_number(value) and isfinite(value) and value <= most
        fits = fits and (least is None or value >= least) and (above is None or value > above)
        if not fits:
            raise ProblemError(f"{name}: expected a finite number{limit}; got {value!r}.")
        return float(value)

    return check


def one_of(allowed: Sequence[str]) -> Check:
    """One of some words."""

    def check(name: str, value: Any) -> str:
        if not isinstance(value, str) or value not in allowed:
            choices = ", ".join(repr(word) for word in allowed)
            raise ProblemError(f"{name}: expected one of {choices}; got {value!r}.")
        return value

    return check


def several_of(allowed: Sequence[str]) -> Check:
    """Different ones of some words, or none."""

    def check(name: str, value: Any) -> tuple[str, ...]:
        words = strings(name, value)
        if len(set(words)) < len(words) or not set(words) <= set(allowed):
            raise ProblemError(
                f"{name}: expected different ones of {', '.join(allowed)}, or none; got {value!r}."
            )
        return words

    return check


def optional(check: Check) -> Check:
    """None, or what another check allows."""

    def check_given(name: str, value: Any) -> Any:
        if value is None:
            return None
        try:
            return check(name, value)
        except ProblemError as error:
            raise ProblemError(f"{error} None is allowed, too.") from None

    check_given.takes_none = True  # type: ignore[attr-defined]
    return check_given


def decoder_of(core: str) -> Check:
    """A decoder of one core: "chain", "tree", "path" or "representatives"."""
    protocol = vars(_PROTOCOLS[core])
    methods = [name for name in protocol if not name.startswith("_")]

    def check(name: str, value: Any) -> Any:
        other = _core_of(type(value))
        missing = [method for method in methods if not hasattr(value, method)]
        if isinstance(value, type):
            fault = "is a class; make an instance of it"
        elif other not in (None, core):
            fault = f"is a {other} decoder"
        elif missing:
            fault = f"has no {' and '.join(missing)}"
        else:
            return value
        given = value if isinstance(value, type) else type(value)
        raise ProblemError(
            f"{name}: expected a {core} decoder, one of {', '.join(_names(core))}, or of your "
            f"own; {given.__name__} {fault}."
        )

    return check


def _core_of(decoder: type) -> str | None:
    """The core of a class of decoders, ours or derived from ours."""
    home = "spacy_decoders.decoders."
    for parent in decoder.__mro__:
        if parent.__module__.startswith(home):
            return parent.__module__.removeprefix(home).split(".")[0]
    return None


def _names(core: str) -> list[str]:
    """Return the config names of the package's decoders of a core."""
    from .decoder_registry import decoders

    home = f"decoders.{core}"
    return sorted(
        name for name, build in decoders.get_all().items() if getattr(build, "home", "") == home
    )
