"""Vector loops that LLVM does not find by itself: maxima of sums along contiguous rows.

A float maximum never becomes vector code in numba (7 times slower here), so the three loops
that the charts spend their time in are written as LLVM vectors, eight float64 at a time. All
arrays are flat float64; lengths are multiples of `LANES`, so rows are padded. Nothing is
checked: indices must lie within the arrays.
"""

from llvmlite import ir
from numba import types
from numba.core import cgutils
from numba.extending import intrinsic

__all__ = [
    "LANES",
    "add_to",
    "best_pairs",
    "best_shifted",
    "highest_sum",
    "raise_to",
    "raise_to_sum",
]

#: Numbers in one step.
LANES = 8

_INDEX = ir.IntType(64)
_REAL = ir.DoubleType()
_VECTOR = ir.VectorType(_REAL, LANES)
_ZERO = ir.Constant(ir.IntType(32), 0)
_ALL_ZERO = ir.Constant(ir.VectorType(ir.IntType(32), LANES), [0] * LANES)


def _data(context, builder, kind, value):
    return context.make_array(kind)(context, builder, value).data


def _load(builder, data, index):
    pointer = builder.bitcast(builder.gep(data, [index]), _VECTOR.as_pointer())
    return builder.load(pointer, align=8)


def _store(builder, value, data, index):
    pointer = builder.bitcast(builder.gep(data, [index]), _VECTOR.as_pointer())
    builder.store(value, pointer, align=8)


def _broadcast(builder, scalar):
    undefined = ir.Constant(_VECTOR, ir.Undefined)
    return builder.shuffle_vector(
        builder.insert_element(undefined, scalar, _ZERO), undefined, _ALL_ZERO
    )


def _larger(builder, one, other):
    return builder.select(builder.fcmp_ordered(">", one, other), one, other)


def _steps(builder, length):
    return cgutils.for_range_slice(
        builder, ir.Constant(_INDEX, 0), length, ir.Constant(_INDEX, LANES), intp=_INDEX
    )


def _at(builder, start, lane, step, stride):
    return builder.add(builder.add(start, lane), builder.mul(step, stride))


@intrinsic
def best_pairs(typingctx, out, o, x, x0, xs, y, y0, ys, count, length):
    """out[o + l] = max over r < count of x[x0 + r xs + l] + y[y0 + r ys + l]."""
    index = types.intp
    signature = types.void(out, index, x, index, index, y, index, index, index, index)

    def codegen(context, builder, signature, arguments):
        out, o, x, x0, xs, y, y0, ys, count, length = arguments
        out = _data(context, builder, signature.args[0], out)
        x = _data(context, builder, signature.args[2], x)
        y = _data(context, builder, signature.args[5], y)
        best = cgutils.alloca_once(builder, _VECTOR)
        with _steps(builder, length) as (lane, _):
            builder.store(ir.Constant(_VECTOR, [float("-inf")] * LANES), best)
            with cgutils.for_range(builder, count, intp=_INDEX) as loop:
                one = _load(builder, x, _at(builder, x0, lane, loop.index, xs))
                other = _load(builder, y, _at(builder, y0, lane, loop.index, ys))
                total = builder.fadd(one, other)
                builder.store(_larger(builder, total, builder.load(best)), best)
            _store(builder, builder.load(best), out, builder.add(o, lane))
        return context.get_dummy_value()

    return signature, codegen


@intrinsic
def best_shifted(typingctx, out, o, x, x0, xs, w, w0, ws, count, start, length):
    """out[o + l] = max(start, max over r < count of x[x0 + r xs + l] + w[w0 + r ws])."""
    index = types.intp
    signature = types.void(
        out, index, x, index, index, w, index, index, index, types.float64, index
    )

    def codegen(context, builder, signature, arguments):
        out, o, x, x0, xs, w, w0, ws, count, start, length = arguments
        out = _data(context, builder, signature.args[0], out)
        x = _data(context, builder, signature.args[2], x)
        w = _data(context, builder, signature.args[5], w)
        best = cgutils.alloca_once(builder, _VECTOR)
        with _steps(builder, length) as (lane, _):
            builder.store(_broadcast(builder, start), best)
            with cgutils.for_range(builder, count, intp=_INDEX) as loop:
                row = _load(builder, x, _at(builder, x0, lane, loop.index, xs))
                place = builder.add(w0, builder.mul(loop.index, ws))
                shift = _broadcast(builder, builder.load(builder.gep(w, [place])))
                total = builder.fadd(row, shift)
                builder.store(_larger(builder, total, builder.load(best)), best)
            _store(builder, builder.load(best), out, builder.add(o, lane))
        return context.get_dummy_value()

    return signature, codegen


