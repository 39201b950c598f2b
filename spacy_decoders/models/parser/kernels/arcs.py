"""Compiled loops over the scores of all arcs."""

from __future__ import annotations

import numpy as np

from ....jit import jit


@jit()
def write_arcs(among, of_root, of_modifier, of_head, near, scores):
    """Write the scores of the arcs of a sentence of n tokens, distances included.

    **Shape**: among (n, n), of heads by modifier; of_root (n,); of_modifier and of_head (n,
    classes), by the class of the distance; near (2 * far + 1,), the class of each distance, those
    beyond `far` being of the last class of their side; scores (n, n + 1), written, the root first.
    """
    n = len(among)
    far = len(near) // 2
    for m in range(n):
        into, given = scores[m], among[m]
        into[0] = of_root[m]
        for h in range(n):
            bucket = near[min(max(h - m, -far), far) + far]
            into[h + 1] = given[h] + of_modifier[m, bucket] + of_head[h, bucket]
        into[m + 1] = -np.inf
