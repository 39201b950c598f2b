"""Sixteen or sixty-four float32 at a time, for loops that LLVM will not vectorise by itself.

LLVM leaves a running float maximum scalar (its order of comparisons matters to NaN), which
costs a chain decoder a factor of ten. These intrinsics put LLVM vector instructions into a
numba kernel: portable, since LLVM splits them to whatever width the processor has, and true
to ``-inf``, since no fast-math flag is set.

A *lane* is one of the 16 places; `array` is a flat contiguous float32 array, `index` the
first of 16 consecutive entries. A *word* has 64 lanes, whose comparisons fit one integer: it
takes a quarter of the instructions that a loop over four vectors does. Nothing checks bounds.
"""

from __future__ import annotations

from llvmlite import ir
from numba import types
from numba.core import cgutils
from numba.extending import intrinsic, models, register_model

__all__ = [
    "LANES",
    "WORD",
    "add",
    "any_lane",
    "at_least",
    "chosen",
    "count_bits",
    "crest",
    "either",
    "fill",
    "fill_wide",
    "fill_word",
    "first_lane",
    "greater",
    "largest",
    "load",
    "load_doubles",
    "load_part",
    "load_part_word",
    "load_wide",
    "load_word",
    "maximum",
    "minimum",
    "multiply",
    "nowhere",
    "peek",
    "poke",
    "prefetch",
    "publish",
    "published",
    "reach",
    "select",
    "sizes",
    "store",
    "subtract",
    "total",
    "unsound",
    "widen",
]

LANES = 16
WORD = 4 * LANES

_INT32, _INT64, _FLOAT, _DOUBLE = ir.IntType(32), ir.IntType(64), ir.FloatType(), ir.DoubleType()
_FLOATS = ir.VectorType(_FLOAT, LANES)
_WORD = ir.VectorType(_FLOAT, WORD)
_DOUBLES = ir.VectorType(_DOUBLE, LANES)
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
_word = _Vector("floats64", _WORD)
_doubles = _Vector("doubles16", _DOUBLES)
_mask = _Vector("mask16", _MASK)


def _place(context, builder, kind, array, index):
    data = cgutils.create_struct_proxy(kind)(context, builder, array).data
    return builder.gep(data, [index])


def _address(context, builder, kind, array, index, layout=_FLOATS):
    return builder.bitcast(_place(context, builder, kind, array, index), layout.as_pointer())


def _splat(builder, value, layout=_FLOATS):
    undefined = ir.Constant(layout, ir.Undefined)
    one = builder.insert_element(undefined, value, _INT32(0))
    zeros = ir.Constant(ir.VectorType(_INT32, layout.count), [0] * layout.count)
    return builder.shuffle_vector(one, undefined, zeros)


def _loader(layout):
    def build(context, builder, signature, given):
        place = _address(context, builder, signature.args[0], *given, layout)
        return builder.load(place, align=4)

    return build


def _part_loader(layout):
    count = layout.count

    def build(context, builder, signature, given):
        place = _address(context, builder, signature.args[0], *given[:2], layout)
        wide = ir.VectorType(_INT32, count)
        lanes = ir.Constant(wide, list(range(count)))
        inside = _splat(builder, builder.trunc(given[2], _INT32), wide)
        mask = builder.icmp_signed("<", lanes, inside)
        outside = ir.Constant(layout, [_NEGATIVE_INFINITY] * count)
        kind = ir.FunctionType(layout, [place.type, _INT32, mask.type, layout])
        masked = cgutils.get_or_insert_function(
            builder.module, kind, f"llvm.masked.load.v{count}f32.p0"
        )
        return builder.call(masked, [place, _INT32(4), mask, outside])

    return build


@intrinsic
def load(typing, array, index):
    """Return ``array[index : index + 16]``."""
    return _floats(array, types.int64), _loader(_FLOATS)


@intrinsic
def load_word(typing, array, index):
    """Return ``array[index : index + 64]``."""
    return _word(array, types.int64), _loader(_WORD)


@intrinsic
def load_wide(typing, array, index):
    """Return ``array[index : index + 16]``, float32, as float64."""

    def build(context, builder, signature, given):
        return builder.fpext(_loader(_FLOATS)(context, builder, signature, given), _DOUBLES)

    return _doubles(array, types.int64), build


@intrinsic
def load_doubles(typing, array, index):
    """Return ``array[index : index + 16]`` of a float64 array."""
    return _doubles(array, types.int64), _loader(_DOUBLES)


@intrinsic
def widen(typing, floats):
    """Return 16 float32 as float64."""

    def build(context, builder, signature, given):
        return builder.fpext(given[0], _DOUBLES)

    return _doubles(_floats), build


@intrinsic
def load_part(typing, array, index, count):
    """Return the first `count` lanes of ``array[index:]``, and ``-inf`` in the others."""
    return _floats(array, types.int64, types.int64), _part_loader(_FLOATS)


@intrinsic
def load_part_word(typing, array, index, count):
    """Return the first `count` of 64 lanes of ``array[index:]``, and ``-inf`` in the others."""
    return _word(array, types.int64, types.int64), _part_loader(_WORD)


@intrinsic
def peek(typing, array, index):
    """Return ``array[index]``; the index is not negative."""

    def build(context, builder, signature, given):
        return builder.load(_place(context, builder, signature.args[0], *given))

    return array.dtype(array, types.int64), build


@intrinsic
def poke(typing, array, index, value):
    """Set ``array[index] = value``; the index is not negative."""

    def build(context, builder, signature, given):
        builder.store(given[2], _place(context, builder, signature.args[0], *given[:2]))
        return context.get_dummy_value()

    return types.void(array, types.int64, array.dtype), build