@intrinsic
def raise_to(typingctx, out, o, x, x0, shift, length):
    """out[o + l] = max(out[o + l], x[x0 + l] + shift)."""
    index = types.intp
    signature = types.void(out, index, x, index, types.float64, index)

    def codegen(context, builder, signature, arguments):
        out, o, x, x0, shift, length = arguments
        out = _data(context, builder, signature.args[0], out)
        x = _data(context, builder, signature.args[2], x)
        shifts = _broadcast(builder, shift)
        with _steps(builder, length) as (lane, _):
            place = builder.add(o, lane)
            total = builder.fadd(_load(builder, x, builder.add(x0, lane)), shifts)
            _store(builder, _larger(builder, total, _load(builder, out, place)), out, place)
        return context.get_dummy_value()

    return signature, codegen


@intrinsic
def raise_to_sum(typingctx, out, o, x, x0, y, y0, length):
    """out[o + l] = max(out[o + l], x[x0 + l] + y[y0 + l])."""
    index = types.intp
    signature = types.void(out, index, x, index, y, index, index)

    def codegen(context, builder, signature, arguments):
        out, o, x, x0, y, y0, length = arguments
        out = _data(context, builder, signature.args[0], out)
        x = _data(context, builder, signature.args[2], x)
        y = _data(context, builder, signature.args[4], y)
        with _steps(builder, length) as (lane, _):
            place = builder.add(o, lane)
            one = _load(builder, x, builder.add(x0, lane))
            total = builder.fadd(one, _load(builder, y, builder.add(y0, lane)))
            _store(builder, _larger(builder, total, _load(builder, out, place)), out, place)
        return context.get_dummy_value()

    return signature, codegen


@intrinsic
def add_to(typingctx, out, o, x, x0, length):
    """out[o + l] += x[x0 + l]."""
    signature = types.void(out, types.intp, x, types.intp, types.intp)

    def codegen(context, builder, signature, arguments):
        out, o, x, x0, length = arguments
        out = _data(context, builder, signature.args[0], out)
        x = _data(context, builder, signature.args[2], x)
        with _steps(builder, length) as (lane, _):
            place = builder.add(o, lane)
            row = _load(builder, x, builder.add(x0, lane))
            _store(builder, builder.fadd(_load(builder, out, place), row), out, place)
        return context.get_dummy_value()

    return signature, codegen


@intrinsic
def highest_sum(typingctx, x, x0, y, y0, length):
    """Return the maximum over l of x[x0 + l] + y[y0 + l], -inf for no length."""
    signature = types.float64(x, types.intp, y, types.intp, types.intp)

    def codegen(context, builder, signature, arguments):
        x, x0, y, y0, length = arguments
        x = _data(context, builder, signature.args[0], x)
        y = _data(context, builder, signature.args[2], y)
        best = cgutils.alloca_once(builder, _VECTOR)
        builder.store(ir.Constant(_VECTOR, [float("-inf")] * LANES), best)
        with _steps(builder, length) as (lane, _):
            one = _load(builder, x, builder.add(x0, lane))
            other = _load(builder, y, builder.add(y0, lane))
            total = builder.fadd(one, other)
            builder.store(_larger(builder, total, builder.load(best)), best)
        value = builder.load(best)
        highest = builder.extract_element(value, _ZERO)
        for lane in range(1, LANES):
            other = builder.extract_element(value, ir.Constant(ir.IntType(32), lane))
            highest = _larger(builder, other, highest)
        return highest

    return signature, codegen
