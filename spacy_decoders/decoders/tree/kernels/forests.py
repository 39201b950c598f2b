"""What a block of a document adds to solutions in which arcs enter it from other blocks."""

import numpy as np

from ....jit import jit

#: The forests up to a token, by what their trees hang on: a head before the block; the root; the
#: one, then the other; a head behind the block, after none of the first or after some.
BEFORE, ROOTED, BOTH, BEHIND, AROUND = 0, 1, 2, 3, 4


@jit()
def entered_bounds(left, right, hanging, gaps):
    """Return the best forests over a block, by where some of its tokens have heads outside.

    The trees of a forest stand side by side. No arcs cross, so those with their heads before the
    block come first and those with their heads behind it last, and a sentence goes on between two
    of the same kind. The others hang on the root: where two meet, a sentence begins and pays its
    boundary. Elsewhere one may begin or not.

    Parameters
    ----------
    left, right
        float64 (n + 1, n + 1), upper bounds on complete spans: ``left[i, j]`` with the head j on
        the right, ``right[i, j]`` with the head i on the left.
    hanging
        float64 (3, n + 1), the score of each token's best arc from before the block, of its arc
        from the root, and of its best arc from behind the block.
    gaps
        float64 (n + 1,), the score of a sentence beginning at each token.

    Returns
    -------
    float, float, float
        With heads before the block only, behind it only, and both; ``-inf`` if there are none.
    """
    size = hanging.shape[1]
    # all tokens up to each one, and the same with the last tree's tokens up to its own head
    whole = np.full((5, size), -np.inf)
    begun = np.full((5, size), -np.inf)
    for r in range(1, size):
        for kind in (BEFORE, ROOTED, BEHIND):
            begun[kind, r] = left[1, r]
        for first in range(2, r + 1):
            last, paid, free, span = first - 1, gaps[first], max(gaps[first], 0.0), left[first, r]
            best = whole[BEFORE, last]
            begun[BEFORE, r] = max(begun[BEFORE, r], best + span)
            begun[ROOTED, r] = max(begun[ROOTED, r], whole[ROOTED, last] + paid + span)
            after = max(best + free, whole[BOTH, last] + paid)
            begun[BOTH, r] = max(begun[BOTH, r], after + span)
            after = max(whole[ROOTED, last] + free, whole[BEHIND, last])
            begun[BEHIND, r] = max(begun[BEHIND, r], after + span)
            after = max(max(best, whole[BOTH, last]) + free, whole[AROUND, last])
            begun[AROUND, r] = max(begun[AROUND, r], after + span)
        for kind in range(5):
            value = begun[kind, r] + hanging[(kind + 1) // 2, r]
            for e in range(r, size):
                whole[kind, e] = max(whole[kind, e], value + right[r, e])
    end = size - 1
    return max(whole[BEFORE, end], whole[BOTH, end]), whole[BEHIND, end], whole[AROUND, end]
