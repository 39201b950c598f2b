"""Bounds of nodes apart from the search: derived again from the multipliers that it leaves.

The search says when it is done with a node; this does not enter a bound. From its multipliers,
whatever they are, the scores of the relaxation are made again, and one pass over these bounds the
trees of a node; another pass bounds those through each arc.
"""

from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from ....arrays import read_only
from ....budget import Clock
from ..fallbacks import arborescence_bound, bound_by_duals
from ..kernels import chu_liu_edmonds, eisner, proofs, second_order, second_order_proof
from ..problem import TreeProblem
from ..scoring import score_tree
from ..second_order import chart_space
from .kernels import relaxation
from .preparation import Prepared

__all__ = ["NodeProof", "Proven"]

Mask = NDArray[np.uint8]
Scores = NDArray[np.float64]

#: Seconds of a chart of second order for each n^4, on a slow machine.
SECONDS_A_FOURTH_POWER = 5e-10


class Relaxed(NamedTuple):
    """Scores of arcs and adjacent siblings that, with a constant, bound every tree."""

    arcs: Scores
    pairs: Scores
    constant: float


class Proven(NamedTuple):
    """What is proven of a node, up to rounding.

    No tree of the arcs that are left is worth more than `upper` (``-inf`` if there is none), and
    none with an arc that was dropped more than `dropped`.
    """

    upper: float
    dropped: float


class NodeProof:
    """Bounds the nodes of one problem."""

    def __init__(self, problem: TreeProblem, prepared: Prepared) -> None:
        self.problem = problem
        self.prepared = prepared
        self.second_order = prepared.second_order
        #: The last bound, and the tables of its chart or the duals of its contraction.
        self.charted: tuple[float, Any] = np.inf, None

    def settle(self, mask: Mask, limit: float, clock: Clock) -> Proven:
        """Bound a node, and drop the arcs that no tree above the limit has, if that is not enough.

        Only trees that exceed the limit are of interest. The mask, uint8 (n + 1, n + 1), has the
        arcs of the node; those that are dropped leave it.
        """
        if self._takes() > clock.seconds_left:
            bound = arborescence_bound(self.problem, self.prepared.scores.forbidden)
            return Proven(bound, -np.inf)
        relaxed = self._relaxed(mask)
        upper = self._bound(mask, relaxed)
        if relaxed is None or upper <= limit or 3.0 * self._takes() > clock.seconds_left:
            return Proven(upper, -np.inf)
        through = self._through(relaxed)
        below = (mask == 1) & (through <= limit)
        if not below.any():
            return Proven(upper, -np.inf)
        mask[below] = 0
        return Proven(self._bound(mask, self._relaxed(mask)), float(through[below].max()))

    def _takes(self) -> float:
        """Return the seconds that a pass may take."""
        return SECONDS_A_FOURTH_POWER * self.problem.n**4 if self.second_order else 0.0

    def _relaxed(self, mask: Mask) -> Relaxed | None:
        """Return the scores whose best tree bounds those of a mask; None without two trees."""
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
        # as a problem's, so that the same kernels are compiled for both
        return Relaxed(read_only(arcs), read_only(pairs), constant)

    def _bound(self, mask: Mask, relaxed: Relaxed | None) -> float:
        """Return an upper bound on the trees of a mask."""
        problem = self.problem
        if relaxed is None:
            heads = mask[:, 1:].argmax(axis=0)
            return self._worth(heads) if mask[:, 1:].any(axis=0).all() else -np.inf
        if not problem.projective:
            arcs_alone = (relaxed.arcs, problem.has_one_root)
            duals = chu_liu_edmonds.with_duals(*arcs_alone)[1:]
            bound = sum(bound_by_duals(*arcs_alone, *duals))
            self.charted = bound, duals[1:4]
        elif self.second_order:
            given = self._charted(relaxed)
            chart = chart_space(problem.n + 1)
            second_order.decode(*given, False, chart)
            bound = second_order_proof.chart_bound(*given, False, chart)
            self.charted = bound, chart
        else:
            with_gaps = (relaxed.arcs, problem.has_one_root, problem.gaps)
            chart = eisner.charted(*with_gaps)[1]
            bound = proofs.chart_bound(*with_gaps, chart)
            self.charted = bound, chart
        upper = float(bound) + relaxed.constant
        return np.inf if np.isnan(upper) else upper

    def _through(self, relaxed: Relaxed) -> Scores:
        """Return an upper bound on the trees through each arc, (n + 1, n + 1).

        The scores are those that were bounded last.
        """
        problem, (bound, chart) = self.problem, self.charted
        if self.second_order:
            through = second_order_proof.bounds_by_chart(*self._charted(relaxed), chart, bound)
        elif problem.projective:
            arcs_alone = (relaxed.arcs, problem.has_one_root, problem.gaps)
            through = proofs.bounds_by_chart(*arcs_alone, chart, bound)
        else:
            penalty, value, parent = chart
            through = proofs.bounds_by_duals(relaxed.arcs, penalty, value, parent, bound)
        found: Scores = through + relaxed.constant
        return found

    def _charted(self, relaxed: Relaxed) -> tuple[Scores, Scores, Scores, Scores, bool]:
        problem = self.problem
        given = (relaxed.arcs, self.prepared.grandparents, relaxed.pairs, problem.gaps)
        return *given, problem.has_one_root

    def _worth(self, heads: NDArray[np.int64]) -> float:
        """Return the score of the only choice of heads, ``-inf`` if it is no tree."""
        problem = self.problem
        tree = heads.astype(np.int32)
        legal = proofs.tally(problem.arcs, tree, problem.projective, problem.has_one_root)[0]
        return score_tree(problem, tree) if legal else -np.inf
