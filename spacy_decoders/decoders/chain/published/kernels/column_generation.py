"""Column generation over flat arrays: figure 1 of Belanger et al. 2012.

All is float32, and nothing is proven here: rounding errors are detected by the proof of
:mod:`...certifying`, as for every decoder.
"""

import numpy as np

from .....jit import jit, uncounted
from ...kernels.layout import FORBIDDEN, longest_of
from .pricing import price
from .restricted import (
    BOTH,
    LEFT,
    SPLIT,
    ChainArrays,
    adopt,
    best_at,
    close,
    open_domains,
    send,
    state_for,
    trace,
)

__all__ = [
    "BOTH",
    "LEFT",
    "SPLIT",
    "ChainArrays",
    "decode",
    "decode_other",
    "legal_emissions",
    "most_labels",
]

#: The least cost that counts as positive.
POSITIVE = np.float32(1e-30)

#: Where domains grow beyond this share of the labels, and some more, dense decoding is faster.
SHARE, SPARE = 0.2, 8


@jit(inline="always")
def most_labels(size):
    """Return how many labels a token's domain may have, on average, to be worth restricting."""
    return SHARE * size + SPARE


@uncounted()
def converge(arrays, state, begin, n, gap, limit, most):
    """Generate columns until the best labelling of the domains is optimal (figure 1).

    Parameters
    ----------
    limit
        Of iterations; -1 for none.
    most
        Labels that a token's domain may have, on average.

    Returns
    -------
    solved
        False where a token has no label, or where domains grow beyond `most`.
    excess
        The dual bound less the score of the labelling found.
    iterations
        How often the restricted problem was solved.
    """
    if not open_domains(arrays, state, begin, n):
        return False, 0.0, 0
    if arrays.forbids:
        close(arrays, state.domains, begin, n)
    bound = np.inf
    iterations = 0
    while True:
        send(arrays, state.domains, state.ahead, begin, n, True)
        if arrays.mode == BOTH:
            send(arrays, state.domains, state.behind, begin, n, False)
        at = arrays.size * arrays.stride
        score = np.float64(best_at(state.domains, state.ahead, arrays.transposed, at, n)[0])
        for p in range(1, n + 1):
            score += np.float64(state.ahead.tops[p])
        found, excess = price(arrays, state, begin, n, POSITIVE)
        iterations += 1
        if not found:
            return True, 0.0, iterations
        bound = min(bound, score + excess)
        if iterations == limit or bound - score <= gap:
            return True, max(0.0, bound - score), iterations
        if adopt(state.domains, n) > most * n:
            return False, 0.0, iterations
        if arrays.forbids:
            close(arrays, state.domains, begin, n)


@jit()
def decode(arrays, offsets, gap, limit, most):
    """Decode a batch, within limits of iterations and labels: see :func:`converge`.

    Returns
    -------
    labels
        **Shape (total,)**, int32.
    excess, iterations
        **Shape (sentences,)**: see :func:`converge`.
    left
        The sentences that are not solved.
    """
    count = len(offsets) - 1
    labels = np.zeros(offsets[-1], np.int32)
    excess, iterations = np.zeros(count), np.zeros(count, np.int64)
    left = np.zeros(count, np.bool_)
    state = state_for(longest_of(offsets), arrays.size)
    for s in range(count):
        begin, n = offsets[s], offsets[s + 1] - offsets[s]
        if n:
            solved, excess[s], iterations[s] = converge(arrays, state, begin, n, gap, limit, most)
            left[s] = not solved
            if solved:
                trace(arrays, state, labels, begin, n)
    return labels, excess, iterations, np.flatnonzero(left)


@jit()
def decode_other(arrays, avoided, slack):
    """Find the best labelling of one sentence, or domains that contain the best one but `avoided`.

    If `avoided` is the best, some other labelling is known to score at most `slack` less. Any
    better one has no pair with a reduced cost below ``-slack``, so the best two labellings are
    those of the domains with all pairs above that (section 5).

    Returns
    -------
    solved, iterations
        See :func:`converge`.
    labels
        **Shape (n,)**, int32: the best labelling.
    inside
        **Shape (n, size)**: whether the domains have a label, where `avoided` is the best.
    """
    n = len(avoided)
    labels = avoided.copy()
    inside = np.zeros((n, arrays.size), np.bool_)
    state = state_for(n, arrays.size)
    solved, _, iterations = converge(arrays, state, 0, n, 0.0, -1, most_labels(arrays.size))
    if not solved:
        return False, iterations, labels, inside
    trace(arrays, state, labels, 0, n)
    if slack < np.inf and np.array_equal(labels, avoided):
        price(arrays, state, 0, n, -slack)
        adopt(state.domains, n)
        for p in range(1, n + 1):
            for k in range(state.domains.counts[p]):
                inside[p - 1, state.domains.labels[p, k]] = True
    return True, iterations, labels, inside


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
