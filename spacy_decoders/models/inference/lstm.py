"""A bidirectional LSTM without training."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

from .products import LEAST_ROWS, product

__all__ = ["lstm_outputs"]


def lstm_outputs(
    vectors: NDArray[np.float32], lengths: NDArray[np.int64], W: Any, U: Any, bias: Any
) -> NDArray[np.float32]:
    """Return the states of both directions at each token, **shape (tokens, 2 * width)**.

    Parameters
    ----------
    vectors
        Of the tokens of all sequences, laid end to end.
    lengths
        Of the sequences.
    W, U, bias
        The parameters of a :func:`~spacy_decoders.models.bilstm.BiLSTM`.
    """
    from .kernels import lstm as kernels

    width = len(U)
    ends = np.cumsum(lengths)
    order = np.argsort(-lengths, kind="stable")
    order = order[lengths[order] > 0]
    begins, ends = (ends - lengths)[order], ends[order]
    sizes = ends - begins
    inputs = product(vectors, W)
    output = np.empty((len(vectors), 2 * width), dtype=np.float32)
    rows = max(len(order), LEAST_ROWS)
    recurrent = np.zeros((2, rows, 4 * width), dtype=np.float32)
    states, cells = np.zeros((2, 2, rows, width), dtype=np.float32)
    both = np.stack([U[:, : 4 * width], U[:, 4 * width :]])
    running = len(order)
    for t in range(int(sizes.max(initial=0))):
        while sizes[running - 1] <= t:
            running -= 1
        if t:
            used = max(running, LEAST_ROWS)
            np.matmul(states[:, :used], both, out=recurrent[:, :used])
        kernels.step(inputs, recurrent, bias, begins, ends, t, running, states, cells, output)
    return output
