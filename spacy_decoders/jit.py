"""The one way in which this package compiles functions.

:mod:`.kernel_cache` keeps compiled code on disk; without a writable folder, a function is compiled
once per process. Kernels call only kernels of their own folder, of the ``kernels`` folders of the
packages around it, and of :mod:`.simd`.
"""

from collections.abc import Callable
from typing import Any, TypeVar, cast

import numba
from numba.core import boxing, cgutils, pythonapi

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


def _boxed_tuple(typ: Any, value: Any, c: Any) -> Any:
    """Make a Python tuple of compiled values; NULL, with the error set, if an item has failed.

    While an array or a named tuple is made, Python runs handlers of signals, which may raise.
    numba's own code goes on then, and returns a tuple with NULL in it, which ends the process.
    """
    builder, api = c.builder, c.pyapi
    null, made = api.get_null_object(), api.tuple_new(typ.count)
    result = cgutils.alloca_once_value(builder, made)

    def is_whole() -> Any:
        return cgutils.is_not_null(builder, builder.load(result))

    for place, of in enumerate(typ):
        native = builder.extract_value(value, place)
        with builder.if_else(is_whole(), likely=True) as (going_on, failed):
            with going_on:
                item = c.box(of, native)
                api.tuple_setitem(made, place, item)
                with cgutils.if_unlikely(builder, cgutils.is_null(builder, item)):
                    builder.store(null, result)
            with failed:
                if c.context.enable_nrt:
                    c.context.nrt.decref(builder, of, native)
    whole = is_whole()
    if hasattr(typ, "instance_class"):  # a named tuple
        with cgutils.if_likely(builder, whole):
            builder.store(null, result)
            named = api.unserialize(api.serialize_object(typ.instance_class))
            with cgutils.if_likely(builder, cgutils.is_not_null(builder, named)):
                builder.store(api.call(named, made), result)
                api.decref(named)
        api.decref(made)
    else:
        with cgutils.if_unlikely(builder, builder.not_(whole)):
            api.decref(made)
    return builder.load(result)


# whoever compiles functions in this process gets it; results are the same
_boxers = pythonapi._boxers.functions
_theirs = boxing.box_tuple, boxing.box_namedtuple
_boxers.update((kind, _boxed_tuple) for kind, of in [*_boxers.items()] if of in _theirs)
