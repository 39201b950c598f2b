"""Messages from some labels to blocks of labels, for one or four sentences: all in registers."""

from llvmlite import ir
from numba import types
from numba.core import cgutils
from numba.extending import intrinsic

from ....simd import broadcast, place_of

__all__ = ["reach"]

_INT64 = ir.IntType(64)
_VECTOR = ir.VectorType(ir.FloatType(), 16)


def _pointer(context, builder, kind, array, index):
    return builder.bitcast(place_of(context, builder, kind, array, index), _VECTOR.as_pointer())


@intrinsic(prefer_literal=True)
def reach(typing, names, scores, first, past, table, column, out, place, stride, chains, vectors):
    """Write the best messages to 16 times `vectors` labels, for `chains` sentences.

    For each sentence s and each y in ``[0, 16 * vectors)``::

        out[s * stride + place + y] = max over k in [first, past)
            of (scores[s * stride + k] + table[names[k] * stride + column + y])

    `chains` and `vectors` are literals, so that all running maxima stay in registers and each
    part of the table is loaded once for all sentences. In numba's own code LLVM keeps the
    maxima of so many sentences in memory.
    """
    sentences, width = chains.literal_value, vectors.literal_value

    def build(context, builder, signature, given):
        kinds = signature.args
        names, scores, first, past, table, column, out, place, stride = given[:9]
        nothing = ir.Constant(_VECTOR, [float("-inf")] * 16)
        best = [
            [cgutils.alloca_once_value(builder, nothing) for _ in range(width)]
            for _ in range(sentences)
        ]
        begins = [builder.mul(stride, _INT64(s)) for s in range(sentences)]
        with cgutils.for_range_slice(builder, first, past, _INT64(1), _INT64) as (k, _):
            name = builder.load(place_of(context, builder, kinds[0], names, k))
            row = builder.add(builder.mul(name, stride), column)
            steps = []
            for vector in range(width):
                at = builder.add(row, _INT64(vector * 16))
                step = _pointer(context, builder, kinds[4], table, at)
                steps.append(builder.load(step, align=4))
            for begin, maxima in zip(begins, best, strict=True):
                at = builder.add(begin, k)
                score = builder.load(place_of(context, builder, kinds[1], scores, at))
                score = broadcast(builder, score, _VECTOR)
                for step, running in zip(steps, maxima, strict=True):
                    reached, most = builder.fadd(score, step), builder.load(running)
                    larger = builder.fcmp_ordered(">", reached, most)
                    builder.store(builder.select(larger, reached, most), running)
        for begin, maxima in zip(begins, best, strict=True):
            for vector, running in enumerate(maxima):
                at = builder.add(builder.add(begin, place), _INT64(vector * 16))
                target = _pointer(context, builder, kinds[6], out, at)
                builder.store(builder.load(running), target, align=4)
        return context.get_dummy_value()

    int64 = types.int64
    arguments = (names, scores, int64, int64, table, int64, out, int64, int64, chains, vectors)
    return types.void(*arguments), build