@intrinsic
def prefetch(typing, array, index):
    """Ask for ``array[index]`` to be brought near; it need not exist."""

    def build(context, builder, signature, given):
        place = _place(context, builder, signature.args[0], *given)
        place = builder.bitcast(place, ir.IntType(8).as_pointer())
        kind = ir.FunctionType(ir.VoidType(), [place.type, _INT32, _INT32, _INT32])
        fetch = cgutils.get_or_insert_function(builder.module, kind, "llvm.prefetch.p0")
        builder.call(fetch, [place, _INT32(0), _INT32(3), _INT32(1)])
        return context.get_dummy_value()

    return types.void(array, types.int64), build


@intrinsic
def store(typing, array, index, floats):
    """Write all lanes to ``array[index : index + 16]``, or 64."""

    def build(context, builder, signature, given):
        place = _address(context, builder, signature.args[0], *given[:2], floats.layout)
        builder.store(given[2], place, align=4)
        return context.get_dummy_value()

    return types.void(array, types.int64, floats), build


@intrinsic
def fill(typing, value):
    """Return `value` in all lanes."""

    def build(context, builder, signature, given):
        return _splat(builder, given[0])

    return _floats(types.float32), build


@intrinsic
def fill_word(typing, value):
    """Return `value` in all 64 lanes."""

    def build(context, builder, signature, given):
        return _splat(builder, given[0], _WORD)

    return _word(types.float32), build


@intrinsic
def fill_wide(typing, value):
    """Return `value`, float64, in all 16 lanes."""

    def build(context, builder, signature, given):
        return _splat(builder, given[0], _DOUBLES)

    return _doubles(types.float64), build


@intrinsic
def add(typing, left, right):
    """Return ``left + right``, lane by lane."""

    def build(context, builder, signature, given):
        return builder.fadd(*given)

    return left(left, left), build


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

    return left(left, left), build


@intrinsic
def maximum(typing, left, right):
    """Return the larger of the two, lane by lane; `right` where `left` is NaN."""

    def build(context, builder, signature, given):
        return _larger(builder, *given)

    return left(left, left), build


@intrinsic
def minimum(typing, left, right):
    """Return the smaller of the two, lane by lane; `right` where `left` is NaN."""

    def build(context, builder, signature, given):
        return _smaller(builder, *given)

    return left(left, left), build


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


def _quarters(builder, word):
    for first in range(0, WORD, LANES):
        lanes = ir.Constant(ir.VectorType(_INT32, LANES), list(range(first, first + LANES)))
        yield builder.shuffle_vector(word, word, lanes)


@intrinsic
def crest(typing, word):
    """Return the largest of lanes k, k + 16, k + 32 and k + 48 of a word, for 16 k."""

    def build(context, builder, signature, given):
        first, second, third, fourth = _quarters(builder, given[0])
        left, right = _larger(builder, first, second), _larger(builder, third, fourth)
        return _larger(builder, left, right)

    return _floats(_word), build


@intrinsic
def total(typing, word):
    """Return the sum of lanes k, k + 16, k + 32 and k + 48 of a word, for 16 k."""

    def build(context, builder, signature, given):
        first, second, third, fourth = _quarters(builder, given[0])
        return builder.fadd(builder.fadd(first, second), builder.fadd(third, fourth))

    return _floats(_word), build


@intrinsic
def sizes(typing, word):
    """Return the sum of the sizes of lanes k, k + 16, k + 32 and k + 48 of a word, for 16 k.

    ``-inf`` counts as 0, so that what is forbidden or behind the last label does not show.
    """

    def build(context, builder, signature, given):
        kind = ir.FunctionType(_WORD, [_WORD])
        size_of = cgutils.get_or_insert_function(builder.module, kind, f"llvm.fabs.v{WORD}f32")
        forbidden = ir.Constant(_WORD, [_NEGATIVE_INFINITY] * WORD)
        is_legal = builder.fcmp_unordered("!=", given[0], forbidden)
        nothing = ir.Constant(_WORD, [0.0] * WORD)
        absolute = builder.select(is_legal, builder.call(size_of, given), nothing)
        first, second, third, fourth = _quarters(builder, absolute)
        return builder.fadd(builder.fadd(first, second), builder.fadd(third, fourth))

    return _floats(_word), build


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
        bits = builder.bitcast(mask, ir.IntType(left.layout.count))
        return builder.zext(bits, _INT64) if bits.type != _INT64 else bits

    return types.int64(left, left), build


@intrinsic
def chosen(typing, bits, word):
    """Return the lanes of a word whose bits are set, ``-inf`` in the others."""

    def build(context, builder, signature, given):
        mask = builder.bitcast(given[0], ir.VectorType(ir.IntType(1), WORD))
        return builder.select(mask, given[1], ir.Constant(_WORD, [_NEGATIVE_INFINITY] * WORD))

    return _word(types.int64, _word), build


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


@intrinsic
def count_bits(typing, bits):
    """Return how many bits of an integer are set."""

    def build(context, builder, signature, given):
        return builder.ctpop(given[0])

    return types.int64(types.int64), build


@intrinsic
def publish(typing, flags, index):
    """Set ``flags[index]`` (uint8) so that no thread sees it before what was written first."""

    def build(context, builder, signature, given):
        place = _place(context, builder, signature.args[0], *given)
        builder.store_atomic(ir.Constant(ir.IntType(8), 1), place, "release", align=1)
        return context.get_dummy_value()

    return types.void(flags, types.int64), build


@intrinsic
def published(typing, flags, index):
    """Return whether ``flags[index]`` is set; what was written before it is then visible."""

    def build(context, builder, signature, given):
        place = _place(context, builder, signature.args[0], *given)
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
