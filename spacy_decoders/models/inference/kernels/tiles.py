"""Products of float32 matrices by a processor's matrix unit: Intel's AMX.

The unit multiplies tiles of bfloat16, which has 8 significant bits, and accumulates in float32.
Each factor is split into the sum of two such numbers, its upper and its lower part. Three products
of tiles then give about 16 bits; the fourth, of both lower parts, would be negligible. Weights
that were saved with 8 bits have no lower parts, and take two products.
"""

from typing import Any

import numpy as np
from llvmlite import ir
from numba import types
from numba.core import cgutils
from numba.extending import intrinsic

from ....jit import jit
from ....simd import place_of

#: The rows of a tile, and the float32 in a row.
_ROWS = 16
#: The bfloat16 in a row of a tile.
_INNER = 32
#: The tile configuration: eight tiles of 16 rows of 64 bytes.
_LAYOUT = np.zeros(64, np.uint8)
_LAYOUT[0] = 1
_LAYOUT[16:32:2] = 64
_LAYOUT[48:56] = 16

_INT8 = ir.IntType(8)


def _call(builder: Any, name: str, given: list[Any]) -> None:
    kind = ir.FunctionType(ir.VoidType(), [one.type for one in given])
    builder.call(cgutils.get_or_insert_function(builder.module, kind, f"llvm.x86.{name}"), given)


@intrinsic
def _begin(typing, layout):
    """Configure the unit for a layout of tiles, uint8 (64,)."""

    def build(context, builder, signature, given):
        first = ir.Constant(ir.IntType(64), 0)
        _call(builder, "ldtilecfg", [place_of(context, builder, layout, given[0], first)])
        return context.get_dummy_value()

    return types.void(layout), build


@intrinsic
def _end(typing):
    """Release the unit."""

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


#: Load a tile from ``array[index:]``, or store it there; its rows are `stride` bytes apart.
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
    """Split 16 float32 of an array into two bfloat16 each, rounded to even, in two others.

    Numbers that would be rounded to infinity are truncated, and so are infinity and NaN.
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
    """Split `count` float32 from `first` on, padded with zeros to a multiple of 16."""
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
    """Pack a matrix into tiles.

    **Shape**: weights float32 (inner, columns); packed uint32 (columns of tiles, an even number,
    rows of tiles, 1 or 2, 16, 16): the upper and, if there are any, the lower parts of tiles,
    whose numbers are pairs of rows in one column; initially 0, as they stay beyond the matrix.
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
def multiply(rows, packed, out):
    """Write ``rows @ weights``, where :func:`pack` has packed the weights.

    Without the unit, or permission to use it, the process is killed. `packed` should be aligned to
    64 bytes: otherwise, a tile takes six times as long to load.

    **Shape**: rows float32 (rows, inner); out float32 (rows, columns), with a multiple of 32 rows,
    of which the extra ones are undefined.
    """
    count, inner = rows.shape
    columns, tiles = out.shape[1], packed.shape[1]
    values, flat, written = rows.ravel(), packed.ravel(), out.ravel()
    edge = np.empty(4 * _ROWS * _ROWS, np.float32)
    width, part = tiles * _INNER, _ROWS * _ROWS
    step = packed.shape[2] * part
    # both parts of 32 rows, aligned, too, and 0 beyond `inner`
    room, size = np.zeros((4 * _ROWS + 1) * width, np.uint16), 2 * _ROWS * width
    room = room[-room.ctypes.data % 64 // 2 :]
    high, low = room[:size], room[size:]
    _begin(_LAYOUT)
    for start in range(0, count, 2 * _ROWS):
        height = min(2 * _ROWS, count - start)
        is_tall = height > _ROWS
        for r in range(height):
            _split_row(values, (start + r) * inner, inner, edge, high, low, r * width)
        for column in range(0, columns, 2 * _ROWS):
            # tiles 0 to 3 hold sums, 4 and 5 rows, 6 and 7 weights; 2, 3 and 5 are for the rows
            # beyond 16
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
