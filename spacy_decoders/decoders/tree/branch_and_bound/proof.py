"""Bounds of nodes, computed from the search's multipliers by independent code.

Whatever the multipliers are, the scores of the relaxation are computed anew from them; one pass
over these bounds the trees of a node, and another pass those through each arc.
"""

from functools import partial
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from ....arrays import Floats, Integers, read_only
from ....budget import Clock
from ..fallbacks import arborescence_bound, bounded
from ..kernels import proofs, second_order, second_order_proof
from ..problem import TreeProblem
from ..proof import Through
from ..scoring import score_tree
from .kernels import relaxation
from .preparation import Prepared

__all__ = ["NodeProof", "Proven"]

Mask = NDArray[np.uint8]

#: Seconds of a second-order chart for each n^4, on a slow machine.
SECONDS_A_FOURTH_POWER = 5e-10


class Relaxed(NamedTuple):
    """Scores of arcs and adjacent siblings that, with a constant, bound every tree."""

    arcs: Floats
    pairs: Floats
    constant: float


class Proven(NamedTuple):
    """Upper bounds on the trees of a node, up to rounding.

    `upper` bounds the trees of the remaining arcs (``-inf`` if there is none), `pruned` those
    with a pruned arc.
    """

    upper: float
    pruned: float


class NodeProof:
    """Bounds the nodes of one problem."""

    def __init__(self, problem: TreeProblem, prepared: Prepared) -> None:
        self.problem = problem
        self.prepared = prepared
        self.second_order = prepared.second_order

    def settle(self, mask: Mask, limit: float, clock: Clock) -> Proven:
        """Bound a node; if the bound exceeds the limit, prune the arcs of no tree that does.

        The mask, uint8 (n + 1, n + 1), has the arcs of the node; pruned arcs are removed from it.
        """
        if self._seconds_a_pass() > clock.seconds_left:
            bound = arborescence_bound(self.problem, self.prepared.scores.forbidden)
            return Proven(bound, -np.inf)
        relaxed = self._relaxed(mask)
        upper, find_through = self._bound(mask, relaxed)
        if (
            relaxed is None
            or find_through is None
            or upper <= limit
            or 3.0 * self._seconds_a_pass() > clock.seconds_left
        ):
            return Proven(upper, -np.inf)
        through = find_through() + relaxed.constant
        below = (mask == 1) & (through <= limit)
        if not below.any():
            return Proven(upper, -np.inf)
        mask[below] = 0
        return Proven(self._bound(mask, self._relaxed(mask))[0], float(through[below].max()))

    def _seconds_a_pass(self) -> float:
        return SECONDS_A_FOURTH_POWER * self.problem.n**4 if self.second_order else 0.0

    def _relaxed(self, mask: Mask) -> Relaxed | None:
        """Return the scores whose best tree bounds those of a mask; None if it has one at most."""
        number = mask[:, 1:].sum(axis=0)
        if not number.all() or (number == 1).all():
            return None
        problem = self.problem
        arcs, pairs, constant = relaxation.relax(
            self.prepared.scores,
            self.prepared.multipliers,
            mask,
            problem.has_one_root,
            problem.projective,
            self.second_order,
        )
        # read-only like a problem's arrays, so that the kernels need not be compiled twice
        return Relaxed(read_only(arcs), read_only(pairs), constant)

    def _bound(self, mask: Mask, relaxed: Relaxed | None) -> tuple[float, Through | None]:
        """Return an upper bound on the trees of a mask, and how to bound those through each arc.

        The latter bounds lack the constant; they are None if there is at most one tree.
        """
        problem = self.problem
        if relaxed is None:
            heads = mask[:, 1:].argmax(axis=0)
            whole = mask[:, 1:].any(axis=0).all()
            return self._worth(heads) if whole else -np.inf, None
        if self.second_order:
            scores = (relaxed.arcs, self.prepared.grandparents, relaxed.pairs, problem.gaps)
            given = (*scores, problem.has_one_root)
            chart = np.empty(second_order.entries(problem.n + 1, False))
            second_order.decode(*given, False, chart)
            bound = second_order_proof.chart_bound(*given, False, chart)
            through: Through = partial(second_order_proof.bounds_by_chart, *given, chart, bound)
        else:
            alone = (relaxed.arcs, problem.projective, problem.has_one_root, problem.gaps)
            _, bound, slack, through = bounded(*alone)
            bound += slack
        upper = float(bound) + relaxed.constant
        return np.inf if np.isnan(upper) else upper, through

    def _worth(self, heads: Integers) -> float:
        """Return the score of the only choice of heads, ``-inf`` if it is not a legal tree."""
        problem = self.problem
        tree = heads.astype(np.int32)
        legal = proofs.tally(problem.arcs, tree, problem.projective, problem.has_one_root)[0]
        return score_tree(problem, tree) if legal else -np.inf
