"""The loss of changing the label of a single token: lower bounds on the next best labellings.

A labelling with one other label is a labelling: so the k-th best of all scores no less than the
(k - 1)-th best change. In float32, and rounded up.
"""

import numpy as np

from ....jit import jit, uncounted
from ....simd import (
    add,
    at_least,
    fill64,
    first_lane,
    load64,
    peek,
    store,
)
from .layout import BLOCK, TINY, UP32, emissions64

__all__ = ["smallest_losses"]


@jit(inline="always")
def beside(transitions, transposed, emissions, begin, n, i, size, stride, labels):
    """Return the rows of the transitions into and out of token i, and its label's score."""
    y = np.int64(peek(labels, begin + i))
    lead = (np.int64(peek(labels, begin + i - 1)) if i else size) * stride
    tail = (np.int64(peek(labels, begin + i + 1)) if i < n - 1 else size) * stride
    into, out = peek(transitions, lead + y), peek(transposed, tail + y)
    own = peek(emissions, (begin + i) * size + y)
    doubt = UP32 * (abs(np.float64(into)) + abs(np.float64(out)) + abs(np.float64(own))) + TINY
    return y, lead, tail, into + out + own, doubt


@jit(inline="always")
def flips(transitions, transposed, lead, tail, emissions, row, block, size):
    """Return the scores of 64 labels of a token between the labels of its neighbours."""
    links = add(load64(transitions, lead + block), load64(transposed, tail + block))
    return add(links, emissions64(emissions, row, block, size))


@uncounted()
def smallest_losses(transitions, transposed, emissions, begin, n, size, stride, labels, losses,
                    values):  # fmt: skip
    """Fill in the smallest losses of all changes, sorted; infinite where there are no more.

    values: (64,), scratch. A loss is rounded up.
    """
    last = len(losses) - 1
    for i in range(n):
        row = (begin + i) * size
        y, lead, tail, score, doubt = beside(
            transitions, transposed, emissions, begin, n, i, size, stride, labels
        )
        for block in range(0, size, BLOCK):
            others = flips(transitions, transposed, lead, tail, emissions, row, block, size)
            bits = at_least(others, fill64(np.float32(score - losses[last])))
            if block <= y < block + BLOCK:
                bits &= ~(np.int64(1) << (y - block))
            if bits:
                store(values, 0, others)
            while bits:
                lane = first_lane(bits)
                bits &= bits - 1
                other = np.float64(peek(values, lane))
                loss = score - other + doubt + UP32 * (abs(score) + abs(other))
                if other > -np.inf and loss < losses[last]:
                    r = last
                    while r > 0 and losses[r - 1] > loss:
                        losses[r] = losses[r - 1]
                        r -= 1
                    losses[r] = loss
