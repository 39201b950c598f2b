"""Products of float32 matrices by the matrix unit of a processor: Intel's AMX.

The unit multiplies tiles of bfloat16, numbers of 8 significant bits, and adds up in float32. Each
factor is the sum of two such numbers, its upper and its lower part, so that three products of
tiles give some 16 bits; the fourth, of the lower parts, would be lost in them. Weights that were
saved with 8 bits have no lower parts, and take two products.
"""

from typing import Any

import numpy as np
from llvmlite import ir
from numba import types
from numba.core import cgutils
from numba.extending import intrinsic

from ....jit import jit
from ....simd import place_of

#: Rows of a tile, and float32 in one of them.
_ROWS = 16
#: bfloat16 in a row of a tile.
_INNER = 32

_INT8 = ir.IntType(8)


def _call(builder: Any, name: str, given: list[Any]) -> None:
    kind = ir.FunctionType(ir.VoidType(), [one.type for one in given])
    builder.call(cgutils.get_or_insert_function(builder.module, kind, f"llvm.x86.{name}"), given)


@intrinsic
def _begin(typing, layout):
    """Take the unit into use with tiles of a layout, uint8 (64,)."""

    def build(context, builder, signature, given):
        first = ir.Constant(ir.IntType(64), 0)
        _call(builder, "ldtilecfg", [place_of(context, builder, layout, given[0], first)])
        return context.get_dummy_value()

    return types.void(layout), build


@intrinsic
def _end(typing):
    """Give the unit back."""

    def build(context, builder, signature, given):
        _call(builder, "tilerelease", [])
        return context.get_dummy_value()

    return types.void(), build


@intrinsic(prefer_literal=True)
def _clear(typing, tile):
    def build(context, builder, signature, given):
        _call(builder, "tilezero", [_INT8(tile.literal_value)])
        return context.get_dummy_value()

    return types.void(tile), build


def _mover(name: str) -> Any:
    def move(typing, tile, array, index, stride):
        def build(context, builder, signature, given):
            place = place_of(context, builder, array, given[1], given[2])
            place = builder.bitcast(place, _INT8.as_pointer())
            _call(builder, name, [_INT8(tile.literal_value), place, given[3]])
            return context.get_dummy_value()

        return types.void(tile, array, types.int64, types.int64), build

    return intrinsic(prefer_literal=True)(move)


#: Move a tile from and to ``array[index]`` on; its rows are `stride` bytes apart.
_load, _store = _mover("tileloadd64"), _mover("tilestored64")


@intrinsic(prefer_literal=True)
def _add_product(typing, total, left, right):
    """Add the product of two tiles to a third."""

    def build(context, builder, signature, given):
        numbers = [_INT8(tile.literal_value) for tile in (total, left, right)]
        _call(builder, "tdpbf16ps", numbers)
        return context.get_dummy_value()

    return types.void(total, left, right), build


@intrinsic
def _split(typing, array, index, high, low, place):
    """Write 16 float32 of an array as sums of two bfloat16, rounded to even, in two others.

    What would be rounded to infinity is cut off, and so are infinity and NaN.
    """
    words, halves, floats = (
        ir.VectorType(kind, _ROWS) for kind in (ir.IntType(32), ir.IntType(16), ir.FloatType())
    )

    def filled(value):
        return ir.Constant(words, [value] * _ROWS)

    def rounded(builder, bits):
        odd = builder.and_(builder.lshr(bits, filled(16)), filled(1))
        return builder.add(bits, builder.add(odd, filled(0x7FFF)))

    def build(context, builder, signature, given):
        def write(bits, which):
            begin = place_of(context, builder, signature.args[which], given[which], given[4])
            short = builder.trunc(builder.lshr(bits, filled(16)), halves)
            builder.store(short, builder.bitcast(begin, halves.as_pointer()), align=2)

        begin = place_of(context, builder, array, given[0], given[1])
        values = builder.load(builder.bitcast(begin, floats.as_pointer()), align=4)
        bits = builder.bitcast(values, words)
        size = builder.and_(bits, filled(0x7FFFFFFF))
        is_special = builder.icmp_unsigned(">=", size, filled(0x7F7F8000))
        upper = builder.select(is_special, bits, rounded(builder, bits))
        write(upper, 2)
        upper = builder.bitcast(builder.and_(upper, filled(0xFFFF0000)), floats)
        rest = rounded(builder, builder.bitcast(builder.fsub(values, upper), words))
        is_infinite = builder.icmp_unsigned("==", size, filled(0x7F800000))
        write(builder.select(is_infinite, filled(0), rest), 3)
        return context.get_dummy_value()

    return types.void(array, types.int64, high, low, types.int64), build


