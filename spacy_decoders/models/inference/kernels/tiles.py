"""Products of float32 matrices by the matrix unit of a processor: Intel's AMX.

The unit multiplies tiles of bfloat16, numbers of 8 significant bits, and adds up in float32. Each
factor is the sum of two such numbers, its upper and its lower part, so that three products of
tiles give some 16 bits; the fourth, of the lower parts, would be lost in them.
"""

from __future__ import annotations

from typing import Any

import numpy as np
from llvmlite import ir
from numba import types
from numba.core import cgutils
from numba.extending import intrinsic

from ....jit import internal, jit
from ....simd import place_of

#: Rows of a tile, and float32 in one of them.
_ROWS = 16
#: bfloat16 in a row of a tile.
_INNER = 32
#: bfloat16 in a tile.
_TILE = _ROWS * _INNER

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


@internal()
def _split(row, bits, upper, upper_bits, high, low):
    """Write a row of float32, of which `bits` are the bits, as a sum of two rows of bfloat16."""
    half, sign_to_bfloat = np.uint32(0x7FFF), np.uint32(0xFFFF0000)
    for j in range(len(row)):  # short loops, which LLVM makes of vectors
        odd = (bits[j] >> np.uint32(16)) & np.uint32(1)
        upper_bits[j] = (bits[j] + half + odd) & sign_to_bfloat
    for j in range(len(row)):
        high[j] = upper_bits[j] >> np.uint32(16)
    for j in range(len(row)):
        upper[j] = row[j] - upper[j]
    for j in range(len(row)):
        low[j] = (upper_bits[j] + half) >> np.uint32(16)


@jit(error_model="numpy")
def pack(weights, packed):
    """Lay a matrix out in tiles.

    **Shape**: weights float32 (inner, columns); packed uint16 (columns of tiles, an even number,
    rows of tiles, 2, 16, 16, 2): upper and lower parts of tiles, in each the pairs of rows, each
    column's next to each other; 0 beyond the matrix.
    """
    inner, columns = weights.shape
    bits = weights.view(np.uint32)
    upper = np.empty(columns, np.float32)
    upper_bits = upper.view(np.uint32)
    parts = np.zeros((2, len(packed) * _ROWS), np.uint16)
    for k in range(packed.shape[1] * _INNER):
        if k < inner:
            _split(weights[k], bits[k], upper, upper_bits, parts[0], parts[1])
        else:
            parts[:] = 0
        row, pair, place = k // _INNER, k % _INNER // 2, k % 2
        for column in range(len(packed)):
            for part in range(2):
                for j in range(_ROWS):
                    value = parts[part, column * _ROWS + j]
                    packed[column, row, part, pair, j, place] = value


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
    bits, flat, written = rows.view(np.uint32), packed.ravel(), out.ravel()
    upper = np.empty(inner, np.float32)
    upper_bits = upper.view(np.uint32)
    edge = np.empty(4 * _ROWS * _ROWS, np.float32)
    high, low = room[0].ravel(), room[1].ravel()
    width = tiles * _INNER
    _begin(layout)
    for start in range(0, count, 2 * _ROWS):
        height = min(2 * _ROWS, count - start)
        for r in range(height):
            row = start + r
            _split(rows[row], bits[row], upper, upper_bits, room[0, r], room[1, r])
        for column in range(0, columns, 2 * _ROWS):
            # tiles 0 to 3 are the sums, 4 and 5 of the rows, 6 and 7 of the weights
            _clear(0)
            _clear(1)
            _clear(2)
            _clear(3)
            first = 0
            left = column // _ROWS * tiles * 2 * _TILE
            right = left + tiles * 2 * _TILE
            for _ in range(tiles):
                _load(4, high, first, 2 * width)
                _load(5, high, first + _ROWS * width, 2 * width)
                _load(6, flat, left + _TILE, 64)
                _load(7, flat, right + _TILE, 64)
                _add_products()
                _load(6, flat, left, 64)
                _load(7, flat, right, 64)
                _add_products()
                _load(4, low, first, 2 * width)
                _load(5, low, first + _ROWS * width, 2 * width)
                _add_products()
                first += _INNER
                left += 2 * _TILE
                right += 2 * _TILE
            if column + 2 * _ROWS <= columns:
                _store_sums(written, start * columns + column, columns)
                continue
            _store_sums(edge, 0, 2 * _ROWS)
            for r in range(height):
                for j in range(columns - column):
                    out[start + r, column + j] = edge[r * 2 * _ROWS + j]
    _end()


@jit(inline="always")
def _add_products():
    _add_product(0, 4, 6)
    _add_product(1, 4, 7)
    _add_product(2, 5, 6)
    _add_product(3, 5, 7)


@jit(inline="always")
def _store_sums(array, index, width):
    _store(0, array, index, 4 * width)
    _store(1, array, index + _ROWS, 4 * width)
    _store(2, array, index + _ROWS * width, 4 * width)
    _store(3, array, index + _ROWS * width + _ROWS, 4 * width)
