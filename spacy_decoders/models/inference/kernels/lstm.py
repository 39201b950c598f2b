"""The steps of an LSTM, after the products of its inputs."""

import numpy as np

from ....jit import internal, jit
from ....simd import add, fill16, load16, multiply, peek, store
from .tiles import multiply as multiply_tiles

_FAST = frozenset({"nsz", "contract"})


@jit(inline="always", error_model="numpy")
def _tanh(x):
    """Return tanh to about two units of the last place.

    A quotient of odd polynomials, as in Eigen: no table and no branch, so that loops are
    vectorised. Beyond the limits tanh is 1 to the last place.
    """
    limit = np.float32(7.90531110763549805)
    x = x if x < limit else limit  # not min(): LLVM vectorises a choice
    x = x if x > -limit else -limit
    s = x * x
    p = s * np.float32(-2.76076847742355e-16) + np.float32(2.00018790482477e-13)
    p = s * p + np.float32(-8.60467152213735e-11)
    p = s * p + np.float32(5.12229709037114e-08)
    p = s * p + np.float32(1.48572235717979e-05)
    p = s * p + np.float32(6.37261928875436e-04)
    p = s * p + np.float32(4.89352455891786e-03)
    q = s * np.float32(1.19825839466702e-06) + np.float32(1.18534705686654e-04)
    q = s * q + np.float32(2.26843463243900e-03)
    q = s * q + np.float32(4.89352518554385e-03)
    return x * p / q


@jit(inline="always")
def _eight(values, at):
    """Return eight numbers, each in all lanes of a vector."""
    a, b = fill16(peek(values, at)), fill16(peek(values, at + 1))
    c, d = fill16(peek(values, at + 2)), fill16(peek(values, at + 3))
    e, f = fill16(peek(values, at + 4)), fill16(peek(values, at + 5))
    return a, b, c, d, e, f, fill16(peek(values, at + 6)), fill16(peek(values, at + 7))


@jit(inline="always")
def _added(total, factors, weights, at, stride):
    """Add the products of eight numbers and as many rows of weights to a sum, one by one."""
    total = add(multiply(factors[0], load16(weights, at)), total)
    total = add(multiply(factors[1], load16(weights, at + stride)), total)
    total = add(multiply(factors[2], load16(weights, at + 2 * stride)), total)
    total = add(multiply(factors[3], load16(weights, at + 3 * stride)), total)
    total = add(multiply(factors[4], load16(weights, at + 4 * stride)), total)
    total = add(multiply(factors[5], load16(weights, at + 5 * stride)), total)
    total = add(multiply(factors[6], load16(weights, at + 6 * stride)), total)
    return add(multiply(factors[7], load16(weights, at + 7 * stride)), total)


@internal(fastmath=_FAST, error_model="numpy")
def _multiply(rows, weights, begin, out):
    """Write ``rows @ weights[:, begin:]``: each row's sums do not depend on the others.

    BLAS takes as long for a single row as for eight. Eight rows of weights at a time are read in
    the order of memory, for two rows at once, the last one twice where the number is odd.
    """
    count, inner = rows.shape
    stride, columns = weights.shape[1], out.shape[1]
    out[:count] = 0.0
    for k in range(0, inner, 8):
        for upper in range(0, count, 2):
            lower = min(upper + 1, count - 1)
            of_upper, of_lower = _eight(rows, upper * inner + k), _eight(rows, lower * inner + k)
            for column in range(0, columns, 16):
                at = k * stride + begin + column
                first, second = upper * columns + column, lower * columns + column
                total = _added(load16(out, first), of_upper, weights, at, stride)
                other = _added(load16(out, second), of_lower, weights, at, stride)
                store(out, first, total)
                store(out, second, other)


@internal(counted=True, fastmath=_FAST, error_model="numpy")
def _step(inputs, recurrent, bias, states, cells, places, output):
    """Go one token on in each sequence that still runs."""
    width, half = len(bias) // 4, np.float32(0.5)
    gates = np.empty(4 * width, np.float32)
    for s in range(len(inputs)):
        given, more = inputs[s], recurrent[s]
        for j in range(3 * width):
            gates[j] = _tanh((given[j] + more[j] + bias[j]) * half) * half + half
        for j in range(3 * width, 4 * width):
            gates[j] = _tanh(given[j] + more[j] + bias[j])
        state, cell, into = states[s], cells[s], output[places[s]]
        for j in range(width):
            cell[j] = gates[j] * gates[3 * width + j] + gates[width + j] * cell[j]
            state[j] = gates[2 * width + j] * _tanh(cell[j])
        for j in range(width):
            into[j] = state[j]


@jit(fastmath=_FAST, error_model="numpy")
def run(inputs, offsets, weights, begin, tiles, bias, recurrent, states, cells, places, output):
    """Go some tokens on in each sequence that still runs.

    **Shape**: inputs float32 (tokens, 4 * width), the products of the tokens in the order of
    input, forget, output and candidate, step by step; offsets int64 (steps + 1,), where each
    step's tokens begin, 0 before the very first; weights float32 (inner, columns), those of the
    states from column `begin` on, 0 beyond `width` rows, where `inner` is a multiple of 8; tiles,
    what :func:`.tiles.multiply` takes of them, or None; bias float32 (4 * width,); recurrent
    float32 (sequences, 4 * width), both sizes rounded up to multiples of 32, so many columns as
    there are at least from `begin` on, overwritten; states and cells float32 (sequences, inner),
    changed in place; all three are 0 before the very first step; places int64 (tokens,), the rows
    of output float32 (all tokens, width or more) that are written.
    """
    for step in range(len(offsets) - 1):
        first, last = offsets[step] - offsets[0], offsets[step + 1] - offsets[0]
        if offsets[step] > 0:
            before = states[: last - first]
            if tiles is None:
                _multiply(before, weights, begin, recurrent)
            else:
                multiply_tiles(before, tiles[0], tiles[1], tiles[2], recurrent)
        _step(inputs[first:last], recurrent, bias, states, cells, places[first:last], output)
