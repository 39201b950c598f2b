"""One step of an LSTM, after its products of matrices."""

from __future__ import annotations

import numpy as np

from ....jit import jit


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


@jit(fastmath=frozenset({"nsz", "contract"}), error_model="numpy")
def step(inputs, recurrent, bias, states, cells, places, output):
    """Go one token on in each sequence that still runs.

    **Shape**: inputs float32 (sequences, 4 * width), the products of the tokens in the order of
    input, forget, output and candidate; recurrent float32 (sequences or more, 4 * width), those of
    the states; bias float32 (4 * width,); states and cells float32 (sequences or more, width),
    changed in place; places int64 (sequences,), the rows of output float32 (tokens, width or more)
    that are written.
    """
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
