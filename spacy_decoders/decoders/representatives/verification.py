"""An independent check of representatives, which shares no code with their decoders.

:func:`spacy_decoders.verify.verify` compares its findings with the certificate.
"""

import math
from itertools import combinations, pairwise
from typing import Any, NamedTuple

import numpy as np

from ...arrays import Floats, checked_type
from ...verify import Findings, best_of_program
from .problem import RepresentativesProblem

__all__ = ["examine"]

#: The most choices that are enumerated, and the most pair costs of an integer program.
ENUMERABLE, PROGRAMMABLE = 20_000, 200_000
#: A generous bound on the rounding error of a sum, relative to its absolute terms.
ROUNDING = 1e-12
#: Costs larger than this, relative to those of the choice, are beyond a solver's precision.
TOO_LARGE = 1e6
#: Larger margins are stored as this, since they are float32.
LARGEST_MARGIN = float(np.finfo(np.float32).max)


class _Costs(NamedTuple):
    """The unary costs of each set, and the costs of each pair of sets, in float64."""

    own: list[Floats]
    pairs: dict[tuple[int, int], Floats]

    def of(self, choices: list[int]) -> list[float]:
        """Return the terms of a choice."""
        own = [float(costs[c]) for costs, c in zip(self.own, choices, strict=True)]
        return own + [float(block[choices[i], choices[j]]) for (i, j), block in self.pairs.items()]


def examine(problem: Any, solution: Any, *, seconds: float) -> Findings:
    """Check whether a choice is legal, recompute its cost, and bound the least cost from below.

    Few choices are enumerated. Otherwise candidates that no cheaper choice can have are pruned,
    and an integer program bounds the cost of the rest.
    """
    checked_type("problem", problem, RepresentativesProblem)
    choices = np.asarray(solution.choices)
    if choices.shape != (len(problem.sets),) or choices.dtype.kind not in "iu":
        return Findings.illegal(f"expected {len(problem.sets)} whole numbers, got {choices!r}.")
    for i, (choice, members) in enumerate(zip(choices.tolist(), problem.sets, strict=True)):
        if not 0 <= choice < len(members):
            return Findings.illegal(f"set {i} has no candidate {choice}.")
        if problem.local is not None and problem.local[i][choice] == np.inf:
            return Findings.illegal(f"candidate {choice} of set {i} is forbidden.")
    rows = [int(s[c]) for s, c in zip(problem.sets, choices, strict=True)]
    expected = np.asarray(problem.vertices)[rows].tolist()
    if np.asarray(solution.vertices).tolist() != expected:
        return Findings.illegal(f"the vertices are not those of the choices, {expected}.")
    costs = _costs(problem)
    terms = costs.of(choices.tolist())
    score, scale = math.fsum(terms), math.fsum(map(abs, terms))
    if math.prod(len(members) for members in problem.sets) <= ENUMERABLE:
        best, bound = _all_choices(costs)
        fault = _fault_of_margins(costs, choices.tolist(), solution)
        if fault is not None:
            return Findings.illegal(fault)
    else:
        best, bound = _program(costs, score, scale, seconds)
    return Findings(None, score, scale, min(best, score), bound, minimized=True)


def _costs(problem: RepresentativesProblem) -> _Costs:
    k = len(problem.sets)
    local = problem.local or [np.zeros(len(members)) for members in problem.sets]
    weight = problem.weight / (k - 1) if k > 1 else 0.0
    pairs = {
        (i, j): weight * problem.distances[np.ix_(problem.sets[i], problem.sets[j])].astype(float)
        for i, j in combinations(range(k), 2)
    }
    return _Costs([np.asarray(own, dtype=np.float64) for own in local], pairs)


def _totals(costs: _Costs) -> tuple[Floats, Floats]:
    """Return the cost of every choice, with an axis for each set, and of its absolute terms."""
    k = len(costs.own)
    shape = tuple(len(own) for own in costs.own)
    total, size = np.zeros(shape), np.zeros(shape)
    terms = [((i,), own) for i, own in enumerate(costs.own)]
    for axes, term in [*terms, *costs.pairs.items()]:
        spread = term.reshape([shape[i] if i in axes else 1 for i in range(k)])
        total = total + spread
        size = size + np.abs(spread)
    return total, size


