"""Validation of arguments, above all of the arrays of problems.

All arrays stored are C-contiguous, of one dtype and read-only, since numba compiles a kernel for
each combination of dtype, layout and read-only flag.
"""

from collections.abc import Iterable, Mapping
from inspect import signature
from os import PathLike
from pathlib import Path
from typing import Any, TypeVar

import numpy as np
from numpy.typing import ArrayLike, NDArray

from .errors import ProblemError

__all__ = [
    "Booleans",
    "Floats",
    "Floats32",
    "Immutable",
    "Integers",
    "Integers32",
    "as_array",
    "checked_each",
    "checked_flags",
    "checked_indices",
    "checked_list",
    "checked_numbers",
    "checked_path",
    "checked_scores",
    "checked_type",
    "checked_whole",
    "is_number",
    "owned",
    "read_only",
    "refuse_beyond_memory",
]

T = TypeVar("T")

#: Arrays, by what they hold.
Floats = NDArray[np.float64]
Floats32 = NDArray[np.float32]
Integers = NDArray[np.int64]
Integers32 = NDArray[np.int32]
Booleans = NDArray[np.bool_]

#: The largest magnitude of a score in double precision: sums of such scores, and bounds on their
#: rounding errors, are finite.
LARGEST_SCORE = 1e100

#: The most bytes of memory that the tables for one problem may take.
MOST_BYTES = 8 << 30


class Immutable:
    """A base class of what has arrays that stay read-only when they are pickled or copied."""

    def __setstate__(self, state: dict[str, Any]) -> None:
        """Restore the attributes; numpy makes arrays writable."""
        for value in state.values():
            for array in value if isinstance(value, tuple) else (value,):
                if isinstance(array, np.ndarray):
                    array.flags.writeable = False
        self.__dict__.update(state)


def refuse_beyond_memory(name: str, what: str, size: int, advice: str) -> None:
    """Raise `ProblemError` if the tables of a problem would take more than 8 GB.

    The message has the argument's name, what it holds, and what to do instead.

    Examples
    --------
    >>> refuse_beyond_memory("arcs", "900 tokens", 4 * 8 * 901**2, "split the sentence")
    """
    if size > MOST_BYTES:
        raise ProblemError(
            f"{name}: the tables for {what} would take {size / (1 << 30):.1f} GB, more than the "
            f"{MOST_BYTES >> 30} GB that one problem may; {advice}."
        )


def as_array(values: Any) -> NDArray[Any]:
    """Return an array, or a tensor of torch of any device and precision, as an array."""
    if hasattr(values, "is_floating_point"):
        values = values.detach().cpu()
        if values.is_floating_point() and values.element_size() < 4:
            values = values.float()  # numpy has no bfloat16
    return np.asarray(values)


def read_only(array: NDArray[Any]) -> NDArray[Any]:
    """Return a read-only view; the caller's own array stays as writable as it was."""
    view = array.view()
    view.flags.writeable = False
    return view


def owned(array: NDArray[Any], given: Any) -> NDArray[Any]:
    """Return an array that nobody else can change: a copy if it shares memory with `given`.

    A read-only `given` is not copied.
    """
    if isinstance(given, (list, tuple)):
        return array
    source = as_array(given)
    if source.flags.writeable and np.may_share_memory(array, source):
        return read_only(array.copy())
    return array


