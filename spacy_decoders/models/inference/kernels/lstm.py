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


@internal(fastmath=_FAST, error_model="numpy")
def _multiply(rows, weights, out):
    """Write ``rows @ weights``: each row's sums do not depend on the others.

    BLAS takes as long for a single row as for eight. Sums of two rows and 32 columns at a time
    stay in registers, the last row's twice where the number is odd.
    """
    count, (inner, columns) = len(rows), weights.shape
    for first in range(0, columns, 32):
        for upper in range(0, count, 2):
            lower = min(upper + 1, count - 1)
            a = b = c = d = fill16(np.float32(0.0))
            at = first
            for k in range(inner):
                left, right = load16(weights, at), load16(weights, at + 16)
                x = fill16(peek(rows, upper * inner + k))
                y = fill16(peek(rows, lower * inner + k))
                a, b = add(multiply(x, left), a), add(multiply(x, right), b)
                c, d = add(multiply(y, left), c), add(multiply(y, right), d)
                at += columns
            store(out, upper * columns + first, a)
            store(out, upper * columns + first + 16, b)
            store(out, lower * columns + first, c)
            store(out, lower * columns + first + 16, d)


@internal(counted=True, fastmath=_FAST, error_model="numpy")
def _step(inputs, recurrent, bias, states, cells, places, output):
    """Go one token on in each sequence that still runs."""
    width, half = states.shape[1], np.float32(0.5)
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
def run(inputs, offsets, weights, tiles, bias, recurrent, states, cells, places, output):
    """Go some tokens on in each sequence that still runs.

    **Shape**: inputs float32 (tokens, 4 * width), the products of the tokens in the order of
    input, forget, output and candidate, step by step; offsets int64 (steps + 1,), where each
    step's tokens begin, 0 before the very first; weights float32 (width, 4 * width or more, a
    multiple of 32), those of the states; tiles, what :func:`.tiles.multiply` takes of them, or
    None; bias float32 (4 * width,); recurrent float32 (sequences, a multiple of 32, columns of the
    weights), 0 before the very first step, overwritten; states and cells float32 (sequences,
    width), changed in place; places int64 (tokens,), the rows of output float32 (all tokens,
    width or more) that are written.
    """
    for step in range(len(offsets) - 1):
        first, last = offsets[step] - offsets[0], offsets[step + 1] - offsets[0]
        if offsets[step] > 0:
            before = states[: last - first]
            if tiles is None:
                _multiply(before, weights, recurrent)
            else:
                multiply_tiles(before, tiles[0], tiles[1], tiles[2], recurrent)
        _step(inputs[first:last], recurrent, bias, states, cells, places[first:last], output)
