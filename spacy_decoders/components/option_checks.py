"""Checks of options, by their types with pydantic, or by functions; the registry ``@decoders``."""

from collections.abc import Callable, Iterable, Iterator, Mapping
from contextlib import contextmanager
from functools import cache
from typing import Annotated, Any

import catalogue
import numpy as np
import spacy
from pydantic import (
    AfterValidator,
    BeforeValidator,
    ConfigDict,
    Field,
    TypeAdapter,
    ValidationError,
)

from ..decoders.protocols import ChainDecoding, PathDecoding, RepresentativesDecoding, TreeDecoding
from ..errors import ProblemError

__all__ = [
    "Alternatives", "Name", "Names", "Share", "SomeNames", "check_of", "decoder_of", "decoders",
    "faults_of_fields",
]  # fmt: skip

Check = Callable[[str, Any], Any]


def _listed(value: Any) -> Any:
    """A string as a list of one, any other iterable as a list."""
    if isinstance(value, str):
        return [value]
    is_several = isinstance(value, Iterable) and not isinstance(value, Mapping)
    return list(value) if is_several else value


def _written(text: str) -> str:
    if not text.strip():
        raise ValueError("it has an empty string; remove it")
    return text


#: How many alternatives are written to a Doc; the decoders themselves rank more.
Alternatives = Annotated[int, Field(ge=1, le=1000)]
#: A probability, or a share of something.
Share = Annotated[float, Field(ge=0, le=1)]
#: A non-empty string; a list of them; a non-empty list. A string stands for a list of one.
Name = Annotated[str, AfterValidator(_written)]
Names = Annotated[list[Name], BeforeValidator(_listed)]
SomeNames = Annotated[Names, Field(min_length=1)]

# `@decoders`: the entry points in the group `spacy_decoders`, ours and those of other packages;
# made by catalogue, since `spacy.registry.create` would use the group "thinc_decoders"
if not hasattr(spacy.registry, "decoders"):
    _created = catalogue.create("spacy", "decoders", entry_points=True)
    setattr(spacy.registry, "decoders", _created)  # noqa: B010 - spaCy's class does not declare it

decoders: Any = vars(spacy.registry)["decoders"]

#: The protocol of the decoders of each core.
_PROTOCOLS = {
    "chain": ChainDecoding,
    "tree": TreeDecoding,
    "path": PathDecoding,
    "representatives": RepresentativesDecoding,
}


def check_of(kind: Any) -> Check:
    """Return the check of values of a type, a function of an option's name and a value.

    Numbers must be finite.

    Examples
    --------
    >>> check_of(bool)("margins", True)
    True
    >>> check_of(Alternatives | None)("k", 0)
    Traceback (most recent call last):
    spacy_decoders.errors.ProblemError: k: input should be greater than or equal to 1; got 0.
    """

    @cache  # made with the component, not whenever spaCy looks for factories
    def adapter() -> TypeAdapter[Any]:
        return TypeAdapter(kind, config=ConfigDict(strict=True, allow_inf_nan=False))

    def checked(name: str, value: Any) -> Any:
        if isinstance(value, tuple):
            value = list(value)
        elif isinstance(value, np.generic):  # a number or truth value of an array
            value = value.item()
        try:
            found = adapter().validate_python(value)
        except ValidationError as error:
            raise ProblemError(f"{name}{_fault_in(error)}") from None
        return tuple(found) if isinstance(found, list) else found

    return checked


@contextmanager
def faults_of_fields(place: str) -> Iterator[None]:
    """Make errors of a pydantic model name the place where it was given, and the field."""
    try:
        yield
    except ValidationError as error:
        field = error.errors()[0]["loc"][0]
        raise ProblemError(f"{place}.{field}{_fault_in(error)}") from None


def _fault_in(error: ValidationError) -> str:
    """Say what pydantic expects instead of a value, or of one of its items."""
    faults = error.errors()
    # for a union, the error of the type that fits best: that refuses an item, the length, or a
    # value in a function of ours
    signs = ("value_error", "too_short", "too_long")
    fault = max(faults, key=lambda one: (one["type"] in signs, len(one["loc"])))
    items = "".join(f"[{place}]" for place in fault["loc"] if isinstance(place, int))
    message = fault["msg"].removeprefix("Value error, ").removesuffix(".")
    return f"{items}: {message[:1].lower()}{message[1:]}; got {fault['input']!r}."


def decoder_of(core: str) -> Check:
    """Return the check of decoders of a core: "chain", "tree", "path" or "representatives"."""
    methods = [name for name in vars(_PROTOCOLS[core]) if not name.startswith("_")]
    home = "spacy_decoders.decoders."

    def check(name: str, value: Any) -> Any:
        modules = [parent.__module__ for parent in type(value).__mro__]
        ours = [module for module in modules if module.startswith(home)]
        fits = not ours or any(module.startswith(f"{home}{core}.") for module in ours)
        # bytes have `decode`, too
        is_object = not isinstance(value, (type, bytes, bytearray))
        if fits and is_object and all(hasattr(value, method) for method in methods):
            return value
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