def checked_scores(
    name: str,
    values: ArrayLike,
    shape: tuple[int | None, ...],
    *,
    dtype: Any = np.float32,
    forbidden: bool = True,
) -> NDArray[Any]:
    """Return scores as a contiguous read-only array.

    Parameters
    ----------
    name
        The argument's name, for the message.
    values
        Anything that numpy converts to numbers.
    shape
        The expected size of each axis; None for any.
    dtype
        The dtype to store.
    forbidden
        Whether ``-inf`` ("never choose this") may occur.

    Raises
    ------
    ProblemError
        If it is no numeric array, has another shape, or holds NaN, ``+inf`` or a number
        too large for `dtype` or, in double precision, beyond :data:`LARGEST_SCORE`; the
        message has the first offending index.
    """
    given = _as_numbers(name, values, shape)
    # an overflow gives an infinity, and infinities of both signs give NaN in the sum
    with np.errstate(over="ignore", invalid="ignore"):
        array = np.ascontiguousarray(given, dtype=dtype)
        # one cheap pass in the good case: NaN and infinities survive a sum
        suspicious = array.size and not np.isfinite(array.sum(dtype=np.float64))
    # if nothing can overflow and no entry is NaN or +inf, all infinities are forbidden scores
    widened = forbidden and np.can_cast(given.dtype, dtype)
    if suspicious and not (widened and array.max() < np.inf):
        bad = np.isnan(array) | (array == np.inf)
        bad |= (array == -np.inf) & ((given != -np.inf) if forbidden else True)
        if bad.any():
            index = tuple(int(i) for i in np.argwhere(bad)[0])
            allowed = "finite or -inf (forbidden)" if forbidden else "finite"
            raise ProblemError(
                f"{name}: every score must be {allowed} and fit {np.dtype(dtype).name}; "
                f"got {given[index]} at index {index}."
            )
    if array.dtype == np.float64 and array.size:
        _check_size(name, array, "Use -inf for what is forbidden." if forbidden else "Scale them.")
    return read_only(array)


def checked_indices(
    name: str,
    values: ArrayLike,
    shape: tuple[int | None, ...],
    *,
    low: int | None = None,
    high: int | None = None,
    dtype: Any = np.int32,
) -> NDArray[Any]:
    """Return whole numbers in ``[low, high)`` as a contiguous read-only array.

    An empty list stands for any empty array. Raises `ProblemError` if it is not an array of
    integers, has another shape, or is out of range.
    """
    given = checked_numbers(name, values)
    if given.shape == (0,) and shape[0] is None:
        given = given.reshape([size or 0 for size in shape])
    given = _as_numbers(name, given, shape)
    if given.size and given.dtype.kind not in "iu":
        raise ProblemError(f"{name}: expected whole numbers, got dtype {given.dtype}.")
    # values that do not fit the dtype would wrap around silently
    low = np.iinfo(dtype).min if low is None else low
    high = np.iinfo(dtype).max + 1 if high is None else high
    bad = (given < low) | (given > high - 1)
    if bad.any():
        index = tuple(int(i) for i in np.argwhere(bad)[0])
        limits = f"at least {low}" + (f" and below {high}" if high < 2**31 else "")
        raise ProblemError(
            f"{name}: every entry must be {limits}; got {int(given[index])} at index {index}."
        )
    return read_only(np.ascontiguousarray(given, dtype=dtype))


def checked_whole(name: str, value: Any, *, low: int) -> int:
    """Return a whole number that is at least `low`.

    Raises `ProblemError` if it is anything else.

    Examples
    --------
    >>> checked_whole("starts", np.int64(3), low=1)
    3
    """
    whole = isinstance(value, (int, np.integer)) and not isinstance(value, bool)
    if not whole or not low <= value < 2**63:
        raise ProblemError(f"{name}: expected a whole number from {low} on; got {value!r}.")
    return int(value)


def checked_flags(of: object, *names: str) -> None:
    """Raise `ProblemError` if one of the attributes of a dataclass is neither True nor False."""
    for name in names:
        value = getattr(of, name)
        if not isinstance(value, (bool, np.bool_)):
            raise ProblemError(f"{name}: expected True or False; got {value!r}.")


def checked_list(name: str, values: Any, what: str) -> list[Any]:
    """Return a collection as a list.

    Raises `ProblemError`, which says what it is of, if it is a text, a dict or no collection.

    Examples
    --------
    >>> checked_list("texts", "one", "strings")
    Traceback (most recent call last):
    spacy_decoders.errors.ProblemError: texts: expected a list of strings; got 'one'.
    """
    if isinstance(values, (str, bytes, Mapping)) or not isinstance(values, Iterable):
        raise ProblemError(f"{name}: expected a list of {what}; got {values!r}.")
    return list(values)


