"""The one way in which this package compiles a function.

Compiled code is cached on disk where the machine allows it. On a read-only installation
without a writable home numba refuses to cache *at import*; there the function is compiled
once per process instead. Kernels call only kernels of their own folder.
"""

from __future__ import annotations

import pickle  # its error alone: numba reads and writes the cache
from collections.abc import Callable
from functools import cache
from pathlib import Path
from typing import Any, TypeVar, cast

import numba

__all__ = ["FAST", "jit", "uncounted"]

Function = TypeVar("Function", bound=Callable[..., Any])

#: Floating-point freedoms that are safe for finite scores: no NaN, and -0.0 equals 0.0.
#: Kernels that use them must turn ``-inf`` into a finite sentinel first.
FAST = frozenset({"nnan", "nsz"})


def jit(
    *, fastmath: frozenset[str] | bool = False, **options: Any
) -> Callable[[Function], Function]:
    """Compile with numba: no Python objects, no GIL, cached on disk where that is possible.

    Never parallel: a threading layer that was started before a fork kills spaCy's worker
    processes. Batches are spread over documents instead.

    Parameters
    ----------
    fastmath
        Floating-point freedoms, such as :data:`FAST`.
    **options
        Further options of ``numba.njit``, such as ``inline`` or ``boundscheck``.
    """
    if fastmath:
        # numba wants a set of its own to look into
        options["fastmath"] = set(fastmath) if not isinstance(fastmath, bool) else fastmath

    def compile_lazily(function: Function) -> Function:
        try:
            compiled = numba.njit(nogil=True, cache=True, **options)(function)
        except RuntimeError:  # "no locator available": nowhere to put the cache
            return cast(Function, numba.njit(nogil=True, **options)(function))
        _watch_callees(compiled, function)
        _forgive_old_code(compiled)
        return cast(Function, compiled)

    return compile_lazily


def _watch_callees(compiled: Any, function: Callable[..., Any]) -> None:
    """Let cached code be used only while no file of its folder has changed.

    numba looks at the file of a function alone. Cached code would go on with a callee of
    before, after an upgrade, too, or be mixed with the new one.
    """
    file = getattr(getattr(compiled, "_cache", None), "_cache_file", None)
    if file is not None and hasattr(file, "_source_stamp"):
        folder = Path(function.__code__.co_filename).parent
        file._source_stamp = (file._source_stamp, _stamp_of(folder))


def _forgive_old_code(compiled: Any) -> None:
    """Let cached code count as none where its index can't be read.

    An index names the classes of the arguments; after an upgrade one may be gone or have moved,
    and numba would raise from the first call.
    """
    file = getattr(getattr(compiled, "_cache", None), "_cache_file", None)
    if file is None or not hasattr(file, "_load_index"):
        return
    load = file._load_index

    def load_if_possible() -> Any:
        try:
            return load()
        except (AttributeError, ImportError, EOFError, ValueError, pickle.UnpicklingError):
            return {}

    file._load_index = load_if_possible


@cache
def _stamp_of(folder: Path) -> tuple[tuple[str, int, int], ...]:
    """Return name, time and size of every Python file in a folder."""
    files = sorted((path.name, path.stat()) for path in folder.glob("*.py"))
    return tuple((name, stat.st_mtime_ns, stat.st_size) for name, stat in files)


def uncounted(**options: Any) -> Callable[[Function], Function]:
    """Compile a function that keeps no array: it counts no references to those it is given.

    Counting them, whenever an array is taken from a tuple, would take a short function longer
    than its work. It must neither make nor return an array.
    """
    return jit(_nrt=False, **options)
