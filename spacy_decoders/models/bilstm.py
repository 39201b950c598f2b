"""A bidirectional LSTM.

Sequences are sorted by length, so that those still active at a step are always a prefix: nothing
is padded, and the inputs of all steps of a direction take one matrix product.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from itertools import pairwise
from typing import Any, cast

import numpy as np
from numpy.typing import NDArray
from thinc.api import Model, glorot_uniform_init
from thinc.types import Floats2d

from ..arrays import Floats32
from .inference.products import Multiplier, padded

__all__ = ["BiLSTM"]

#: The number of tokens whose inputs are multiplied at once.
_BLOCK = 256

Sequences = list[Floats2d]


def BiLSTM(width: int, lstm_width: int) -> Model[Sequences, Sequences]:
    """A bidirectional LSTM layer, which concatenates the states of both directions.

    Takes and returns a list of arrays, with a row for each token. `width` is the width of the
    input, `lstm_width` the size of the state of each direction: the output has twice as many
    columns.

    thinc's own LSTM is no substitute: its gradients differ from finite differences by half of
    their size.

    References
    ----------
    .. [1] S. Hochreiter, J. Schmidhuber. "Long Short-Term Memory". Neural Computation, 1997.

    Examples
    --------
    >>> layer = BiLSTM(width=3, lstm_width=4)
    >>> _ = layer.initialize()
    >>> [states.shape for states in layer.predict([np.ones((2, 3), "f"), np.ones((5, 3), "f")])]
    [(2, 8), (5, 8)]
    """
    return Model(
        "bilstm",
        _forward,
        init=_init,
        dims={"nI": width, "nH": lstm_width, "nO": 2 * lstm_width},
        params={"W": None, "U": None, "b": None},
    )


def _init(
    model: Model[Sequences, Sequences], X: Sequences | None = None, Y: object = None
) -> None:
    inputs, width = model.get_dim("nI"), model.get_dim("nH")
    ops: Any = model.ops
    model.set_param("W", glorot_uniform_init(ops, (inputs, 8 * width)))
    # each gate's recurrent block is initially orthogonal, which preserves the norm of the state
    rng = np.random.default_rng(int(np.random.randint(2**31)))  # noqa: NPY002 - the run's seed
    blocks = np.linalg.qr(rng.normal(size=(2, 4, width, width)))[0]
    model.set_param("U", ops.asarray2f(np.hstack(list(np.concatenate(blocks))).astype("f")))
    bias = np.zeros((2, 4, width), dtype="f")
    bias[:, 1] = 1.0  # the forget gate is initially open
    model.set_param("b", ops.asarray1f(bias.ravel()))


def _in_steps(lengths: Sequence[int]) -> tuple[NDArray[np.intp], NDArray[np.intp]]:
    """Return the tokens in the order of steps.

    These are the token at each place in this order, from the left and from the right, (2, tokens);
    and where the tokens of each step begin, (steps + 1,).
    """
    sizes = np.asarray(lengths, dtype=np.intp)
    ends = np.cumsum(sizes)
    order = np.argsort(-sizes, kind="stable")
    # (steps, sequences): whether the sequence is still active
    running = np.arange(sizes.max(initial=0))[:, None] < sizes[order]
    steps, which = np.nonzero(running)
    sequence = order[which]
    left = ends[sequence] - sizes[sequence] + steps
    right = ends[sequence] - 1 - steps
    return np.stack([left, right]), np.append(0, np.cumsum(running.sum(axis=1)))


def _forward(
    model: Model[Sequences, Sequences], X: Sequences, is_train: bool
) -> tuple[Sequences, Callable[[Sequences], Sequences]]:
    ops: Any = model.ops
    width = model.get_dim("nH")
    lengths = [len(x) for x in X]
    inputs = ops.flatten(X) if X else ops.alloc2f(0, model.get_dim("nI"))
    if not is_train:
        found = _outputs(model, inputs, lengths)
        return ops.unflatten(found, lengths), lambda d_output: []
    bias: Any = model.get_param("b")
    places, offsets = _in_steps(lengths)
    # by direction, (2, inputs, 4 * width)
    W, U = (np.stack(np.hsplit(cast(Any, model.get_param(name)), 2)) for name in "WU")
    # (2, tokens, ...) in the order of steps: the inputs of the gates, and their pre-activations
    read = [inputs[rows] for rows in places]
    gates = np.empty((2, len(inputs), 4 * width), dtype="f")
    for d in (0, 1):
        np.dot(read[d], W[d], out=gates[d])
        gates[d] += bias[d * 4 * width : (d + 1) * 4 * width]
    states, cells, tanhs = _run(gates, U, offsets.tolist())
    output = np.empty((len(inputs), 2 * width), dtype="f")
    for d in (0, 1):
        output[places[d], d * width : (d + 1) * width] = states[d]

    def backprop(d_output: Sequences) -> Sequences:
        d_flat: Any = ops.flatten(d_output)
        d_states = np.stack([d_flat[places[d], d * width : (d + 1) * width] for d in (0, 1)])
        # the places of the previous states, for those after the first step
        sizes = np.diff(offsets)
        begun = sizes[:1].sum()
        previous = np.arange(begun, len(inputs)) - np.repeat(sizes[:-1], sizes[1:])
        d_gates = _run_back(d_states, gates, cells, tanhs, U, offsets.tolist())
        d_U = np.matmul(states[:, previous].transpose(0, 2, 1), d_gates[:, begun:])
        model.inc_grad("U", ops.asarray2f(np.hstack([d_U[0], d_U[1]])))
        d_W = [np.dot(read[d].T, d_gates[d]) for d in (0, 1)]
        model.inc_grad("W", ops.asarray2f(np.hstack(d_W)))
        model.inc_grad("b", ops.asarray1f(d_gates.sum(axis=1).ravel()))
        d_inputs = np.zeros_like(inputs)
        for d in (0, 1):  # each token occurs once in each direction
            d_inputs[places[d]] += np.dot(d_gates[d], W[d].T)
        return ops.unflatten(d_inputs, lengths)

    return ops.unflatten(output, lengths), backprop


def _outputs(
    model: Model[Sequences, Sequences], vectors: Floats32, lengths: Sequence[int]
) -> Floats32:
    """Return the states of both directions at each token, **shape (tokens, 2 * width)**.

    The `vectors` of all sequences are concatenated. The directions are computed one after the
    other, and inputs only a few steps before their states, so that they are still in the cache.
    """
    from .inference.kernels import lstm as kernels

    width, (places, offsets) = model.get_dim("nH"), _in_steps(lengths)
    bias: Any = model.get_param("b")
    columns, blocks = 4 * width, _blocks(offsets)
    most = offsets[1] if blocks else 0  # no step has more sequences than the first
    room = np.empty((padded(max(_BLOCK, most)), columns), dtype=np.float32)
    output = np.empty((len(vectors), 2 * width), dtype=np.float32)
    for d, rows in enumerate(places):
        own = slice(columns * d, columns * (d + 1))
        of_inputs = Multiplier.of(model, "W", own)
        of_states = Multiplier.of(model, "U", own, stepwise=True)
        recurrent = np.zeros((padded(most), padded(columns)), dtype=np.float32)
        states, cells = np.zeros((2, most, width), dtype=np.float32)
        weights = of_states.panels, of_states.tiles, bias[own]
        for first, last in blocks:
            read = rows[offsets[first] : offsets[last]]
            inputs = of_inputs.product(vectors[read], room)
            steps = offsets[first : last + 1]
            kernels.run(inputs, steps, *weights, recurrent, states, cells, read, output, d * width)
    return output


def _blocks(offsets: NDArray[np.intp]) -> list[tuple[int, int]]:
    """Return the ranges of steps whose inputs are multiplied at once."""
    found, last = [], 0
    while last < len(offsets) - 1:
        first = last
        within = int(np.searchsorted(offsets, offsets[first] + _BLOCK, side="right")) - 1
        last = max(first + 1, within)
        found.append((first, last))
    return found


def _run(gates: Floats32, U: Floats32, offsets: list[int]) -> tuple[Floats32, Floats32, Floats32]:
    """Run all steps; `gates`, initially the pre-activations, become the activations.

    Their order is input, forget, output, candidate.
    """
    width = U.shape[1]
    states = np.empty((2, gates.shape[1], width), dtype="f")
    cells, tanhs = np.empty_like(states), np.empty_like(states)
    before = 0
    for start, end in pairwise(offsets):
        gate = gates[:, start:end]
        if start:
            gate += np.matmul(states[:, before : before + end - start], U)
        # sigmoid(x) = (tanh(x / 2) + 1) / 2: one transcendental function for all, without overflow
        gate[..., : 3 * width] *= 0.5
        np.tanh(gate, out=gate)
        gate[..., : 3 * width] += 1.0
        gate[..., : 3 * width] *= 0.5
        cell = cells[:, start:end]
        np.multiply(gate[..., :width], gate[..., 3 * width :], out=cell)
        if start:
            cell += gate[..., width : 2 * width] * cells[:, before : before + end - start]
        np.tanh(cell, out=tanhs[:, start:end])
        np.multiply(
            gate[..., 2 * width : 3 * width], tanhs[:, start:end], out=states[:, start:end]
        )
        before = start
    return states, cells, tanhs


def _run_back(
    d_states: Floats32,
    gates: Floats32,
    cells: Floats32,
    tanhs: Floats32,
    U: Floats32,
    offsets: list[int],
) -> Floats32:
    """Return the gradients of all pre-activations, by backpropagation through time."""
    width = U.shape[1]
    U_transposed = np.ascontiguousarray(U.transpose(0, 2, 1))
    i, f, o, g = (gates[..., k * width : (k + 1) * width] for k in range(4))
    # factors that do not depend on later steps are computed for all steps at once
    d_gates = np.empty_like(gates)
    d_cell_of_state = o * (1.0 - tanhs * tanhs)
    slopes = gates * (1.0 - gates)
    slopes[..., 3 * width :] = 1.0 - g * g
    d_cells = np.zeros_like(cells)
    steps = list(pairwise(offsets))
    for step in range(len(steps) - 1, -1, -1):
        start, end = steps[step]
        d_state = d_states[:, start:end]
        d_cell = d_cells[:, start:end]
        d_cell += d_state * d_cell_of_state[:, start:end]
        d_gate = d_gates[:, start:end]
        np.multiply(d_cell, g[:, start:end], out=d_gate[..., :width])
        np.multiply(d_state, tanhs[:, start:end], out=d_gate[..., 2 * width : 3 * width])
        np.multiply(d_cell, i[:, start:end], out=d_gate[..., 3 * width :])
        if step:
            before = steps[step - 1][0]
            there = slice(before, before + end - start)
            np.multiply(d_cell, cells[:, there], out=d_gate[..., width : 2 * width])
            d_cells[:, there] += d_cell * f[:, start:end]
        else:
            d_gate[..., width : 2 * width] = 0.0
        d_gate *= slopes[:, start:end]
        if step:
            d_states[:, there] += np.matmul(d_gate, U_transposed)
    return d_gates