def checked_each(name: str, sets: Any, **limits: Any) -> list[NDArray[Any]]:
    """Return several lists of whole numbers as arrays, each by :func:`checked_indices`."""
    listed = checked_list(name, sets, "arrays of whole numbers")
    return [
        checked_indices(f"{name}[{i}]", members, (None,), **limits)
        for i, members in enumerate(listed)
    ]


def checked_path(name: str, value: Any) -> Path:
    """Return a path; raise `ProblemError`, which names the argument, if a value is none."""
    if not isinstance(value, (str, PathLike)):
        raise ProblemError(f"{name}: expected a path; got {value!r}.")
    return Path(value)


def checked_type(name: str, value: Any, wanted: type[T], source: str = "") -> T:
    """Return an argument that must be of a certain class.

    Raises `ProblemError`, which says how to make one, if it is anything else: by its constructor,
    or another `source`.

    Examples
    --------
    >>> from spacy_decoders import Budget
    >>> checked_type("limit", 3, Budget)
    Traceback (most recent call last):
    spacy_decoders.errors.ProblemError: limit: expected a Budget, got int; use Budget(seconds=...).
    """
    if not isinstance(value, wanted):
        kind = wanted.__name__
        source = source or f"{kind}({next(iter(signature(wanted).parameters))}=...)"
        one = f"an {kind}" if kind[0] in "AEIOU" else f"a {kind}"
        raise ProblemError(f"{name}: expected {one}, got {type(value).__name__}; use {source}.")
    return value


def is_number(value: Any) -> bool:
    """Whether a value is a real number, perhaps infinite, but neither NaN nor bool.

    Examples
    --------
    >>> is_number(1.5), is_number(np.float32(2)), is_number("3"), is_number(float("nan"))
    (True, True, False, False)
    """
    real = isinstance(value, (int, float, np.integer, np.floating))
    return real and not isinstance(value, bool) and bool(value == value)


def checked_numbers(name: str, values: Any) -> NDArray[Any]:
    """Return real numbers as an array of any shape; no copy if they are one.

    Raises `ProblemError` if they are masked, lists of unequal lengths, or of another type.
    """
    if isinstance(values, np.ma.MaskedArray):
        raise ProblemError(
            f"{name}: a masked array would lose its mask; fill it, scores with -inf for what is "
            "never to be chosen."
        )
    try:
        array = as_array(values)
    except (TypeError, ValueError, RuntimeError) as error:
        raise ProblemError(f"{name}: expected an array of numbers ({error}).") from error
    if array.dtype.kind not in "biuf":
        raise ProblemError(f"{name}: expected an array of numbers, got dtype {array.dtype}.")
    return array


def _as_numbers(name: str, values: ArrayLike, shape: tuple[int | None, ...]) -> NDArray[Any]:
    array = checked_numbers(name, values)
    fits = array.ndim == len(shape)
    for want, got in zip(shape, array.shape, strict=False):
        fits = fits and want in (None, got)
    if not fits:
        wanted = ", ".join("any" if size is None else str(size) for size in shape)
        comma = "," if len(shape) == 1 else ""
        raise ProblemError(f"{name}: expected shape ({wanted}{comma}), got {array.shape}.")
    return array


def _check_size(name: str, array: NDArray[np.float64], advice: str) -> None:
    if array.max() <= LARGEST_SCORE and array.min() >= -LARGEST_SCORE:
        return
    beyond = (np.abs(array) > LARGEST_SCORE) & (array != -np.inf)
    if beyond.any():
        index = tuple(int(i) for i in np.argwhere(beyond)[0])
        raise ProblemError(
            f"{name}: scores must lie within ±{LARGEST_SCORE:g}; got {array[index]} at index "
            f"{index}. {advice}"
        )
