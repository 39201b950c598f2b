"""The recurrent steps of an LSTM, given the products of its inputs."""

import numpy as np
from numba.core.codegen import get_host_cpu_features

from ....jit import internal, jit
from ....simd import add, fill8, fill16, load8, load16, multiply, peek, store
from .tiles import multiply as multiply_tiles

_FAST = frozenset({"nsz", "contract"})

#: The lanes of a register: with twice as many, too few registers would be left for the sums.
_LANES = 16 if "+avx512f" in get_host_cpu_features() else 8
_load, _fill = (load16, fill16) if _LANES == 16 else (load8, fill8)
#: The number of columns of a panel.
PANEL = 2 * _LANES


@jit(inline="always", error_model="numpy")
def _tanh(x):
    """Return tanh, precise to about two units in the last place.

    A quotient of polynomials, as in Eigen: without a table or a branch, so that loops are
    vectorised. Beyond the limits, tanh rounds to 1.
    """
    limit = np.float32(7.90531110763549805)
    x = x if x < limit else limit  # not min(): LLVM vectorises a select
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


@jit(error_model="numpy")
def pack(weights, begin, columns, panels):
    """Copy columns of a matrix to panels, each of which is read sequentially.

    **Shape**: weights float32 (inner, all columns), of which `columns` from `begin` on are copied;
    panels float32 (columns / :data:`PANEL`, rounded up, inner, :data:`PANEL`), written, initially
    0, as they stay beyond the columns.
    """
    for k in range(len(weights)):
        for panel in range(len(panels)):
            first = panel * PANEL
            for j in range(min(PANEL, columns - first)):
                panels[panel, k, j] = weights[k, begin + first + j]


@jit(inline="always")
def _added(sums, factor, left, right):
    """Add the products of a scalar with two vectors to the sums of a row."""
    return add(multiply(factor, left), sums[0]), add(multiply(factor, right), sums[1])


@jit(inline="always")
def _store(sums, out, at):
    store(out, at, sums[0])
    store(out, at + _LANES, sums[1])


@internal(fastmath=_FAST, error_model="numpy")
def _multiply(rows, panels, out):
    """Write ``rows @ weights``, where the sums of a row do not depend on other rows.

    BLAS takes as long for one row as for eight. The sums of four rows and a panel's columns stay
    in registers; if there are fewer rows at the end, the last one is repeated.
    """
    count, inner = rows.shape
    columns = out.shape[1]
    zero = _fill(np.float32(0.0)), _fill(np.float32(0.0))
    for panel in range(len(panels)):
        column = panel * PANEL
        for row in range(0, count, 4):
            a, b = row * inner, min(row + 1, count - 1) * inner
            c, d = min(row + 2, count - 1) * inner, min(row + 3, count - 1) * inner
            of_a = of_b = of_c = of_d = zero
            at = column * inner
            for k in range(inner):
                left, right = _load(panels, at), _load(panels, at + _LANES)
                of_a = _added(of_a, _fill(peek(rows, a + k)), left, right)
                of_b = _added(of_b, _fill(peek(rows, b + k)), left, right)
                of_c = _added(of_c, _fill(peek(rows, c + k)), left, right)
                of_d = _added(of_d, _fill(peek(rows, d + k)), left, right)
                at += PANEL
            _store(of_d, out, min(row + 3, count - 1) * columns + column)
            _store(of_c, out, min(row + 2, count - 1) * columns + column)
            _store(of_b, out, min(row + 1, count - 1) * columns + column)
            _store(of_a, out, row * columns + column)


@internal(counted=True, fastmath=_FAST, error_model="numpy")
def _multiply_rows(rows, weights, begin, out, columns):
    """Write the same, bit for bit, from weights that are not in panels."""
    for i in range(len(rows)):
        into = out[i]
        for j in range(columns):
            into[j] = 0.0
        for k in range(rows.shape[1]):
            factor, row = rows[i, k], weights[k, begin : begin + columns]
            for j in range(columns):
                into[j] += factor * row[j]


@internal(counted=True, fastmath=_FAST, error_model="numpy")
def _step(inputs, recurrent, bias, states, cells, places, output):
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
        state, cell, into = states[s], cells[s], output[places[s]]
        for j in range(width):
            cell[j] = gates[j] * gates[3 * width + j] + gates[width + j] * cell[j]
            state[j] = gates[2 * width + j] * _tanh(cell[j])
        for j in range(width):
            into[j] = state[j]


@jit(fastmath=_FAST, error_model="numpy")
def run(
    inputs, offsets, weights, begin, panels, tiles, bias, recurrent, states, cells, places, output
):
    """Advance each sequence that is still active by some tokens.

    **Shape**: inputs float32 (tokens, 4 * width), the products of the tokens, step by step, for
    the input, forget and output gates and the candidate; offsets int64 (steps + 1,), where the
    tokens of each step begin, 0 at the first step of all; weights float32 (width, all columns),
    the recurrent weights, of which `4 * width` columns from `begin` on are used; panels, the same
    from :func:`pack`, or empty for none; tiles, the same for :func:`.tiles.multiply`, which is
    then used instead, or None; bias float32 (4 * width,); recurrent float32 (sequences, 4 *
    width), both rounded up to multiples of 32, a workspace; states and cells float32 (sequences,
    width), changed in place; all three are initially 0; places int64 (tokens,), the rows of output
    float32 (all tokens, width or more) that are written.
    """
    for step in range(len(offsets) - 1):
        first, last = offsets[step] - offsets[0], offsets[step + 1] - offsets[0]
        if offsets[step] > 0:
            before = states[: last - first]
            if tiles is not None:
                multiply_tiles(before, tiles[0], tiles[1], tiles[2], recurrent)
            elif len(panels):
                _multiply(before, panels, recurrent)
            else:
                _multiply_rows(before, weights, begin, recurrent, len(bias))
        _step(inputs[first:last], recurrent, bias, states, cells, places[first:last], output)
