"""The probability of each arc: sums over Eisner's chart, or elimination if arcs may cross.

The inside pass sums over all derivations of each span. The second pass distributes the probability
of each span, from the whole sentence down, over the pairs of spans that it may consist of, in
proportion to their weights; elimination distributes probabilities in the same way. Nothing is
subtracted, so that errors stay relative.

Sums of weights take a tenth of the time of logarithms, and are used if none can underflow: the
recursions are the same in both semirings.
"""

from typing import NamedTuple

import numpy as np

from ....arrays import Floats
from ....jit import internal, jit

__all__ = ["Posterior", "eliminate", "posterior", "posterior_by_logs"]

#: Smaller sums count as 0: they may have lost digits.
TINY = 1e-305

#: Smaller sums of weights in the elimination may have lost terms to underflow.
LEAST = 1e-150


class Posterior(NamedTuple):
    """The distribution over trees."""

    #: **Shape (n + 1, n + 1)**, float64: the probability of each arc.
    arcs: Floats
    #: **Shape (n + 1,)**, float64: the probability that a subtree of the root begins at each
    #: token; only if several roots are allowed.
    starts: Floats
    #: Log of the sum over all trees of exp(score); ``-inf`` if there is none, or if the sum is
    #: less than required.
    log_partition: float


@jit()
def _plus(a, b, logs):
    if not logs:
        return a + b
    if a < b:
        a, b = b, a
    return a if b == -np.inf else a + np.log1p(np.exp(b - a))


@jit()
def _times(a, b, logs):
    return a + b if logs else a * b


@jit()
def _factor(probability, whole, logs):
    """Return the factor that turns the terms of a sum into their shares of its probability."""
    if logs:
        return np.log(probability) - whole if probability > 0.0 else -np.inf
    return probability / whole if whole > TINY else 0.0


@jit()
def _number(a, logs):
    return np.exp(a) if logs else a


@internal(forceinline=True)
def _over_splits(x, s, i, y, j, t, count, logs):
    """Return the sum over k < count of x[s, i + k] y[j + k, t]."""
    total = -np.inf if logs else 0.0
    for k in range(count):
        total = _plus(total, _times(x[s, i + k], y[j + k, t], logs), logs)
    return total


@internal(forceinline=True)
def _distribute(probability, whole, x, s, i, y, j, t, count, of_x, of_y, logs):
    """Distribute the probability of such a sum over its terms: add the shares to both parts'."""
    scale = _factor(probability, whole, logs)
    if scale > (-np.inf if logs else 0.0):
        for k in range(count):
            both = _times(x[s, i + k], y[j + k, t], logs)
            share = _number(_times(both, scale, logs), logs)
            of_x[s, i + k] += share
            of_y[j + k, t] += share


def _posterior(logs):
    none, one = (-np.inf, 0.0) if logs else (0.0, 1.0)

    def posterior(arcs, starts, single_root, least):
        """Return the distribution over trees.

        With R and L the sums of complete spans whose head is their first or last token, I those of
        incomplete ones, B the same without the arc, and b the weight of a sentence that begins at
        a token (if s is the root; else 1)::

            B[s, t] = sum_q R[s, q] L[q + 1, t] b[q + 1]    I[s, t] = B[s, t] arcs[s, t]
            R[s, t] = sum_q I[s, q] R[q, t]                 L[s, t] = sum_q L[s, q] I[t, q]

        `least` is the smallest sum over all trees beside which lost sums below `TINY` are
        negligible; ``-inf`` with logs.

        **Shape**: arcs float64 (n + 1, n + 1), ``exp(score)`` by head and modifier, 0 where there
        is none, each column divided by its maximum; starts float64 (n + 1,), the weight of a
        subtree of the root that begins at each token, unused with a single root. With logs, both
        are the scores themselves.
        """
        size = len(arcs)
        last, first = size - 1, 1 if single_root else 0
        # right[s, t] is complete with head s, right_open[s, t] ends with the arc s -> t; left
        # and left_open have the head t; begun is left, weighted as the beginning of a sentence
        sums = np.full((6, size, size), none)
        right, left, begun = sums[0], sums[1], sums[2]
        right_open, left_open, between = sums[3], sums[4], sums[5]
        for s in range(first, size):
            right[s, s] = left[s, s] = one
            begun[s, s] = starts[s]
        for length in range(1, size - first):
            for s in range(first, size - length):
                t = s + length
                inner = begun if s == 0 else left
                total = _over_splits(right, s, s, inner, s + 1, t, length, logs)
                between[s, t] = total
                right_open[s, t] = _times(total, arcs[s, t], logs)
                left_open[s, t] = _times(total, arcs[t, s], logs)
                right[s, t] = _over_splits(right_open, s, s + 1, right, s + 1, t, length, logs)
                left[s, t] = _over_splits(left, s, s, left_open, s, t, length, logs)
                begun[s, t] = _times(left[s, t], starts[s], logs)
        found_arcs, found_starts = np.zeros((size, size)), np.zeros(size)
        rooted = np.full((size, 1), none)  # the span from the only root on, with its arc
        total = right[0, last]
        if single_root:
            for root in range(1, size):
                rooted[root, 0] = _times(right[root, last], arcs[0, root], logs)
            total = _over_splits(left, 1, 1, rooted, 1, 0, last, logs)
        if not least <= total < np.inf or total == none:
            return Posterior(found_arcs, found_starts, -np.inf)

        # the probabilities of spans, distributed over their parts, longest first
        likely = np.zeros((5, size, size))
        p_right, p_left, p_begun = likely[0], likely[1], likely[2]
        p_right_open, p_left_open = likely[3], likely[4]
        if single_root:
            p_rooted = np.zeros((size, 1))
            _distribute(1.0, total, left, 1, 1, rooted, 1, 0, last, p_left, p_rooted, logs)
            for root in range(1, size):
                found_arcs[0, root] = p_rooted[root, 0]
                p_right[root, last] += p_rooted[root, 0]
        else:
            p_right[0, last] = 1.0
        for length in range(last - first, -1, -1):
            for s in range(first, size - length):
                t = s + length
                found_starts[s] += p_begun[s, t]
                p_left[s, t] += p_begun[s, t]
                _distribute(
                    p_right[s, t], right[s, t], right_open, s, s + 1, right, s + 1, t, length,
                    p_right_open, p_right, logs,
                )  # fmt: skip
                _distribute(
                    p_left[s, t], left[s, t], left, s, s, left_open, s, t, length,
                    p_left, p_left_open, logs,
                )  # fmt: skip
                if length > 0:
                    found_arcs[s, t] = p_right_open[s, t]
                    found_arcs[t, s] = p_left_open[s, t]
                # both directions share the sum without the arc
                either = p_right_open[s, t] + p_left_open[s, t]
                inner, p_inner = (begun, p_begun) if s == 0 else (left, p_left)
                _distribute(
                    either, between[s, t], right, s, s, inner, s + 1, t, length,
                    p_right, p_inner, logs,
                )  # fmt: skip
        return Posterior(found_arcs, found_starts, total if logs else np.log(total))

    # of two functions of one name, the code that one process keeps may be taken for the other's
    posterior.__qualname__ = "posterior_by_logs" if logs else "posterior"
    return jit()(posterior)


