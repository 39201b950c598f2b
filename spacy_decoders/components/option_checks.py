"""Checks of options: by their types and limits, which pydantic compares, or by functions."""

from __future__ import annotations

from collections.abc import Callable
from functools import cache
from typing import Annotated, Any, get_args

from pydantic import ConfigDict, Field, TypeAdapter, ValidationError

from ..decoders.protocols import ChainDecoding, PathDecoding, RepresentativesDecoding, TreeDecoding
from ..errors import ProblemError

__all__ = [
    "alternatives", "check_of", "decoder_of", "fault_in", "function", "number", "strings", "whole",
]  # fmt: skip

Check = Callable[[str, Any], Any]

#: The protocol of the decoders of each core.
_PROTOCOLS = {
    "chain": ChainDecoding,
    "tree": TreeDecoding,
    "path": PathDecoding,
    "representatives": RepresentativesDecoding,
}


def check_of(annotation: Any, check: Any = None) -> Check:
    """Return the check of an option by its type, and what is given beside it.

    `check` is a function of the option's name and a value other than None, or limits such as
    :func:`whole` returns.

    Examples
    --------
    >>> check_of(bool)("margins", True)
    True
    >>> check_of(int | None, whole(1))("k", 0)
    Traceback (most recent call last):
    spacy_decoders.errors.ProblemError: k: input should be greater than or equal to 1; got 0.
    """
    if callable(check):
        takes_none = type(None) in get_args(annotation)
        return lambda name, value: None if value is None and takes_none else check(name, value)

    @cache  # made when a component is, not whenever spaCy looks for factories
    def adapter() -> TypeAdapter[Any]:
        kind: Any = annotation if check is None else Annotated[annotation, check]
        return TypeAdapter(kind, config=ConfigDict(strict=True))

    def checked(name: str, value: Any) -> Any:
        try:
            found = adapter().validate_python(list(value) if isinstance(value, tuple) else value)
        except ValidationError as error:
            raise ProblemError(f"{name}{fault_in(error)}") from None
        return tuple(found) if isinstance(found, list) else found

    return checked


def fault_in(error: ValidationError) -> str:
    """Say what pydantic expects instead of a value, or of one of its items."""
    fault = error.errors()[0]
    items = "".join(f"[{place}]" for place in fault["loc"] if isinstance(place, int))
    said = fault["msg"].removeprefix("Value error, ").removesuffix(".")
    return f"{items}: {said[:1].lower()}{said[1:]}; got {fault['input']!r}."


def whole(least: int, most: int | None = None) -> Any:
    """Limit whole numbers to those from `least` on, and up to `most` if given."""
    return Field(ge=least, le=most)


def number(
    *, least: float | None = None, above: float | None = None, most: float | None = None
) -> Any:
    """Limit numbers to finite ones, by an inclusive or exclusive lower limit and an upper one."""
    return Field(ge=least, gt=above, le=most, allow_inf_nan=False)


#: The limits of how many alternatives are written to a Doc; the decoders themselves rank more.
alternatives = whole(1, 1000)


#: A sequence of strings, but not a single string.
strings = check_of(list[str])

#: Anything that can be called.
function = check_of(Callable[..., Any])


def decoder_of(core: str) -> Check:
    """A decoder of one core: "chain", "tree", "path" or "representatives"."""
    methods = [name for name in vars(_PROTOCOLS[core]) if not name.startswith("_")]
    home = "spacy_decoders.decoders."

    def check(name: str, value: Any) -> Any:
        modules = [parent.__module__ for parent in type(value).__mro__]
        ours = [module for module in modules if module.startswith(home)]
        fits = not ours or any(module.startswith(f"{home}{core}.") for module in ours)
        if fits and not isinstance(value, type) and all(hasattr(value, of) for of in methods):
            return value
        from .decoder_registry import decoders

        names = [
            registered
            for registered, build in decoders.get_all().items()
            if getattr(build, "home", "") == f"decoders.{core}"
        ]
        raise ProblemError(
            f"{name}: expected a {core} decoder, one of {', '.join(sorted(names))}, or an object "
            f"of your own with {' and '.join(methods)}; got {value!r}."
        )

    return check
