"""What no tree over a stretch of tokens exceeds, for all stretches."""

import numpy as np

from ....jit import jit

#: The unit roundoff of float64, and an error larger than any that denormal numbers cause.
UNIT, SMALLEST = 2.0**-53, 1e-300


@jit()
def optimistic(arcs):
    """Return the bounds by first token and end, both from 0, (n, n + 1); ``-inf`` for no tree.

    Every token takes its best head within the stretch, and one of them the root. Sums are rounded
    up as :func:`.rounding_slack` does. No fastmath flags are set, as scores may be ``-inf``.
    """
    n = arcs.shape[0] - 1
    upper = np.full((n, n + 1), -np.inf)
    inner = np.empty(n + 1)  # the best head of each token within the stretch
    before = np.empty(n + 2)  # the sum over the tokens before each
    for first in range(n, 0, -1):
        for last in range(first, n + 1):
            best, root, positive = -np.inf, 0.0, 0.0
            inner[last] = -np.inf
            for m in range(first, last):
                inner[m] = max(inner[m], arcs[last, m])
                inner[last] = max(inner[last], arcs[m, last])
            before[first] = 0.0
            for m in range(first, last + 1):
                before[m + 1] = before[m] + inner[m]
                positive += max(inner[m], 0.0)
                root = max(root, arcs[0, m])
            # no token's own choice is taken off a sum again: it may be -1e30 or -inf
            behind = 0.0
            for m in range(last, first - 1, -1):
                best = max(best, before[m] + arcs[0, m] + behind)
                behind += inner[m]
            if best > -np.inf:
                parts = 2 * (last - first + 1)
                slack = 4.0 * (parts + 1) * UNIT * (abs(best) + 2.0 * (positive + root)) + SMALLEST
                upper[first - 1, last] = best + slack
    return upper