posterior = _posterior(False)
posterior_by_logs = _posterior(True)


@jit()
def _exchange(square, i, k):
    """Exchange tokens i and k, of those up to k."""
    for h in range(k + 1):
        square[i, h], square[k, h] = square[k, h], square[i, h]
    for h in range(k + 1):
        square[h, i], square[h, k] = square[h, k], square[h, i]


@jit()
def eliminate(weights, single_root, logs):
    """Return the probability of each arc, **(token, head)**, and the log of the sum over trees.

    With a single root, the weights of root arcs are scaled by e, and the sum is the coefficient of
    e, so the root arc matters only for the token that is eliminated last: a token whose only
    remaining head is the root must come last. The log is NaN if there is no tree, or if some sum
    of weights is too small to be trusted.

    **Shape**: weights float64 (n + 1, n + 1), ``exp(score)``, token by head, 0 where there is no
    arc; with `logs` the scores themselves. Overwritten.
    """
    size = len(weights)
    none = -np.inf if logs else 0.0
    direct = np.empty(size * (size - 1) * (size - 2) // 3 + 1)
    found = np.zeros((size, size))
    chosen = np.arange(size)  # the token that was eliminated as number k
    log_sum = 0.0
    used = 0
    for k in range(size - 1, 0, -1):
        first = 1 if single_root and k > 1 else 0
        for at in range(k, 0, -1):
            total = none
            for h in range(first, k + 1):
                total = _plus(total, weights[at, h], logs)
            if total > none or not logs:
                chosen[k] = at
                break
        if not (LEAST <= total <= 1.0 / LEAST) and (not logs or total == none):
            return found, np.nan
        _exchange(weights, chosen[k], k)
        log_sum += total if logs else np.log(total)
        for h in range(k):
            weights[k, h] = weights[k, h] - total if logs else weights[k, h] / total
        # tokens attached to k are attached to the heads of k instead, without cycles
        for i in range(1, k):
            over = weights[i, k]
            for h in range(k):
                before = weights[i, h]
                after = none
                if h != i:
                    after = _plus(before, _times(over, weights[k, h], logs), logs)
                weights[i, h] = after
                share = 0.0
                if after > none:
                    share = np.exp(before - after) if logs else before / after
                direct[used + h] = share
            used += k
    for k in range(1, size):
        # arcs that stand also for two arcs through k pass on their share
        used -= k * (k - 1)
        passed = 0.0
        for i in range(1, k):
            over = 0.0
            for h in range(k):
                share = direct[used + (i - 1) * k + h]
                moved = found[i, h] * (1.0 - share)
                found[i, h] *= share
                found[k, h] += moved
                over += moved
            found[i, k] = over
            passed += over
        # the rest of the probability of the head of k is in trees where it has no dependants
        for h in range(1 if single_root and k > 1 else 0, k):
            found[k, h] += _number(weights[k, h], logs) * (1.0 - passed)
        _exchange(found, chosen[k], k)
    return found, log_sum
