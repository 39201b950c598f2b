"""Vectors of numbers in kernels, for loops that LLVM does not vectorise by itself.

LLVM leaves a running maximum of floats scalar, because its order of comparisons matters to NaN;
that costs a dynamic program a factor of ten. The functions below are LLVM vector instructions
that a numba kernel can call: portable, since LLVM splits a vector to whatever width the processor
has, and true to ``-inf``, since no fast-math flag is set.

The digits in a name are the number of *lanes*; what they hold, float32, float64 or int32, follows
from the array or the scalar. Arrays are contiguous, of any number of axes; an index counts entries
of the flat array. Nothing checks bounds, and no index is negative. A set of lanes is an integer
whose bit k stands for lane k.

Examples
--------
The largest sum of two rows whose length is a multiple of 16:

>>> import numpy as np
>>> from spacy_decoders.jit import jit
>>> from spacy_decoders.simd import add, fill16, largest, load16, maximum
>>> @jit()
... def largest_sum(x, y):
...     best = fill16(np.float32(-np.inf))
...     for at in range(0, len(x), 16):
...         best = maximum(add(load16(x, at), load16(y, at)), best)
...     return largest(best)
>>> row = np.arange(32, dtype=np.float32)
>>> largest_sum(row, -row / 2)
15.5
"""

from __future__ import annotations

from collections.abc import Callable
from functools import cache
from typing import Any

from llvmlite import ir
from numba import types
from numba.core import cgutils
from numba.core.errors import TypingError
from numba.extending import intrinsic, models, register_model

__all__ = [
    "add",
    "as_of",
    "at_least",
    "fill8",
    "fill16",
    "fill64",
    "first_lane",
    "fold_largest",
    "fold_magnitudes",
    "keep_lanes",
    "largest",
    "load8",
    "load16",
    "load16_part",
    "load64",
    "load64_part",
    "load_acquire",
    "maximum",
    "multiply",
    "peek",
    "poke",
    "select_greater",
    "select_lanes",
    "store",
    "store_release",
    "subtract",
    "vector_of",
]

_INT8, _INT32, _INT64 = ir.IntType(8), ir.IntType(32), ir.IntType(64)
_ELEMENTS = {types.float32: ir.FloatType(), types.float64: ir.DoubleType(), types.int32: _INT32}
_LETTERS = {types.float32: "f32", types.float64: "f64"}
_NEGATIVE_INFINITY = float("-inf")


class Vector(types.Type):
    """A vector register inside a kernel; no Python object ever holds one."""

    def __init__(self, element: Any, lanes: int) -> None:
        super().__init__(name=f"vector({element}, {lanes})")
        self.element = element
        self.lanes = lanes
        self.layout = ir.VectorType(_ELEMENTS[element], lanes)


@register_model(Vector)
class _VectorModel(models.PrimitiveModel):
    def __init__(self, manager: Any, of: Vector) -> None:
        super().__init__(manager, of, of.layout)


@cache
def vector_of(element: Any, lanes: int) -> Vector:
    """Return the type of vectors of some numbers, for intrinsics."""
    if element not in _ELEMENTS:
        raise TypingError(f"vectors hold float32, float64 or int32, not {element}")
    return Vector(element, lanes)


def place_of(context: Any, builder: Any, kind: Any, array: Any, index: Any) -> Any:
    """Return a pointer to ``array[index]``, for intrinsics."""
    data = cgutils.create_struct_proxy(kind)(context, builder, array).data
    return builder.gep(data, [index])


def broadcast(builder: Any, value: Any, layout: Any) -> Any:
    """Return a vector with a scalar in all lanes, for intrinsics."""
    undefined = ir.Constant(layout, ir.Undefined)
    one = builder.insert_element(undefined, value, _INT32(0))
    zeros = ir.Constant(ir.VectorType(_INT32, layout.count), [0] * layout.count)
    return builder.shuffle_vector(one, undefined, zeros)


def _constant(vector: Vector, value: float) -> Any:
    return ir.Constant(vector.layout, [value] * vector.lanes)


def _pointer(context: Any, builder: Any, kind: Any, array: Any, index: Any, vector: Vector) -> Any:
    place = place_of(context, builder, kind, array, index)
    return builder.bitcast(place, vector.layout.as_pointer())


def _bytes(vector: Vector) -> int:
    return int(vector.element.bitwidth) // 8


# --- memory ----------------------------------------------------------------------


def _loader(lanes: int) -> Any:
    def load(typing, array, index):
        vector = vector_of(array.dtype, lanes)

        def build(context, builder, signature, given):
            place = _pointer(context, builder, signature.args[0], *given, vector)
            return builder.load(place, align=_bytes(vector))

        return vector(array, types.int64), build

    load.__name__, load.__doc__ = f"load{lanes}", f"Return ``array[index : index + {lanes}]``."
    return intrinsic(load)


