"""Which labels lie on a legal path."""

import numpy as np

from .....jit import jit
from ...kernels.layout import FORBIDDEN

__all__ = ["legal_emissions"]


@jit()
def legal_emissions(rows, columns, emissions, offsets, size, stride):
    """Forbid every label that no legal path of its sentence goes through.

    Parameters
    ----------
    rows, columns
        The padded transitions and their transpose, flat, with the start and the end scores
        as row `size`.
    emissions
        **Shape (total * size,)**.
    offsets
        **Shape (sentences + 1,)**.

    Returns
    -------
    emissions
        A copy with ``-inf`` for what is on no legal path.
    sentence, token
        The first dead end, or -1.
    """
    legal = emissions.copy()
    for s in range(len(offsets) - 1):
        begin, n = offsets[s], offsets[s + 1] - offsets[s]
        for ahead in (True, False):
            table = columns if ahead else rows
            ends = rows if ahead else columns
            for j in range(n):
                i = j if ahead else n - 1 - j
                row = (begin + i) * size
                before = row - size if ahead else row + size
                hint = np.int64(0)
                alive = False
                for x in range(size):
                    if legal[row + x] == FORBIDDEN:
                        continue
                    if j == 0:
                        allowed = ends[size * stride + x] > FORBIDDEN
                    else:
                        # the predecessor of the last label is often legal for this one too
                        allowed = is_legal_step(table, legal, x * stride, before, hint)
                        z = np.int64(0)
                        while not allowed and z < size:
                            if is_legal_step(table, legal, x * stride, before, z):
                                allowed = True
                                hint = z
                            z += 1
                    if allowed:
                        alive = True
                    else:
                        legal[row + x] = FORBIDDEN
                if not alive:
                    return legal, s, i
    return legal, np.int64(-1), np.int64(-1)


@jit()
def is_legal_step(table, legal, place, before, z):
    return table[place + z] > FORBIDDEN and legal[before + z] > FORBIDDEN
