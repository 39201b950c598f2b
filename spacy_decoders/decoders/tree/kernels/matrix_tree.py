"""The probability of each arc of non-projective trees, by eliminating one token after another."""

import numpy as np

from ....jit import jit

__all__ = ["arc_probabilities"]

#: Sums below this may have lost what underflowed.
LEAST = 1e-150


@jit()
def arc_probabilities(weights):
    """Return the probability of each arc, **(token, head)**, and the log of the sum over trees.

    Parameters
    ----------
    weights
        **Shape (n + 1, n + 1)**, float64: ``exp(score)``, token by head; 0 where there is no arc.
        Overwritten.

    Returns
    -------
    A sum of NaN if some sum is too small to be trusted.
    """
    size = len(weights)
    shares = np.empty(size * (size - 1) * (size - 2) // 3 + 1)
    found = np.zeros((size, size))
    log_sum = 0.0
    used = 0
    for k in range(size - 1, 0, -1):
        total = 0.0
        for h in range(k):
            total += weights[k, h]
        if not total >= LEAST:
            return found, np.nan
        log_sum += np.log(total)
        for h in range(k):
            weights[k, h] /= total
        # what hangs on k hangs on the heads of k instead; a cycle is none of a tree's
        for i in range(1, k):
            over = weights[i, k]
            for h in range(k):
                before = weights[i, h]
                after = before + over * weights[k, h] if h != i else 0.0
                weights[i, h] = after
                shares[used + h] = before / after if after > 0.0 else 0.0
            used += k
    for k in range(1, size):
        # tokens that are there again pass on part of their arcs through k
        used -= k * (k - 1)
        passed = 0.0
        for i in range(1, k):
            over = 0.0
            for h in range(k):
                direct = shares[used + (i - 1) * k + h]
                moved = found[i, h] * (1.0 - direct)
                found[i, h] *= direct
                found[k, h] += moved
                over += moved
            found[i, k] = over
            passed += over
        # its own head, by how the others choose theirs through it
        for h in range(k):
            found[k, h] += weights[k, h] * (1.0 - passed)
    return found, log_sum
