"""Summing weights, and updating them by AdaGrad, for the rows of a batch."""

from typing import NamedTuple

import numpy as np

from .....arrays import Floats32, Integers32
from .....jit import jit

__all__ = ["Trained", "add_rows", "descend"]

#: Smaller gradients are ignored: at most tokens, most labels have next to no probability.
SMALLEST = np.float32(1e-4)


@jit()
def add_rows(weights, rows, emissions):
    """Add the weights of each token's rows to its emissions.

    **Shape**: weights float32 (rows, L); rows int32 (n, templates), negative for none; emissions
    float32 (n, L), changed.
    """
    size = weights.shape[1]
    for i in range(len(rows)):
        for t in range(rows.shape[1]):
            row = rows[i, t]
            if row >= 0:
                for y in range(size):
                    emissions[i, y] += weights[row, y]


class Trained(NamedTuple):
    """Weights, and the state of AdaGrad."""

    #: **Shape (rows, L)**, float32: the weights, and the sums of their squared gradients.
    weights: Floats32
    squares: Floats32
    #: **Shape (rows,)**, int32: the step at which each row was last updated.
    steps: Integers32


@jit()
def descend(trained, step, rows, gradient, pace):
    """Update the :class:`Trained` weights of the given rows, token by token.

    The pace is the learning rate, and the weights of both penalties at each step, float32 (3,).

    AdaGrad (Duchi, Hazan, Singer 2011, *Adaptive Subgradient Methods for Online Learning and
    Stochastic Optimization*, section 5), where the steps of both penalties since a row's last
    update are applied first.

    **Shape**: rows int32 (n, templates), negative for none; gradient float32 (n, L), of the loss
    with respect to the emissions.
    """
    weights, squares, steps = trained
    rate, l1, l2 = pace
    size = weights.shape[1]
    active = np.empty(size, np.int64)
    for i in range(len(rows)):
        count = 0
        for y in range(size):
            if abs(gradient[i, y]) > SMALLEST:
                active[count] = y
                count += 1
        if count == 0:
            continue
        for t in range(rows.shape[1]):
            row = rows[i, t]
            if row < 0:
                continue
            missed = step - steps[row]
            if missed > 0:
                steps[row] = step
                if l1 > 0 or l2 > 0:
                    for y in range(size):
                        weight = weights[row, y]
                        if weight != 0:
                            strength = rate * missed / np.sqrt(squares[row, y])
                            shrunk = weight / (np.float32(1) + np.float32(strength * l2))
                            cut = np.float32(strength * l1)
                            weights[row, y] = (
                                max(shrunk - cut, np.float32(0))
                                if shrunk > 0
                                else min(shrunk + cut, np.float32(0))
                            )
            for k in range(count):
                y = active[k]
                slope = gradient[i, y]
                squares[row, y] += slope * slope
                weights[row, y] -= rate * slope / np.sqrt(squares[row, y])