@jit(inline="always")
def _split_row(values, first, count, edge, high, low, place):
    """Split `count` float32 from the first on; what is left of the last 16 is 0."""
    whole = count // _ROWS * _ROWS
    for j in range(0, whole, _ROWS):
        _split(values, first + j, high, low, place + j)
    if whole < count:
        edge[:_ROWS] = 0.0
        for j in range(whole, count):
            edge[j - whole] = values[first + j]
        _split(edge, 0, high, low, place + whole)


@jit(error_model="numpy")
def pack(weights, packed):
    """Lay a matrix out in tiles.

    **Shape**: weights float32 (inner, columns); packed uint32 (columns of tiles, an even number,
    rows of tiles, 1 or 2, 16, 16): upper and, if there are any, lower parts of tiles, in each the
    pairs of rows, each column's in one number; 0 beyond the matrix, and before.
    """
    inner, columns = weights.shape
    values, edge = weights.ravel(), np.empty(_ROWS, np.float32)
    parts = np.zeros((2, 2, len(packed) * _ROWS), np.uint16)  # by row of the pair, and part
    first, second = parts[0], parts[1]
    for k in range(0, inner, 2):
        _split_row(values, k * columns, columns, edge, first[0], first[1], 0)
        second[:] = 0
        if k + 1 < inner:
            _split_row(values, (k + 1) * columns, columns, edge, second[0], second[1], 0)
        row, pair = k // _INNER, k % _INNER // 2
        for column in range(len(packed)):
            for part in range(packed.shape[2]):
                into = packed[column, row, part, pair]
                above = first[part, column * _ROWS : (column + 1) * _ROWS]
                below = second[part, column * _ROWS : (column + 1) * _ROWS]
                for j in range(_ROWS):
                    into[j] = np.uint32(above[j]) | (np.uint32(below[j]) << np.uint32(16))


@jit(error_model="numpy")
def multiply(rows, packed, layout, room, out):
    """Write ``rows @ weights``, of `weights` that :func:`pack` laid out.

    The unit must be there and allowed, or the process ends. Speed rests on `packed` and `room`
    beginning at multiples of 64 bytes: a tile is six times as long to load from elsewhere.

    **Shape**: rows float32 (rows, inner); layout uint8 (64,), that of all tiles; room uint16
    (2, 32, 32 * rows of tiles), 0 beyond `inner`, overwritten; out float32 (rows, columns), where
    the rows are a multiple of 32: those beyond the given ones have no meaning.
    """
    count, inner = rows.shape
    columns, tiles = out.shape[1], packed.shape[1]
    values, flat, written = rows.ravel(), packed.ravel(), out.ravel()
    edge = np.empty(4 * _ROWS * _ROWS, np.float32)
    high, low = room[0].ravel(), room[1].ravel()
    width, part = tiles * _INNER, _ROWS * _ROWS
    step = packed.shape[2] * part
    _begin(layout)
    for start in range(0, count, 2 * _ROWS):
        height = min(2 * _ROWS, count - start)
        is_tall = height > _ROWS
        for r in range(height):
            _split_row(values, (start + r) * inner, inner, edge, high, low, r * width)
        for column in range(0, columns, 2 * _ROWS):
            # tiles 0 to 3 are the sums, 4 and 5 of the rows, 6 and 7 of the weights; 2, 3 and 5
            # stand for the rows beyond 16
            _clear(0)
            _clear(1)
            _clear(2)
            _clear(3)
            first, left = 0, column // _ROWS * tiles * step
            right = left + tiles * step
            for _ in range(tiles):
                _load(4, high, first, 2 * width)
                if is_tall:
                    _load(5, high, first + _ROWS * width, 2 * width)
                if step > part:
                    _load(6, flat, left + part, 64)
                    _load(7, flat, right + part, 64)
                    _add_products(is_tall)
                _load(6, flat, left, 64)
                _load(7, flat, right, 64)
                _add_products(is_tall)
                _load(4, low, first, 2 * width)
                if is_tall:
                    _load(5, low, first + _ROWS * width, 2 * width)
                _add_products(is_tall)
                first += _INNER
                left += step
                right += step
            if column + 2 * _ROWS <= columns:
                _store_sums(written, start * columns + column, columns)
                continue
            _store_sums(edge, 0, 2 * _ROWS)
            for r in range(height):
                for j in range(columns - column):
                    out[start + r, column + j] = edge[r * 2 * _ROWS + j]
    _end()


@jit(inline="always")
def _add_products(is_tall):
    _add_product(0, 4, 6)
    _add_product(1, 4, 7)
    if is_tall:
        _add_product(2, 5, 6)
        _add_product(3, 5, 7)


@jit(inline="always")
def _store_sums(array, index, width):
    _store(0, array, index, 4 * width)
    _store(1, array, index + _ROWS, 4 * width)
    _store(2, array, index + _ROWS * width, 4 * width)
    _store(3, array, index + _ROWS * width + _ROWS, 4 * width)
