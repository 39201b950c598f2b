"""Dense Viterbi over flat arrays, four sentences side by side.

A step of one sentence reads all transitions, which for some hundred labels is limited by cache
bandwidth; four sentences in lockstep read them once. Arrays are laid out as :mod:`.layout` says.
"""

import numpy as np
from llvmlite import ir
from numba import types
from numba.core import cgutils
from numba.extending import intrinsic

from ....jit import jit
from ....simd import (
    add,
    at_least,
    broadcast,
    fill16,
    first_lane,
    largest,
    load16,
    maximum,
    place_of,
    store,
    subtract,
)
from .layout import BLOCK, FORBIDDEN, LANES, emissions16

__all__ = ["decode"]

CHAINS = 4

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


def _sweeper(chains):
    @jit()
    def sweep(names, scores, transitions, reached, stride):
        """Set reached[c, y] to the best of scores[c, x] + transitions[x, y], for each chain c."""
        size = len(names)
        y = 0
        while y + BLOCK <= stride:
            reach(names, scores, 0, size, transitions, y, reached, y, stride, chains, 4)
            y += BLOCK
        vectors = (stride - y) // LANES
        if vectors == 3:
            reach(names, scores, 0, size, transitions, y, reached, y, stride, chains, 3)
        elif vectors == 2:
            reach(names, scores, 0, size, transitions, y, reached, y, stride, chains, 2)
        elif vectors == 1:
            reach(names, scores, 0, size, transitions, y, reached, y, stride, chains, 1)

    return sweep


sweep_one = _sweeper(1)
sweep_four = _sweeper(CHAINS)


@jit()
def decode(transitions, transposed, end, emissions, offsets, size, chosen, labels):
    """Decode some sentences of a batch.

    Parameters
    ----------
    transposed
        **Shape (size * stride,)**: column y of the transitions as row y.
    chosen
        The numbers of the sentences to decode.
    labels
        Filled in: **shape (total,)**, int32.

    Returns
    -------
    Whether a sentence seems to have no legal labelling; later ones are not decoded.
    """
    stride = len(end)
    longest = 0
    filled = 0
    for s in chosen:
        longest = max(longest, offsets[s + 1] - offsets[s])
        filled += offsets[s + 1] > offsets[s]
    names = np.arange(size)
    # a chain is a slot of the lockstep: its sentence, next token, and history
    chains = min(CHAINS, filled)
    history = np.empty(chains * longest * stride, np.float32)
    scores = np.zeros(CHAINS * stride, np.float32)
    reached = np.zeros(CHAINS * stride, np.float32)
    sentences = np.zeros(CHAINS, np.int64)
    tokens = np.zeros(CHAINS, np.int64)
    homes = np.arange(CHAINS) * longest * stride
    upcoming = 0
    active = 0
    while True:
        while active < chains and upcoming < len(chosen):
            s = chosen[upcoming]
            if offsets[s + 1] > offsets[s]:
                sentences[active], tokens[active] = s, 0
                active += 1
            upcoming += 1
        if active == 0:
            return False
        if active == 1:
            sweep_one(names, scores, transitions, reached, stride)
        else:
            sweep_four(names, scores, transitions, reached, stride)
        c = 0
        while c < active:
            s, i = sentences[c], tokens[c]
            n = offsets[s + 1] - offsets[s]
            source, origin = (transitions, size * stride) if i == 0 else (reached, c * stride)
            peak = fill16(FORBIDDEN)
            for vector in range(0, stride, LANES):
                value = emissions16(emissions, (offsets[s] + i) * size, vector, size)
                value = add(load16(source, origin + vector), value)
                if i == n - 1:
                    value = add(value, load16(end, vector))
                store(reached, c * stride + vector, value)
                peak = maximum(value, peak)
            top = largest(peak)
            if not (FORBIDDEN < top < np.inf):
                return True
            for vector in range(0, stride, LANES):
                value = subtract(load16(reached, c * stride + vector), fill16(top))
                store(scores, c * stride + vector, value)
                store(history, homes[c] + i * stride + vector, value)
            tokens[c] += 1
            if tokens[c] < n:
                c += 1
                continue
            work = c * stride
            trace(history, homes[c], transposed, reached, work, labels, offsets[s], n, stride)
            # the last chain moves to the free slot
            active -= 1
            sentences[c], tokens[c] = sentences[active], tokens[active]
            homes[c], homes[active] = homes[active], homes[c]
            for vector in range(0, stride, LANES):
                store(scores, c * stride + vector, load16(scores, active * stride + vector))
                store(reached, c * stride + vector, load16(reached, active * stride + vector))


@jit()
def trace(history, home, transposed, work, at, labels, begin, n, stride):
    """Follow the best labelling back from the last token."""
    for vector in range(0, stride, LANES):
        store(work, at + vector, load16(history, home + (n - 1) * stride + vector))
    peak = np.float32(0)
    for i in range(n - 1, -1, -1):
        y = first(work, at, peak, stride)
        labels[begin + i] = y
        if i == 0:
            return
        best = fill16(FORBIDDEN)
        for vector in range(0, stride, LANES):
            value = add(
                load16(history, home + (i - 1) * stride + vector),
                load16(transposed, y * stride + vector),
            )
            store(work, at + vector, value)
            best = maximum(value, best)
        peak = largest(best)


@jit(inline="always")
def first(work, at, peak, stride):
    """Return the first label whose score reaches `peak`."""
    for block in range(0, stride, BLOCK):
        bits = np.int64(0)
        for vector in range(block, min(block + BLOCK, stride), LANES):
            bits |= at_least(load16(work, at + vector), fill16(peak)) << (vector - block)
        if bits:
            return block + first_lane(bits)
    return np.int64(-1)