def _part_loader(lanes: int) -> Any:
    def load(typing, array, index, count):
        vector = vector_of(array.dtype, lanes)

        def build(context, builder, signature, given):
            place = _pointer(context, builder, signature.args[0], *given[:2], vector)
            whole = ir.VectorType(_INT32, lanes)
            inside = broadcast(builder, builder.trunc(given[2], _INT32), whole)
            mask = builder.icmp_signed("<", ir.Constant(whole, list(range(lanes))), inside)
            outside = _constant(vector, _NEGATIVE_INFINITY)
            kind = ir.FunctionType(vector.layout, [place.type, _INT32, mask.type, vector.layout])
            name = f"llvm.masked.load.v{lanes}{_LETTERS[vector.element]}.p0"
            masked = cgutils.get_or_insert_function(builder.module, kind, name)
            return builder.call(masked, [place, _INT32(_bytes(vector)), mask, outside])

        return vector(array, types.int64, types.int64), build

    load.__name__ = f"load{lanes}_part"
    load.__doc__ = "Return the first `count` lanes of ``array[index:]``, ``-inf`` in the others."
    return intrinsic(load)


load8, load16, load64 = _loader(8), _loader(16), _loader(64)
load16_part, load64_part = _part_loader(16), _part_loader(64)


@intrinsic
def store(typing, array, index, vector):
    """Write all lanes to the entries of an array from `index` on."""

    def build(context, builder, signature, given):
        place = _pointer(context, builder, signature.args[0], *given[:2], vector)
        builder.store(given[2], place, align=_bytes(vector))
        return context.get_dummy_value()

    return types.void(array, types.int64, vector), build


@intrinsic
def peek(typing, array, index):
    """Return ``array[index]``, without numba's test for negative indices."""

    def build(context, builder, signature, given):
        return builder.load(place_of(context, builder, signature.args[0], *given))

    return array.dtype(array, types.int64), build


@intrinsic
def poke(typing, array, index, value):
    """Set ``array[index] = value``, without numba's test for negative indices."""

    def build(context, builder, signature, given):
        builder.store(given[2], place_of(context, builder, signature.args[0], *given[:2]))
        return context.get_dummy_value()

    return types.void(array, types.int64, array.dtype), build


@intrinsic
def store_release(typing, flags, index):
    """Set ``flags[index]`` (uint8) so that no thread sees it before what was written earlier."""

    def build(context, builder, signature, given):
        place = place_of(context, builder, signature.args[0], *given)
        builder.store_atomic(_INT8(1), place, "release", align=1)
        return context.get_dummy_value()

    return types.void(flags, types.int64), build


@intrinsic
def load_acquire(typing, flags, index):
    """Return whether ``flags[index]`` is set; what was written before it is then visible."""

    def build(context, builder, signature, given):
        place = place_of(context, builder, signature.args[0], *given)
        return builder.icmp_unsigned(
            "!=", builder.load_atomic(place, "acquire", align=1), _INT8(0)
        )

    return types.boolean(flags, types.int64), build


# --- lane by lane ------------------------------------------------------------------


def _filler(lanes: int) -> Any:
    def fill(typing, value):
        vector = vector_of(value, lanes)

        def build(context, builder, signature, given):
            return broadcast(builder, given[0], vector.layout)

        return vector(value), build

    fill.__name__, fill.__doc__ = f"fill{lanes}", f"Return `value` in all {lanes} lanes."
    return intrinsic(fill)


fill8, fill16, fill64 = _filler(8), _filler(16), _filler(64)


def _binary(name: str, doc: str, operate: Callable[[Any, Any, Any], Any]) -> Any:
    def binary(typing, left, right):
        def build(context, builder, signature, given):
            return operate(builder, *given)

        return left(left, left), build

    binary.__name__, binary.__doc__ = name, doc
    return intrinsic(binary)


def _larger(builder: Any, left: Any, right: Any) -> Any:
    return builder.select(builder.fcmp_ordered(">", left, right), left, right)


add = _binary("add", "Return ``left + right``.", lambda b, x, y: b.fadd(x, y))
subtract = _binary("subtract", "Return ``left - right``.", lambda b, x, y: b.fsub(x, y))
multiply = _binary("multiply", "Return ``left * right``.", lambda b, x, y: b.fmul(x, y))
maximum = _binary("maximum", "Return the larger one; `right` where `left` is NaN.", _larger)


