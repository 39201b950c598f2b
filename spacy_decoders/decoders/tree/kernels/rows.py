"""Maxima over rows of any length, as vector code.

The loops of :mod:`.lanes` want padded rows; the compact lists of branch and bound have rows
of a few entries at any place, so these finish what is left of a row one by one. Arrays may
have any number of axes: places are counted in the flat array. Nothing is checked.
"""

from llvmlite import ir
from numba import types
from numba.core import cgutils
from numba.extending import intrinsic

from .lanes import _INDEX, _VECTOR, LANES, _broadcast, _data, _larger, _load, _store

__all__ = ["highest_row_sum", "raise_row"]


def _each(builder, length, in_vectors, one_by_one):
    """Call the two builders of a loop body for the whole vectors and for the rest."""
    whole = builder.and_(length, ir.Constant(_INDEX, -LANES))
    zero, step = ir.Constant(_INDEX, 0), ir.Constant(_INDEX, LANES)
    with cgutils.for_range_slice(builder, zero, whole, step, intp=_INDEX) as (at, _):
        in_vectors(at)
    with cgutils.for_range(builder, length, start=whole, intp=_INDEX) as loop:
        one_by_one(loop.index)


@intrinsic
def raise_row(typingctx, out, o, x, x0, shift, length):
    """out[o + l] = max(out[o + l], x[x0 + l] + shift)."""
    signature = types.void(out, types.intp, x, types.intp, types.float64, types.intp)

    def codegen(context, builder, signature, arguments):
        out, o, x, x0, shift, length = arguments
        out = _data(context, builder, signature.args[0], out)
        x = _data(context, builder, signature.args[2], x)
        shifts = _broadcast(builder, shift)

        def in_vectors(at):
            place = builder.add(o, at)
            total = builder.fadd(_load(builder, x, builder.add(x0, at)), shifts)
            _store(builder, _larger(builder, total, _load(builder, out, place)), out, place)

        def one_by_one(at):
            place = builder.gep(out, [builder.add(o, at)])
            total = builder.fadd(builder.load(builder.gep(x, [builder.add(x0, at)])), shift)
            builder.store(_larger(builder, total, builder.load(place)), place)

        _each(builder, length, in_vectors, one_by_one)
        return context.get_dummy_value()

    return signature, codegen


@intrinsic
def highest_row_sum(typingctx, x, x0, y, y0, length):
    """Return the maximum over l of x[x0 + l] + y[y0 + l], -inf for no length."""
    signature = types.float64(x, types.intp, y, types.intp, types.intp)

    def codegen(context, builder, signature, arguments):
        x, x0, y, y0, length = arguments
        x = _data(context, builder, signature.args[0], x)
        y = _data(context, builder, signature.args[2], y)
        lowest = float("-inf")
        best = cgutils.alloca_once_value(builder, ir.Constant(_VECTOR, [lowest] * LANES))
        rest = cgutils.alloca_once_value(builder, ir.Constant(ir.DoubleType(), lowest))

        def in_vectors(at):
            one = _load(builder, x, builder.add(x0, at))
            total = builder.fadd(one, _load(builder, y, builder.add(y0, at)))
            builder.store(_larger(builder, total, builder.load(best)), best)

        def one_by_one(at):
            one = builder.load(builder.gep(x, [builder.add(x0, at)]))
            other = builder.load(builder.gep(y, [builder.add(y0, at)]))
            total = builder.fadd(one, other)
            builder.store(_larger(builder, total, builder.load(rest)), rest)

        _each(builder, length, in_vectors, one_by_one)
        highest = builder.load(rest)
        value = builder.load(best)
        for lane in range(LANES):
            other = builder.extract_element(value, ir.Constant(ir.IntType(32), lane))
            highest = _larger(builder, other, highest)
        return highest

    return signature, codegen
