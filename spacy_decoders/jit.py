"""The one way in which this package compiles functions.

:mod:`.kernel_cache` keeps compiled code on disk; without a writable folder, a function is compiled
once per process. Kernels call only kernels of their own folder, of the ``kernels`` folders of the
packages around it, and of :mod:`.simd`.
"""

from collections.abc import Callable
from typing import Any, TypeVar, cast

import numba

from .kernel_cache import KernelCache

__all__ = ["FAST", "internal", "jit", "uncounted"]

Function = TypeVar("Function", bound=Callable[..., Any])

#: Fast-math flags that are safe for scores: there is no NaN, and the sign of zero is ignored.
#: Kernels that use them must turn ``-inf`` into a finite sentinel first.
FAST = frozenset({"nnan", "nsz"})


def jit(
    *, fastmath: frozenset[str] | bool = False, **options: Any
) -> Callable[[Function], Function]:
    """Compile with numba: no Python objects, no GIL, cached on disk where that is possible.

    Never parallel: a threading layer that was started before a fork kills spaCy's worker
    processes. Batches are spread over documents instead. `fastmath` are fast-math flags, such as
    :data:`FAST`; further options are those of ``numba.njit``, such as ``inline``.
    """
    options["no_cfunc_wrapper"] = True  # no kernel is called from C
    if fastmath:
        # numba accepts a set, but no frozenset
        options["fastmath"] = set(fastmath) if not isinstance(fastmath, bool) else fastmath

    def compile_lazily(function: Function) -> Function:
        compiled = numba.njit(nogil=True, **options)(function)
        compiled._cache = KernelCache(function)
        return cast(Function, compiled)

    return compile_lazily


def uncounted(**options: Any) -> Callable[[Function], Function]:
    """Compile a function without reference counting; it must neither make nor return an array.

    Counting, whenever an array is taken from a tuple, would take a short function longer than its
    work.
    """
    return jit(_nrt=False, **options)


def internal(*, counted: bool = False, **options: Any) -> Callable[[Function], Function]:
    """Compile a function that only kernels call, without a wrapper for calls from Python.

    A wrapper, which unpacks many arrays in named tuples, takes as long to compile as a short
    function. If it makes or returns arrays, it is `counted`; see :func:`uncounted`.
    """
    return jit(_nrt=counted, no_cpython_wrapper=True, **options)