@intrinsic
def select_greater(typing, left, right, then, otherwise):
    """Return `then` where ``left > right``, and `otherwise` elsewhere."""

    def build(context, builder, signature, given):
        return builder.select(builder.fcmp_ordered(">", *given[:2]), *given[2:])

    return then(left, left, then, then), build


@intrinsic
def as_of(typing, array, vector):
    """Return float32 in the type of an array, float32 or float64."""
    wide = vector_of(array.dtype, vector.lanes)

    def build(context, builder, signature, given):
        if array.dtype == types.float32:
            return given[1]
        return builder.fpext(given[1], wide.layout)

    return wide(array, vector), build


# --- over all lanes ----------------------------------------------------------------


@intrinsic
def largest(typing, vector):
    """Return the largest lane."""
    lanes = vector.lanes

    def build(context, builder, signature, given):
        (best,), width = given, lanes
        while width > 1:
            width //= 2
            turned = [(lane + width) % lanes for lane in range(lanes)]
            turn = ir.Constant(ir.VectorType(_INT32, lanes), turned)
            best = _larger(builder, best, builder.shuffle_vector(best, best, turn))
        return builder.extract_element(best, _INT32(0))

    return vector.element(vector), build


def _folded(builder: Any, vector: Any, operate: Callable[[Any, Any, Any], Any]) -> Any:
    """Bring the four quarters of a vector together."""
    lanes = vector.type.count // 4
    quarters = []
    for first in range(0, 4 * lanes, lanes):
        places = ir.Constant(ir.VectorType(_INT32, lanes), list(range(first, first + lanes)))
        quarters.append(builder.shuffle_vector(vector, vector, places))
    left = operate(builder, quarters[0], quarters[1])
    return operate(builder, left, operate(builder, quarters[2], quarters[3]))


@intrinsic
def fold_largest(typing, vector):
    """Return the largest of lanes k, k + 16, k + 32 and k + 48 of 64, for 16 k."""
    quarter = vector_of(vector.element, vector.lanes // 4)

    def build(context, builder, signature, given):
        return _folded(builder, given[0], _larger)

    return quarter(vector), build


@intrinsic
def fold_magnitudes(typing, vector):
    """Return the sum of the magnitudes of lanes k, k + 16, k + 32 and k + 48 of 64, for 16 k.

    ``-inf`` counts as 0, so that neither forbidden scores nor padding show.
    """
    quarter = vector_of(vector.element, vector.lanes // 4)

    def build(context, builder, signature, given):
        kind = ir.FunctionType(vector.layout, [vector.layout])
        name = f"llvm.fabs.v{vector.lanes}{_LETTERS[vector.element]}"
        magnitude_of = cgutils.get_or_insert_function(builder.module, kind, name)
        forbidden = _constant(vector, _NEGATIVE_INFINITY)
        is_legal = builder.fcmp_unordered("!=", given[0], forbidden)
        magnitudes = builder.call(magnitude_of, given)
        counted = builder.select(is_legal, magnitudes, _constant(vector, 0.0))
        return _folded(builder, counted, lambda b, x, y: b.fadd(x, y))

    return quarter(vector), build


# --- sets of lanes -----------------------------------------------------------------


@intrinsic
def at_least(typing, left, right):
    """Return the set of lanes where ``left >= right``."""

    def build(context, builder, signature, given):
        mask = builder.fcmp_ordered(">=", *given)
        bits = builder.bitcast(mask, ir.IntType(left.lanes))
        return bits if left.lanes == 64 else builder.zext(bits, _INT64)

    return types.int64(left, left), build


def _mask(builder, bits, vector):
    if vector.lanes < 64:
        bits = builder.trunc(bits, ir.IntType(vector.lanes))
    return builder.bitcast(bits, ir.VectorType(ir.IntType(1), vector.lanes))


@intrinsic
def select_lanes(typing, bits, then, otherwise):
    """Return `then` in the lanes of a set, and `otherwise` in the others."""

    def build(context, builder, signature, given):
        return builder.select(_mask(builder, given[0], then), given[1], given[2])

    return then(types.int64, then, then), build


@intrinsic
def keep_lanes(typing, bits, vector):
    """Return the lanes of a set, and ``-inf`` in the others."""

    def build(context, builder, signature, given):
        outside = _constant(vector, _NEGATIVE_INFINITY)
        return builder.select(_mask(builder, given[0], vector), given[1], outside)

    return vector(types.int64, vector), build


@intrinsic
def first_lane(typing, bits):
    """Return the lowest lane of a set that is not empty."""

    def build(context, builder, signature, given):
        return builder.cttz(given[0], ir.Constant(ir.IntType(1), 1))

    return types.int64(types.int64), build
