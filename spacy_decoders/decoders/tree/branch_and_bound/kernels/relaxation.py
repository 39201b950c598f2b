"""The relaxation of a node: scores of arcs, and of adjacent siblings, that bound every tree.

The parts that the backbone does not score are bounded by sums over those that it does, for any
multipliers: :mod:`.pairs` has siblings, :mod:`.chains` grandparents and :mod:`.counted_factors`
the rest. Multipliers are clipped to their range first, so that the bound holds whatever the search
has made of them.
"""

import numpy as np

from .....jit import internal, jit
from .chains import relax_chains
from .counted_factors import gather_factors, relax_factors
from .pairs import relax_pairs, relax_side
from .records import NodeArcs, NodeParts

INF = np.inf


@internal(counted=True)
def gather(scores, multipliers, mask):
    """Gather the parts of a node whose arcs are a mask."""
    size = mask.shape[0]
    of, above = np.empty((size, size), np.int32), np.empty((size, size), np.int32)
    count, before = np.zeros(size, np.int64), np.zeros(size, np.int64)
    choices = np.zeros(size, np.int64)
    for h in range(size):
        for m in range(1, size):
            if mask[h, m]:
                of[h, count[h]] = m
                count[h] += 1
                before[h] += m < h
                above[m, choices[m]] = h
                choices[m] += 1
    arcs = NodeArcs(mask, of, count, before, above, choices)
    factors = gather_factors(arcs, scores)
    return NodeParts(scores, multipliers, arcs, factors, np.empty(size), np.empty(size))


@internal()
def first_paired(parts, single_root):
    """Return the first head that may have pairs of modifiers; n + 1 without sibling scores."""
    if parts.scores.siblings.shape[0] == 1:
        return parts.arcs.mask.shape[0]
    return 1 if single_root else 0


@internal()
def relax_into(parts, single_root, projective, second, arcs, pairs):
    """Write the scores for the backbone; return the constant of the bound."""
    size = arcs.shape[0]
    for h in range(size):
        for m in range(size):
            arcs[h, m] = parts.scores.arcs[h, m] if parts.arcs.mask[h, m] else -INF
    constant = relax_factors(parts.factors, parts.multipliers.factors, arcs)
    for h in range(first_paired(parts, single_root), size):
        if second:
            relax_side(parts, h, True, arcs, pairs)
            relax_side(parts, h, False, arcs, pairs)
        constant += relax_pairs(parts, h, second, arcs)
    if parts.scores.grandparents.shape[0] > 1 and not second:
        relax_chains(parts, projective, arcs)
    return constant


@internal(counted=True)
def room(parts, second):
    """Return arrays for the scores of arcs and of adjacent siblings, empty if not scored."""
    size = parts.arcs.mask.shape[0]
    many = size if second and parts.scores.siblings.shape[0] > 1 else 0
    return np.empty((size, size)), np.zeros((many, many, many))


@jit()
def relax(scores, multipliers, mask, single_root, projective, second):
    """Return scores of arcs and of adjacent siblings, and a constant, that bound every tree.

    The mask, uint8 (n + 1, n + 1), has the arcs of the trees. Unless the backbone is second-order
    (`second`), the scores are of arcs alone.
    """
    parts = gather(scores, multipliers, mask)
    arcs, pairs = room(parts, second)
    constant = relax_into(parts, single_root, projective, second, arcs, pairs)
    return arcs, pairs, constant
