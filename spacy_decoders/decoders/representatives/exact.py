"""The cheapest representatives, with proof."""

import math
from dataclasses import dataclass

import numpy as np

from ...arrays import checked_flags, checked_whole
from ...budget import Clock
from ...certificate import Certificate
from .branch_and_bound import ExactSearch
from .costs import canonical_order, cost_table, rounded_down
from .decoder import RepresentativesDecoder
from .kernels.enumeration import price_all
from .local_search import improve, near_one
from .margins import margins_of
from .problem import RepresentativesProblem
from .solutions import (
    RepresentativesSolution,
    certificate_of,
    least_of_others,
)

__all__ = ["ExactRepresentatives"]

NAME = "ExactRepresentatives"

#: The most choices, and pairs of sets in all of these, that are priced one by one.
FEW, TERMS = 1024, 20_000_000


@dataclass(frozen=True)
class ExactRepresentatives(RepresentativesDecoder):
    r"""Find the cheapest representatives and prove it.

    Coordinate descent from several starts gives the incumbent. Message passing on the dual
    linear program (MPLP, with the stronger update of MPLP++) moves pair costs into unary
    costs, whose minima bound every choice from below. A candidate whose bound exceeds the cost
    of the incumbent is pruned; what is left is searched depth first on the reduced costs, and
    split and bounded anew where that takes long. With integer distances and no local costs
    the bound is rounded up to the next attainable cost. If the budget ends first, the best choice
    found is returned with its bound; its iterations are bounded subproblems.

    Parameters
    ----------
    exact_margins
        Whether to prove the margin of each set, by solving again without the chosen
        candidate. If not, or if the budget ends first, a margin is only a lower bound, and
        not among the solution's `exact_margins`.
    margin_work
        Limit on these proofs: the subproblems bounded for them, times the pair costs of the
        problem. The smallest margins are proven first. None for no limit.
    starts
        Number of starts of the coordinate descent.
    seed
        Seed of the starts and of the order of vertices that breaks ties: which of several
        optimal choices is found depends on the seed and on the vertices' ids, and not on
        the order of sets and candidates in the input.

    Notes
    -----
    Costs are rounded to multiples of a quantum, about 2**-46 of their range (exactly, for
    integer distances); the bound is lowered by the most that this rounding can amount to.

    The compiled message passing only proposes potentials. Their bounds are computed from the
    costs by other code: each pruned candidate and each part of the search has a bound of its
    own, and the certificate's bound is the least of these.

    References
    ----------
    Globerson, Jaakkola 2007, *Fixing max-product: convergent message passing algorithms
    for MAP LP-relaxations*; Tourani et al. 2018, *MPLP++*. The problem: Blanco, Boldi,
    Marino 2014, section 3.

    Examples
    --------
    >>> distances = [[0, 1, 2, 3], [1, 0, 3, 2], [2, 3, 0, 1], [3, 2, 1, 0]]
    >>> problem = RepresentativesProblem(distances, [[0, 3], [1, 2], [1]])
    >>> solution = ExactRepresentatives().decode(problem)
    >>> solution.vertices.tolist(), solution.certificate.status, solution.certificate.score
    ([0, 1, 1], 'optimal', 1.0)
    >>> solution.margins.tolist(), solution.exact_margins.tolist()
    ([1.0, 2.0, inf], [True, True, True])
    """

    exact_margins: bool = True
    starts: int = 16
    seed: int = 0
    margin_work: int | None = 1_000_000

    def __post_init__(self) -> None:
        if self.margin_work is not None:
            checked_whole("margin_work", self.margin_work, low=0)
        checked_flags(self, "exact_margins")
        checked_whole("starts", self.starts, low=1)
        checked_whole("seed", self.seed, low=0)

    def _solve(self, problem: RepresentativesProblem, clock: Clock) -> RepresentativesSolution:
        if not problem.size:
            certificate = Certificate.from_bound(NAME, 0.0, 0.0, tolerance=0.0)
            return RepresentativesSolution.of(problem, [], certificate)
        count = math.prod(map(len, problem.sets))
        if problem.size == 1 or (count <= FEW and count * problem.size**2 <= TERMS):
            return self._price_all(problem)
        costs = cost_table(problem, self.seed, clock)
        if costs is None:
            return _bounded_at_once(problem, self.seed)
        start, _ = improve(costs, self.starts, self.seed, clock)
        solver = ExactSearch(costs, start, clock)
        solver.solve()
        choices = costs.given(solver.choices)
        bound, tolerance = costs.priced(solver.bound), float(costs.unit) * solver.tolerance
        given = NAME, problem, problem.offsets[:-1] + problem.checked_choices(choices), bound
        certificate = certificate_of(*given, tolerance=tolerance, iterations=solver.nodes)
        proven = self.exact_margins and certificate.is_optimal
        margins, exact = np.empty(problem.size), np.empty(problem.size, dtype=bool)
        found, exact[costs.set_order] = margins_of(solver, exact=proven, work=self.margin_work)
        margins[costs.set_order] = float(costs.unit) * found
        return RepresentativesSolution.of(problem, choices, certificate, margins, exact)

    def _price_all(self, problem: RepresentativesProblem) -> RepresentativesSolution:
        """Price every choice: where there are few, setting up a search would take longer."""
        # in canonical order, so that ties do not depend on the order of the input
        order, places, offsets = canonical_order(problem, self.seed)
        local = problem.local_costs[places]
        rows, weight = problem.members[places], problem.pair_weight
        costs, magnitudes, beside = price_all(problem.distances, offsets, rows, local, weight)
        best = rest = int(costs.argmin())
        chosen = np.empty(len(order), np.int64)
        for i in range(len(order) - 1, -1, -1):  # the last set's candidates change fastest
            rest, chosen[i] = divmod(rest, int(offsets[i + 1] - offsets[i]))
        margins, positions = np.empty(len(order)), np.empty(len(order), np.int64)
        margins[order] = least_of_others(beside, offsets, chosen) - costs[best]
        positions[order] = places[offsets[:-1] + chosen]
        choices = positions - problem.offsets[:-1]
        bounds = rounded_down(costs, magnitudes, len(order) * (len(order) + 1) // 2)
        certificate = certificate_of(NAME, problem, positions, float(bounds.min()))
        proven = self.exact_margins and certificate.is_optimal
        return RepresentativesSolution.of(problem, choices, certificate, margins, proven)


def _bounded_at_once(problem: RepresentativesProblem, seed: int) -> RepresentativesSolution:
    """Return a quick choice, and a bound from the least of all costs: no time for more is left."""
    choices, k = near_one(problem, seed), problem.size
    least = np.minimum.reduceat(problem.local_costs, problem.offsets[:-1])
    pairs = problem.pair_weight * (k * (k - 1) // 2) * float(problem.distances.min())
    magnitude = float(np.abs(least).sum()) + abs(pairs)
    bound = rounded_down(math.fsum(least) + pairs, magnitude, k)
    certificate = certificate_of(NAME, problem, problem.offsets[:-1] + choices, bound)
    others = np.add.reduceat(problem.allowed, problem.offsets[:-1], dtype=np.int64) > 1
    margins = np.where(others, bound - problem.cost(choices), np.inf)
    return RepresentativesSolution.of(problem, choices, certificate, margins)
