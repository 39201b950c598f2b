"""Sixteen float32 at a time, for loops that LLVM will not vectorise by itself.

LLVM leaves a running float maximum scalar (its order of comparisons matters to NaN), which
costs a chain decoder a factor of ten. These intrinsics put LLVM vector instructions into a
numba kernel: portable, since LLVM splits them to whatever width the processor has, and true
to ``-inf``, since no fast-math flag is set.

A *lane* is one of the 16 places; `array` is a flat contiguous float32 array, `index` the
first of 16 consecutive entries. Nothing checks bounds.
"""

from __future__ import annotations

from llvmlite import ir
from numba import types
from numba.core import cgutils
from numba.extending import intrinsic, models, register_model

__all__ = [
    "LANES",
    "add",
    "any_lane",
    "at_least",
    "either",
    "fill",
    "first_lane",
    "greater",
    "largest",
    "load",
    "load_part",
    "maximum",
    "minimum_of_finite",
    "multiply",
    "nowhere",
    "prefetch",
    "publish",
    "published",
    "reach",
    "select",
    "smallest",
    "store",
    "subtract",
    "unsound",
]

LANES = 16

_INT32, _INT64, _FLOAT = ir.IntType(32), ir.IntType(64), ir.FloatType()
_FLOATS = ir.VectorType(_FLOAT, LANES)
_MASK = ir.VectorType(ir.IntType(1), LANES)
_NEGATIVE_INFINITY = float("-inf")


class _Vector(types.Type):
    """A vector register inside a kernel; no Python object ever holds one."""

    def __init__(self, name: str, layout: ir.Type) -> None:
        super().__init__(name=f"chain_{name}")
        self.layout = layout


@register_model(_Vector)
class _VectorModel(models.PrimitiveModel):
    def __init__(self, manager, of):
        super().__init__(manager, of, of.layout)


_floats = _Vector("floats16", _FLOATS)
_mask = _Vector("mask16", _MASK)


def _address(context, builder, kind, array, index):
    data = cgutils.create_struct_proxy(kind)(context, builder, array).data
    return builder.bitcast(builder.gep(data, [index]), _FLOATS.as_pointer())


def _splat(builder, value):
    one = builder.insert_element(ir.Constant(_FLOATS, ir.Undefined), value, _INT32(0))
    zeros = ir.Constant(ir.VectorType(_INT32, LANES), [0] * LANES)
    return builder.shuffle_vector(one, ir.Constant(_FLOATS, ir.Undefined), zeros)


@intrinsic
def load(typing, array, index):
    """Return ``array[index : index + 16]``."""

    def build(context, builder, signature, given):
        place = _address(context, builder, signature.args[0], *given)
        return builder.load(place, align=4)

    return _floats(array, types.int64), build


@intrinsic
def load_part(typing, array, index, count):
    """Return the first `count` lanes of ``array[index:]``, and ``-inf`` in the others."""

    def build(context, builder, signature, given):
        place = _address(context, builder, signature.args[0], *given[:2])
        wide = ir.VectorType(_INT32, LANES)
        lanes = ir.Constant(wide, list(range(LANES)))
        count32 = builder.trunc(given[2], _INT32)
        counts = builder.insert_element(ir.Constant(wide, ir.Undefined), count32, _INT32(0))
        zeros = ir.Constant(wide, [0] * LANES)
        counts = builder.shuffle_vector(counts, ir.Constant(wide, ir.Undefined), zeros)
        mask = builder.icmp_signed("<", lanes, counts)
        outside = ir.Constant(_FLOATS, [_NEGATIVE_INFINITY] * LANES)
        kind = ir.FunctionType(_FLOATS, [_FLOATS.as_pointer(), _INT32, _MASK, _FLOATS])
        masked = cgutils.get_or_insert_function(
            builder.module, kind, f"llvm.masked.load.v{LANES}f32.p0"
        )
        return builder.call(masked, [place, _INT32(4), mask, outside])

    return _floats(array, types.int64, types.int64), build


@intrinsic
def prefetch(typing, array, index):
    """Ask for ``array[index]`` to be brought near; it need not exist."""

    def build(context, builder, signature, given):
        data = cgutils.create_struct_proxy(signature.args[0])(context, builder, given[0]).data
        place = builder.bitcast(builder.gep(data, [given[1]]), ir.IntType(8).as_pointer())
        kind = ir.FunctionType(ir.VoidType(), [place.type, _INT32, _INT32, _INT32])
        fetch = cgutils.get_or_insert_function(builder.module, kind, "llvm.prefetch.p0")
        builder.call(fetch, [place, _INT32(0), _INT32(3), _INT32(1)])
        return context.get_dummy_value()

    return types.void(array, types.int64), build


