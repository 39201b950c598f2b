"""The records that the kernels of branch and bound pass to each other.

Scores are float64 with a true ``-inf``, which is only ever added and compared.
"""

from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from .....arrays import Floats, Integers, Integers32
from .....jit import internal


class PartScores(NamedTuple):
    """The scores of a problem; an array of size 1 on all axes stands for none.

    Factor f scores `factor_scores[f]` if from `factor_low[f]` to `factor_high[f]` of its arcs
    are in the tree. Parts of ``-inf`` score `forbidden`. A sentence that begins at token s > 1
    scores ``gaps[s]``; if `gaps` is empty, boundaries are not scored.

    **Shape** arcs (n + 1, n + 1); grandparents and siblings (n + 1,) * 3; factor_arcs int32
    (total, 2); factor_offsets int64 (count + 1,); gaps (n + 1,) or (0,); the others (count,).
    """

    arcs: Floats
    grandparents: Floats
    siblings: Floats
    factor_arcs: Integers32
    factor_offsets: Integers
    factor_scores: Floats
    factor_low: Integers32
    factor_high: Integers32
    forbidden: float
    gaps: Floats


class Multipliers(NamedTuple):
    """The multipliers that all nodes share.

    Those of factors are -1 until they are first set; bounds clip those of chains to `limit`.
    `directions` is a workspace for the subgradient of siblings, zero between steps.
    """

    siblings: Floats
    directions: Floats
    grandparents: Floats
    factors: Floats
    limit: float


class Incumbents(NamedTuple):
    """The best distinct trees so far, best first: `heads` (k, n + 1), `scores` (k,)."""

    heads: Integers32
    scores: Floats


class NodeOptions(NamedTuple):
    """The options of work on a node.

    `passes` is the most passes of dynamic programming, `rate` scales subgradient steps. A node is
    closed within `tolerance`, relative to 1 plus the absolute best score, and the `rounding` error
    of a bound. If `second`, the backbone is the second-order chart, which scores all grandparents
    and adjacent siblings; else it is first-order.
    """

    second: bool
    passes: int
    rate: float
    tolerance: float
    rounding: float
    projective: bool
    single_root: bool


class NodeFound(NamedTuple):
    """The result of work on a node.

    If `head` is -1, it seems closed or without a tree; else the search should branch on the arc
    from `head` to `modifier`.
    """

    passes: int
    head: int
    modifier: int


class NodeArcs(NamedTuple):
    """The arcs of a node.

    `mask` has 1 for each. The candidate modifiers of h are ``of[h, : count[h]]``, from left to
    right, of which `before[h]` precede it; the candidate heads of m are
    ``above[m, : choices[m]]``.
    """

    mask: NDArray[np.uint8]
    of: Integers32
    count: Integers  # type: ignore[assignment] # hides the method of tuples
    before: Integers
    above: Integers32
    choices: Integers


class CountedFactors(NamedTuple):
    """The factors of a node, each of which scores `score` for at least `need` of its arcs.

    Factor f has the arcs ``heads[i] -> modifiers[i]`` from `offsets[f]` on; `home` has the indices
    of their multipliers among those that all nodes share; every tree scores `constant`. `room` is
    a workspace for one factor's multipliers.
    """

    offsets: Integers
    heads: Integers32
    modifiers: Integers32
    score: Floats
    need: Integers32
    home: Integers
    constant: float
    room: Floats


class NodeParts(NamedTuple):
    """All parts of a node; `gains` and `losses` are a workspace for one side of a head."""

    scores: PartScores
    multipliers: Multipliers
    arcs: NodeArcs
    factors: CountedFactors
    gains: Floats
    losses: Floats


@internal()
def in_range(x, most):
    """Return a multiplier clipped to its range, where it gives a valid bound; 0 for NaN."""
    return min(x, most) if x > 0.0 else 0.0
