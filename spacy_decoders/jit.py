"""The one way in which this package compiles a function.

Compiled code is kept on disk as :mod:`.kernel_cache` says; where the machine allows that
nowhere, a function is compiled once per process. Kernels call only kernels of their own folder,
of the ``kernels`` folders of the rooms around it, and :mod:`.simd`.
"""

from collections.abc import Callable
from typing import Any, TypeVar, cast

import numba

from .kernel_cache import KernelCache

__all__ = ["FAST", "internal", "jit", "uncounted"]

Function = TypeVar("Function", bound=Callable[..., Any])

#: Floating-point freedoms that are safe for finite scores: no NaN, and -0.0 equals 0.0.
#: Kernels that use them must turn ``-inf`` into a finite sentinel first.
FAST = frozenset({"nnan", "nsz"})


def jit(
    *, fastmath: frozenset[str] | bool = False, **options: Any
) -> Callable[[Function], Function]:
    """Compile with numba: no Python objects, no GIL, cached on disk where that is possible.

    Never parallel: a threading layer that was started before a fork kills spaCy's worker
    processes. Batches are spread over documents instead. `fastmath` are floating-point freedoms,
    such as :data:`FAST`; further options are those of ``numba.njit``, such as ``inline``.
    """
    options["no_cfunc_wrapper"] = True  # no kernel is called from C
    if fastmath:
        # numba wants a set of its own to look into
        options["fastmath"] = set(fastmath) if not isinstance(fastmath, bool) else fastmath

    def compile_lazily(function: Function) -> Function:
        compiled = numba.njit(nogil=True, **options)(function)
        compiled._cache = KernelCache(function)
        return cast(Function, compiled)

    return compile_lazily


def uncounted(**options: Any) -> Callable[[Function], Function]:
    """Compile a function that keeps no array: it counts no references to those it is given.

    Counting them, whenever an array is taken from a tuple, would take a short function longer
    than its work. It must neither make nor return an array.
    """
    return jit(_nrt=False, **options)


def internal(*, counted: bool = False, **options: Any) -> Callable[[Function], Function]:
    """Compile a function that kernels alone call: it has no entry from Python.

    Unpacking Python's arguments, many arrays in named tuples, would take as long to compile as
    a short function. If it makes or returns arrays, it is `counted`; see :func:`uncounted`.
    """
    return jit(_nrt=counted, no_cpython_wrapper=True, **options)
