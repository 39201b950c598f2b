"""What the kernels of branch and bound hand to each other.

An *arc number* counts the arcs that are left at a node. Scores are float64 with a true
``-inf``: it only ever meets additions and comparisons.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

Floats = NDArray[np.float64]
Ints = NDArray[np.int32]
Offsets = NDArray[np.int64]

#: The backbones: the best arborescence, Eisner's chart, or the chart of second order, which sees
#: chains and adjacent siblings.
SPANNING, FIRST, SECOND = 0, 1, 2


class PartScores(NamedTuple):
    """Dense scores of a problem; a part of size 1 on all axes stands for none.

    Factor f is paid `factor_scores[f]` if from `factor_low[f]` to `factor_high[f]` of its arcs
    are in the tree. Parts of ``-inf`` count as `forbidden`. A sentence that begins at token s > 1
    is paid ``gaps[s]``; without entries there is one sentence, or any number for nothing.

    **Shape** arcs (n + 1, n + 1); grandparents and siblings (n + 1,) * 3; factor_arcs int32
    (total, 2); factor_offsets int64 (count + 1,); gaps (n + 1,) or (0,); the others (count,).
    """

    arcs: Floats
    grandparents: Floats
    siblings: Floats
    factor_arcs: Ints
    factor_offsets: Offsets
    factor_scores: Floats
    factor_low: Ints
    factor_high: Ints
    forbidden: float
    gaps: Floats


class Multipliers(NamedTuple):
    """The multipliers that all nodes share; -1 where one has never been set.

    `slack[h, m]` estimates how much worse the best tree with an arc is: where a gain is split
    between two arcs for the first time, the less likely arc gets the larger part.
    Bounds count no multiplier of a chain beyond `limit`.
    """

    siblings: Floats
    grandparents: Floats
    factors: Floats
    slack: Floats
    limit: float


class Incumbents(NamedTuple):
    """The best different trees so far, best first: `heads` (k, n + 1), `scores` (k,)."""

    heads: Ints
    scores: Floats


class NodeOptions(NamedTuple):
    """How a node is worked on.

    `passes` is the most passes of dynamic programming; `rate` and `momentum` belong to the
    subgradient steps. Certificates compare with `tolerance`, relative to 1 + the best score,
    and with the `rounding` error of a bound.
    """

    backbone: int
    passes: int
    rate: float
    momentum: float
    tolerance: float
    rounding: float
    projective: bool
    single_root: bool


class NodeFound(NamedTuple):
    """How the search leaves a node.

    It seems closed, or without a tree, if `head` is -1; else it is to be branched on the arc from
    `head` to `modifier`.
    """

    passes: int
    head: int
    modifier: int


class ArcLists(NamedTuple):
    """The arcs that are left, sorted by modifier, then head; arc 0 points at the root.

    `first[m]` is the first arc of modifier m; its heads are the *slots* 0, 1, ... of m.
    ``members[sides[2 h + s] : sides[2 h + s + 1]]`` are the arcs from h to its left (s = 0) or
    right (s = 1), nearest first. `index[h, m]` is the number of an arc, -1 if it is gone.

    Entries of arrays over other things begin at `chains[a]` for (arc a = (h, m), slot of h), and
    at `pairs[a]` for (inner sibling, outer sibling a).
    """

    head: Ints
    modifier: Ints
    first: Offsets
    chains: Offsets
    sides: Offsets
    members: Ints
    pairs: Offsets
    index: Ints  # type: ignore[assignment] # which hides the method of tuples


class SpanChart(NamedTuple):
    """Best scores of spans.

    `right[a, e]` and `left[a, e]` are complete spans from the modifier of arc a to token e, and
    `left_by_end` is `left` with its axes swapped; `incomplete` is over chains, `between` over
    pairs. `stack` is room for the back-trace.
    """

    right: Floats
    left: Floats
    left_by_end: Floats
    incomplete: Floats
    between: Floats
    stack: Offsets


class BackboneScores(NamedTuple):
    """What the backbone is run on: the relaxed scores, of which each is exact for some tree.

    `base` are the scores of the arcs, `arc` those with what the relaxation adds. For the chart
    of second order also `start` (an arc that is its head's first on its side), `chain` (an
    arc with its grandparent) and `adjacent` (two adjacent siblings). `gaps` as in
    :class:`PartScores`.
    """

    base: Floats
    arc: Floats
    start: Floats
    chain: Floats
    adjacent: Floats
    gaps: Floats


class SiblingPairs(NamedTuple):
    """Pairs of modifiers on one side of their head, with room for one head's sums."""

    score: Floats
    multiplier: Floats
    direction: Floats
    gains: Floats
    losses: Floats
    following: Offsets


class ArcPairs(NamedTuple):
    """Pairs of the arcs `one` and `other` from one head that the backbone does not see."""

    score: Floats
    multiplier: Floats
    direction: Floats
    one: Ints
    other: Ints


class GrandparentChains(NamedTuple):
    """Scores of chains; the others are empty where the backbone sees grandparents.

    `reduced` is the score less the multiplier. An arc's score includes `best`, the best reduced
    score of its chains, and `paid`, the multipliers of the chains in which it is the upper arc.
    """

    score: Floats
    multiplier: Floats
    reduced: Floats
    best: Floats
    paid: Floats


class CountedFactors(NamedTuple):
    """Factors that are left at a node, each paid `score` for at least `need` of its arcs.

    Factor f holds ``arcs[offsets[f] : offsets[f + 1]]``; `home` is where its multipliers stand
    among those that all nodes share; every tree is paid `constant`.
    """

    offsets: Offsets
    arcs: Ints
    score: Floats
    need: Ints
    home: Offsets
    multiplier: Floats
    constant: float


class NodeParts(NamedTuple):
    """All that is left at a node."""

    lists: ArcLists
    backbone: BackboneScores
    siblings: SiblingPairs
    pairs: ArcPairs
    chains: GrandparentChains
    factors: CountedFactors
