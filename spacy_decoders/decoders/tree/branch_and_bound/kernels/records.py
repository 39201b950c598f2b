"""What the kernels of branch and bound hand to each other.

Scores are float64 with a true ``-inf``: it only ever meets additions and comparisons.
"""

from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from .....jit import internal

Floats = NDArray[np.float64]
Ints = NDArray[np.int32]
Offsets = NDArray[np.int64]


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
    """The multipliers that all nodes share.

    Those of factors are -1 where one has never been set; bounds count no multiplier of a chain
    beyond `limit`. `directions` is room for those of a step along siblings, zeros between steps.
    """

    siblings: Floats
    directions: Floats
    grandparents: Floats
    factors: Floats
    limit: float


class Incumbents(NamedTuple):
    """The best different trees so far, best first: `heads` (k, n + 1), `scores` (k,)."""

    heads: Ints
    scores: Floats


class NodeOptions(NamedTuple):
    """How a node is worked on.

    `passes` is the most passes of dynamic programming, `rate` the length of subgradient
    steps. Certificates compare with `tolerance`, relative to 1 + the best score,
    and with the `rounding` error of a bound. Where `second`, the backbone is the chart that sees
    all grandparents and adjacent siblings; else it sees arcs alone.
    """

    second: bool
    passes: int
    rate: float
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


class NodeArcs(NamedTuple):
    """The arcs that are left at a node.

    `mask` has 1 for each. The modifiers left to h are ``of[h, : count[h]]``, from left to right,
    of which `before[h]` precede it; the heads left to m are ``above[m, : choices[m]]``.
    """

    mask: NDArray[np.uint8]
    of: Ints
    count: Offsets  # type: ignore[assignment] # which hides the method of tuples
    before: Offsets
    above: Ints
    choices: Offsets


class CountedFactors(NamedTuple):
    """Factors that are left at a node, each paid `score` for at least `need` of its arcs.

    Factor f holds the arcs ``heads[i] -> modifiers[i]`` from `offsets[f]` on; `home` is where
    their multipliers stand among those that all nodes share; every tree is paid `constant`.
    `room` is for one factor's multipliers.
    """

    offsets: Offsets
    heads: Ints
    modifiers: Ints
    score: Floats
    need: Ints
    home: Offsets
    constant: float
    room: Floats


class NodeParts(NamedTuple):
    """All that is left at a node; `gains` and `losses` are room for one side."""

    scores: PartScores
    multipliers: Multipliers
    arcs: NodeArcs
    factors: CountedFactors
    gains: Floats
    losses: Floats


@internal()
def in_range(x, most):
    """Return a multiplier brought into its range, 0 for NaN: it then gives a bound."""
    return min(x, most) if x > 0.0 else 0.0
