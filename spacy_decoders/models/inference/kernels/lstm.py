"""One step of an LSTM in both directions, after its products of matrices."""

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
def step(inputs, recurrent, bias, begins, ends, t, running, states, cells, output):
    """Go one token on in each sequence, from the left and from the right.

    **Shape**: inputs float32 (tokens, 8 * width), the products of the tokens, those of the
    direction from the left first, each in the order of input, forget, output and candidate;
    recurrent float32 (2, sequences or more, 4 * width), those of the states; bias float32 (8 *
    width,); begins and ends int64 (sequences,), the longest first, of which `running` have a
    token t; states and cells float32 (2, sequences or more, width), changed in place; output
    float32 (tokens, 2 * width), written.
    """
    width, half = states.shape[2], np.float32(0.5)
    gates = np.empty(4 * width, np.float32)
    for d in range(2):
        shift = bias[d * 4 * width : (d + 1) * 4 * width]
        for s in range(running):
            token = begins[s] + t if d == 0 else ends[s] - 1 - t
            given, more = inputs[token, d * 4 * width : (d + 1) * 4 * width], recurrent[d, s]
            for j in range(3 * width):
                gates[j] = _tanh((given[j] + more[j] + shift[j]) * half) * half + half
            for j in range(3 * width, 4 * width):
                gates[j] = _tanh(given[j] + more[j] + shift[j])
            state, cell = states[d, s], cells[d, s]
            for j in range(width):
                cell[j] = gates[j] * gates[3 * width + j] + gates[width + j] * cell[j]
                state[j] = gates[2 * width + j] * _tanh(cell[j])
            into = output[token, d * width : (d + 1) * width]
            for j in range(width):
                into[j] = state[j]