@intrinsic
def store(typing, array, index, floats):
    """Write all lanes to ``array[index : index + 16]``."""

    def build(context, builder, signature, given):
        place = _address(context, builder, signature.args[0], *given[:2])
        builder.store(given[2], place, align=4)
        return context.get_dummy_value()

    return types.void(array, types.int64, _floats), build


@intrinsic
def fill(typing, value):
    """Return `value` in all lanes."""

    def build(context, builder, signature, given):
        return _splat(builder, given[0])

    return _floats(types.float32), build


@intrinsic
def add(typing, left, right):
    """Return ``left + right``, lane by lane."""

    def build(context, builder, signature, given):
        return builder.fadd(*given)

    return _floats(_floats, _floats), build


def _larger(builder, left, right):
    return builder.select(builder.fcmp_ordered(">", left, right), left, right)


def _smaller(builder, left, right):
    return builder.select(builder.fcmp_ordered("<", left, right), left, right)


@intrinsic
def subtract(typing, left, right):
    """Return ``left - right``, lane by lane."""

    def build(context, builder, signature, given):
        return builder.fsub(*given)

    return _floats(_floats, _floats), build


@intrinsic
def multiply(typing, left, right):
    """Return ``left * right``, lane by lane."""

    def build(context, builder, signature, given):
        return builder.fmul(*given)

    return _floats(_floats, _floats), build


@intrinsic
def maximum(typing, left, right):
    """Return the larger of the two, lane by lane; `right` where `left` is NaN."""

    def build(context, builder, signature, given):
        return _larger(builder, *given)

    return _floats(_floats, _floats), build


@intrinsic
def minimum_of_finite(typing, left, right):
    """Return the smaller of the two, lane by lane, but `right` where `left` is ``-inf``."""

    def build(context, builder, signature, given):
        left, right = given
        forbidden = ir.Constant(_FLOATS, [_NEGATIVE_INFINITY] * LANES)
        smaller = builder.and_(
            builder.fcmp_ordered("<", left, right), builder.fcmp_ordered(">", left, forbidden)
        )
        return builder.select(smaller, left, right)

    return _floats(_floats, _floats), build


def _fold(builder, floats, choose):
    """Bring all lanes together by halves, in the order that `choose` prefers."""
    width = LANES
    while width > 1:
        width //= 2
        turned = [(lane + width) % LANES for lane in range(LANES)]
        turn = ir.Constant(ir.VectorType(_INT32, LANES), turned)
        floats = choose(builder, floats, builder.shuffle_vector(floats, floats, turn))
    return builder.extract_element(floats, _INT32(0))


@intrinsic
def largest(typing, floats):
    """Return the largest lane."""

    def build(context, builder, signature, given):
        return _fold(builder, given[0], _larger)

    return types.float32(_floats), build


@intrinsic
def smallest(typing, floats):
    """Return the smallest lane."""

    def build(context, builder, signature, given):
        return _fold(builder, given[0], _smaller)

    return types.float32(_floats), build


@intrinsic
def greater(typing, left, right):
    """Return the mask ``left > right``."""

    def build(context, builder, signature, given):
        return builder.fcmp_ordered(">", *given)

    return _mask(_floats, _floats), build


@intrinsic
def select(typing, mask, left, right):
    """Return `left` where the mask is set, `right` elsewhere."""

    def build(context, builder, signature, given):
        return builder.select(*given)

    return _floats(_mask, _floats, _floats), build


@intrinsic
def at_least(typing, left, right):
    """Return ``left >= right`` as an integer: bit k for lane k."""

    def build(context, builder, signature, given):
        mask = builder.fcmp_ordered(">=", *given)
        return builder.zext(builder.bitcast(mask, ir.IntType(LANES)), _INT64)

    return types.int64(_floats, _floats), build


@intrinsic
def nowhere(typing):
    """Return the empty mask."""

    def build(context, builder, signature, given):
        return ir.Constant(_MASK, [0] * LANES)

    return _mask(), build


@intrinsic
def unsound(typing, floats):
    """Return the mask of lanes that are NaN or ``+inf``."""

    def build(context, builder, signature, given):
        infinity = ir.Constant(_FLOATS, [float("inf")] * LANES)
        return builder.fcmp_unordered(">=", given[0], infinity)

    return _mask(_floats), build


