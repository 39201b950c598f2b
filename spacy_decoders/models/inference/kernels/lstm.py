"""The recurrent steps of an LSTM, given the products of its inputs."""

import numpy as np

from ....jit import internal, jit
from .panels import multiply_panels
from .tiles import multiply as multiply_tiles

_FAST = frozenset({"nsz", "contract"})


@jit(inline="always", error_model="numpy")
def _tanh(x):
    """Return tanh, precise to about two units in the last place.

    A quotient of polynomials, as in Eigen: without a table or a branch, so that loops are
    vectorised. Beyond the limits, tanh rounds to 1. NaN stays NaN.
    """
    limit = np.float32(7.90531110763549805)
    x = limit if x > limit else x  # not min(): LLVM vectorises a select
    x = -limit if x < -limit else x
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


@internal(counted=True, fastmath=_FAST, error_model="numpy")
def _step(inputs, recurrent, bias, states, cells, places, output, column):
    """Advance each sequence that is still active by one token."""
    width, one = len(bias) // 4, np.float32(1.0)
    gates = np.empty(4 * width, np.float32)
    for s in range(len(inputs)):
        given, more = inputs[s], recurrent[s]
        for gate in range(4):
            # sigmoid(x) = (tanh(x / 2) + 1) / 2; the last gate, the candidate, is a tanh. LLVM
            # vectorises this loop over one gate, but not over three
            scale = np.float32(0.5) if gate < 3 else one
            for j in range(gate * width, (gate + 1) * width):
                found = _tanh((given[j] + more[j] + bias[j]) * scale)
                gates[j] = found * scale + (one - scale)
        state, cell, into = states[s], cells[s], output[places[s], column:]
        for j in range(width):
            cell[j] = gates[j] * gates[3 * width + j] + gates[width + j] * cell[j]
            state[j] = gates[2 * width + j] * _tanh(cell[j])
        for j in range(width):
            into[j] = state[j]


@jit(fastmath=_FAST, error_model="numpy")
def run(inputs, offsets, panels, tiles, bias, recurrent, states, cells, places, output, column):
    """Advance each sequence that is still active by some tokens.

    **Shape**: inputs float32 (tokens, 4 * width), the products of the tokens, step by step, for
    the input, forget and output gates and the candidate; offsets int64 (steps + 1,), where the
    tokens of each step begin, 0 at the first step of all; the recurrent weights either in panels,
    with their factors, for :func:`.multiply_panels`, or in tiles, for :func:`.tiles.multiply`, and
    None for the other; bias float32 (4 * width,); recurrent float32 (sequences, 4 * width), both
    rounded up to multiples of 32, a workspace; states and cells float32 (sequences, width),
    changed in place; all three are initially 0; places int64 (tokens,), the rows of output float32
    (all tokens, column + width or more) that are written, from `column` on.
    """
    for step in range(len(offsets) - 1):
        first, last = offsets[step] - offsets[0], offsets[step + 1] - offsets[0]
        if offsets[step] > 0:
            before = states[: last - first]
            if panels is not None:
                multiply_panels(before, panels[0], panels[1], recurrent)
            if tiles is not None:
                multiply_tiles(before, tiles, recurrent)
        read = places[first:last]
        _step(inputs[first:last], recurrent, bias, states, cells, read, output, column)