def _fault_of_margins(costs: _Costs, choices: list[int], solution: Any) -> str | None:
    """Return which margin that is marked as exact is wrong, or None."""
    total, size = _totals(costs)
    margins, exact = np.asarray(solution.margins), np.asarray(solution.exact_margins)
    if margins.shape != exact.shape or len(margins) != len(choices) or np.isnan(margins).any():
        return f"margins {margins.tolist()} do not belong to {len(choices)} sets."
    least = float(total.min(initial=math.inf))
    for i in np.flatnonzero(exact).tolist():
        others = np.delete(total, choices[i], axis=i)
        best = float(others.min(initial=math.inf)) - least
        slack = 1e-6 * (1.0 + float(size[np.isfinite(size)].max())) + 1e-6 * abs(best)
        if math.isfinite(best):
            best = min(best, LARGEST_MARGIN)
        margin = float(margins[i])
        if margin != best and not abs(margin - best) <= slack:
            return f"margins[{i}] is {margin!r}, but choosing otherwise costs {best!r} more."
    return None


def _all_choices(costs: _Costs) -> tuple[float, float]:
    """Return the least cost of all choices, and a lower bound that allows for rounding."""
    total, size = _totals(costs)
    least = np.unravel_index(int(np.argmin(total)), total.shape)
    allowed = np.isfinite(total)
    bound = float((total[allowed] - ROUNDING * size[allowed]).min())
    return math.fsum(costs.of([int(c) for c in least])), bound


def _program(costs: _Costs, score: float, scale: float, seconds: float) -> tuple[float, float]:
    """Return the cost of the solver's choice, and its lower bound; infinite without one."""
    costs = _narrowed(costs, score + ROUNDING * scale)
    columns = sum(block.size for block in costs.pairs.values())
    arrays = [*costs.own, *costs.pairs.values()]
    largest = max((float(np.abs(array).max(initial=0.0)) for array in arrays), default=0.0)
    if columns > PROGRAMMABLE or largest > TOO_LARGE * (1.0 + scale):
        return math.inf, -math.inf
    from scipy.sparse import block_diag, bmat, csr_matrix, identity, kron, vstack

    starts = np.cumsum([0, *(len(own) for own in costs.own)])
    objective = [*costs.own, *(block.ravel() for block in costs.pairs.values())]
    # one candidate is chosen from each set, and for each pair of sets the pair of their choices
    every = identity(starts[-1], format="csr")
    members = [every[first:last] for first, last in pairwise(starts)]
    matrix: Any = vstack([csr_matrix(part.sum(axis=0)) for part in members])
    if costs.pairs:
        sums = [
            vstack([kron(identity(a), np.ones((1, b))), kron(np.ones((1, a)), identity(b))])
            for a, b in (block.shape for block in costs.pairs.values())
        ]
        taken = vstack([members[side] for pair in costs.pairs for side in pair])
        matrix = bmat([[matrix, None], [-taken, block_diag(sums)]], format="csr")
    right = np.arange(matrix.shape[0]) < len(costs.own)
    whole = np.arange(matrix.shape[1]) < starts[-1]
    gains = -np.concatenate(objective)
    solved, bound = best_of_program(gains, [(matrix, right, right)], seconds, whole)
    if solved is None:
        return math.inf, -bound
    chosen = [int(np.argmax(x)) for x in np.split(solved[: starts[-1]], starts[1:-1])]
    return math.fsum(costs.of(chosen)), -bound


def _narrowed(costs: _Costs, limit: float) -> _Costs:
    """Prune the candidates with which every choice costs more than `limit`.

    A choice with a candidate costs at least its unary cost, its least pair cost with each other
    set, and the least of all the other costs.
    """
    own_least = [float(own.min()) for own in costs.own]
    pair_least = {key: float(block.min()) for key, block in costs.pairs.items()}
    parts = [*own_least, *pair_least.values()]
    least, size = math.fsum(parts), math.fsum(map(abs, parts))
    kept = []
    for i, own in enumerate(costs.own):
        more, sizes = own - own_least[i], np.abs(own)
        for (a, b), block in costs.pairs.items():
            if i in (a, b):
                nearest = block.min(axis=1 if i == a else 0)
                more, sizes = more + nearest - pair_least[a, b], sizes + np.abs(nearest)
        finite = np.isfinite(own)
        lower = least + more[finite] - ROUNDING * (size + sizes[finite])
        kept.append(np.flatnonzero(finite)[lower <= limit])
    return _Costs(
        [own[members] for own, members in zip(costs.own, kept, strict=True)],
        {(i, j): block[np.ix_(kept[i], kept[j])] for (i, j), block in costs.pairs.items()},
    )