@intrinsic
def either(typing, left, right):
    """Return the mask that is set where one of the two is."""

    def build(context, builder, signature, given):
        return builder.or_(*given)

    return _mask(_mask, _mask), build


@intrinsic
def any_lane(typing, mask):
    """Return whether the mask is set anywhere."""

    def build(context, builder, signature, given):
        bits = builder.bitcast(given[0], ir.IntType(LANES))
        return builder.icmp_unsigned("!=", bits, ir.Constant(ir.IntType(LANES), 0))

    return types.boolean(_mask), build


@intrinsic
def first_lane(typing, bits):
    """Return the lowest set bit of a non-zero integer."""

    def build(context, builder, signature, given):
        return builder.cttz(given[0], ir.Constant(ir.IntType(1), 1))

    return types.int64(types.int64), build


def _flag(context, builder, kind, flags, index):
    data = cgutils.create_struct_proxy(kind)(context, builder, flags).data
    return builder.gep(data, [index])


@intrinsic
def publish(typing, flags, index):
    """Set ``flags[index]`` (uint8) so that no thread sees it before what was written first."""

    def build(context, builder, signature, given):
        place = _flag(context, builder, signature.args[0], *given)
        builder.store_atomic(ir.Constant(ir.IntType(8), 1), place, "release", align=1)
        return context.get_dummy_value()

    return types.void(flags, types.int64), build


@intrinsic
def published(typing, flags, index):
    """Return whether ``flags[index]`` is set; what was written before it is then visible."""

    def build(context, builder, signature, given):
        place = _flag(context, builder, signature.args[0], *given)
        flag = builder.load_atomic(place, "acquire", align=1)
        return builder.icmp_unsigned("!=", flag, ir.Constant(ir.IntType(8), 0))

    return types.boolean(flags, types.int64), build


@intrinsic(prefer_literal=True)
def reach(typing, names, scores, first, past, table, column, out, place, stride, chains, blocks):
    """Write the best scores of 16 times `blocks` labels, for `chains` sentences side by side.

    For each sentence s and each y in ``[0, 16 * blocks)``::

        out[s * stride + place + y] = max over k in [first, past)
            of (scores[s * stride + k] + table[names[k] * stride + column + y])

    `chains` and `blocks` are literals, so that all running maxima stay in registers and each
    piece of the table is loaded once for all sentences.
    """
    chains_count, width = chains.literal_value, blocks.literal_value

    def build(context, builder, signature, given):
        kinds = signature.args
        names, scores, first, past, table, column, out, place, stride = given[:9]
        nothing = ir.Constant(_FLOATS, [_NEGATIVE_INFINITY] * LANES)
        best = [
            [cgutils.alloca_once_value(builder, nothing) for _ in range(width)]
            for _ in range(chains_count)
        ]
        name_data = cgutils.create_struct_proxy(kinds[0])(context, builder, names).data
        score_data = cgutils.create_struct_proxy(kinds[1])(context, builder, scores).data
        sentences = [builder.mul(stride, _INT64(s)) for s in range(chains_count)]
        with cgutils.for_range_slice(builder, first, past, _INT64(1), _INT64) as (k, _):
            row = builder.mul(builder.load(builder.gep(name_data, [k])), stride)
            row = builder.add(row, column)
            steps = []
            for block in range(width):
                begin = builder.add(row, _INT64(block * LANES))
                address = _address(context, builder, kinds[4], table, begin)
                steps.append(builder.load(address, align=4))
            for sentence, maxima in zip(sentences, best, strict=True):
                place_of_score = builder.gep(score_data, [builder.add(sentence, k)])
                score = _splat(builder, builder.load(place_of_score))
                for step, running in zip(steps, maxima, strict=True):
                    reached = builder.fadd(score, step)
                    builder.store(_larger(builder, reached, builder.load(running)), running)
        for sentence, maxima in zip(sentences, best, strict=True):
            for block, running in enumerate(maxima):
                begin = builder.add(builder.add(sentence, place), _INT64(block * LANES))
                target = _address(context, builder, kinds[6], out, begin)
                builder.store(builder.load(running), target, align=4)
        return context.get_dummy_value()

    int64 = types.int64
    arguments = (names, scores, int64, int64, table, int64, out, int64, int64, chains, blocks)
    return types.void(*arguments), build
