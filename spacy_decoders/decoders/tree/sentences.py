"""Trees and sentence boundaries together where no chart covers both: one problem per sentence.

The best sequence of sentences is a path over the tokens, whose steps are spans that may be a
sentence. A step scores the boundary at its beginning plus the best tree over its tokens. That tree
is searched only if the step is on the best path under optimistic first-order bounds: once all
steps of the best path have been searched, no other path is better.
"""

from collections import Counter
from typing import NamedTuple

import numpy as np

from ...arrays import Floats, Integers32
from ...budget import Budget, Clock, rest_of
from ...errors import InfeasibleError, ProblemError, UndecidedError
from .decoder import TreeDecoder
from .eisner import Eisner
from .factors import Factors
from .fallbacks import arborescence_bound, block_tree, most_of_arcs
from .problem import TreeProblem, TreeSolution
from .proof import certified, rounding_slack

__all__ = ["best_sentences", "part_of"]


#: Iterations of the first search of a span, and the factor by which each later one gets more.
FEW, MORE = 6, 4


class Path(NamedTuple):
    """A sequence of sentences: where each begins, then the number of tokens; and its value."""

    ends: list[int]
    value: float


def best_sentences(decoder: TreeDecoder, problem: TreeProblem, budget: Budget) -> TreeSolution:
    """Return the best sequence of sentences, each with its tree.

    The decoder finds the best tree of one sentence, and bounds all others; the budget is for all
    searches together. Raises `ProblemError` if a factor couples arcs that may be in different
    sentences, `InfeasibleError` if in no sequence every sentence has a tree, and `UndecidedError`
    if the budget ends before one is found.
    """
    _refuse_coupling(problem)
    return _Sentences(decoder, problem, budget.start()).run()


class _Sentences:
    """The spans of a problem, and the trees found for them."""

    def __init__(self, decoder: TreeDecoder, problem: TreeProblem, clock: Clock) -> None:
        self.decoder = decoder
        self.problem = problem
        self.clock = clock
        self.found: dict[tuple[int, int], TreeSolution] = {}
        self.tries: Counter[tuple[int, int]] = Counter()
        self.settled: set[tuple[int, int]] = set()  # spans that need no further search
        self.iterations = 0
        # by first token and end, both from 0: an upper bound, and the score of the best known tree
        upper, positive = _optimistic(problem, clock)
        self.positive = positive + float(np.maximum(problem.gaps, 0.0).sum())
        self.is_laid_out = upper is not None
        self.upper = np.zeros((0, 1)) if upper is None else upper
        self.known = np.full_like(self.upper, -np.inf)

    def run(self) -> TreeSolution:
        problem = self.problem
        if not self.is_laid_out:
            return self._by_arcs(arborescence_bound(problem, -np.inf))
        while True:
            path = _best_path(self.upper, problem.gaps)
            if path is None:
                raise InfeasibleError(
                    "in no sequence of sentences does each have a tree: allow more arcs or "
                    "boundaries."
                )
            steps = list(zip(path.ends, path.ends[1:], strict=False))
            new = [step for step in steps if step not in self.settled]
            if not new:
                return self._joined(path)
            for step in new:
                if self.iterations and self.clock.exhausted(self.iterations):
                    known = _best_path(self.known, problem.gaps)
                    if known is None:
                        return self._by_arcs(path.value)
                    return self._joined(known._replace(value=path.value))
                self._search(step)

    def _search(self, step: tuple[int, int]) -> None:
        """Search a span, at first with few iterations: for most spans a rough bound is enough."""
        budget = rest_of(self.clock, self.iterations)
        most = FEW * MORE ** self.tries[step]
        self.tries[step] += 1
        whole = budget.iterations is not None and budget.iterations <= most
        if not whole:
            budget = Budget(budget.seconds, most)
        try:
            solution = self.decoder.decode(part_of(self.problem, *step), budget=budget)
        except InfeasibleError:
            self.iterations += 1
            self.upper[step] = -np.inf
            return
        certificate = solution.certificate
        if whole or certificate.is_optimal or certificate.iterations < most:
            self.settled.add(step)
        assert certificate.score is not None  # decoders raise if it is infeasible
        self.iterations += certificate.iterations
        if certificate.score > self.known[step]:
            self.found[step] = solution
            self.known[step] = certificate.score
        if certificate.bound is not None:
            self.upper[step] = min(self.upper[step], certificate.bound)

    def _by_arcs(self, bound: float) -> TreeSolution:
        """Return first-order projective trees: from one chart, or from blocks if time is short."""
        from .kernels import eisner, proofs  # compiled where they are first needed

        problem = self.problem
        if Eisner().seconds_of_charts(problem) <= self.clock.seconds_left:
            heads = eisner.charted(problem.arcs, False, problem.gaps)[0]
        else:
            found = block_tree(problem)
            heads = np.full(problem.n, -1, np.int32) if found is None else found[0][1:]
        legal = proofs.tally(problem.arcs, heads, True, False)[0]
        if not legal or self.decoder.objective(problem, heads, None)[0] == -np.inf:
            raise UndecidedError(
                "budget: it ended before each sentence had a tree; allow more seconds or "
                "iterations."
            )
        return self._certified(heads, 0.0, bound)

    def _joined(self, path: Path) -> TreeSolution:
        """Return the trees of a path as one solution, with the bound on all paths."""
        problem = self.problem
        heads = np.zeros(problem.n, np.int32)
        tolerance = 0.0
        for first, end in zip(path.ends, path.ends[1:], strict=False):
            part = self.found[first, end]
            heads[first:end] = np.where(part.heads > 0, part.heads + first, 0)
            tolerance += part.certificate.tolerance
        return self._certified(heads, tolerance, path.value)

    def _certified(self, heads: Integers32, tolerance: float, bound: float) -> TreeSolution:
        problem, name = self.problem, type(self.decoder).__name__
        score, scale = self.decoder.objective(problem, heads, None)
        bound += rounding_slack(2 * problem.n, bound, self.positive)
        return certified(
            name, problem, heads, score, scale, bound, 0.0, self.iterations, tolerance=tolerance
        )


def part_of(problem: TreeProblem, first: int, end: int) -> TreeProblem:
    """Return the problem of one sentence: tokens `first` to `end` - 1, counted from 0.

    Examples
    --------
    >>> problem = TreeProblem(np.arange(16.0).reshape(4, 4), boundaries=np.zeros(3))
    >>> part_of(problem, 1, 3).arcs[0].tolist()
    [-inf, 2.0, 3.0]
    """
    kept = np.concatenate([[0], np.arange(first + 1, end + 1)])
    arcs = np.ascontiguousarray(problem.arcs[np.ix_(kept, kept)])
    cubes = {
        name: np.ascontiguousarray(values[np.ix_(kept, kept, kept)])
        for name in ("grandparents", "siblings")
        if (values := getattr(problem, name)) is not None
    }
    factors = None if problem.factors is None else _factors_within(problem.factors, first, end)
    return problem.with_arcs(arcs).unchecked(boundaries=None, factors=factors, **cubes)


def _factors_within(factors: Factors, first: int, end: int) -> Factors:
    """Return the factors within a sentence, with its tokens renumbered."""
    owner = np.repeat(np.arange(factors.count), np.diff(factors.offsets))
    h, m = factors.arcs[:, 0], factors.arcs[:, 1]
    inside = (first < m) & (m <= end) & ((h == 0) | ((first < h) & (h <= end)))
    counts = np.bincount(owner[inside], minlength=factors.count)
    # a factor that scores for 0 arcs belongs to the sentence of its head
    lead = factors.arcs[np.minimum(factors.offsets[:-1], max(len(h) - 1, 0)), 0] if len(h) else h
    here = (counts > 0) | ((factors.at_least == 0) & (first < lead) & (lead <= end))
    kept = here & (factors.at_least <= counts)
    arcs = factors.arcs[inside & kept[owner]]
    arcs = np.where(arcs > 0, arcs - first, 0)
    return Factors(
        arcs,
        np.concatenate([[0], np.cumsum(counts[kept])]),
        factors.scores[kept],
        factors.at_least[kept],
        np.minimum(factors.at_most, counts)[kept],
    )


def _refuse_coupling(problem: TreeProblem) -> None:
    """Raise if a factor may couple arcs of different sentences."""
    factors = problem.factors
    if factors is None:
        return
    for place in range(factors.count):
        arcs = factors.arcs[factors.offsets[place] : factors.offsets[place + 1]]
        all_needed = factors.at_least[place] == len(arcs) > 0
        one_head = len(arcs) > 0 and (arcs[:, 0] == arcs[0, 0]).all() and arcs[0, 0] > 0
        if not one_head and not (all_needed and _are_connected(arcs)):
            raise ProblemError(
                f"factors: factor {place} may couple arcs of different sentences; with boundaries "
                "and this decoder, a factor must need all of its arcs, and these be connected, or "
                "count arcs of one head. Use projective trees and BranchAndBound, or leave it out."
            )


def _are_connected(arcs: Integers32) -> bool:
    """Return whether arcs form a connected graph, the root aside."""
    import networkx

    graph = networkx.Graph((h or m, m) for h, m in arcs.tolist())
    return bool(networkx.is_connected(graph))


def _optimistic(problem: TreeProblem, clock: Clock) -> tuple[Floats | None, float]:
    """Return an upper bound on the trees over each span, (n, n + 1), by first token and end.

    Every token takes its best head within the span, and one of them the root; ``-inf`` if one has
    neither. None if time runs out first. Also returns the sum of each token's best positive arc,
    the scale of rounding errors.
    """
    arcs, constant = most_of_arcs(problem)
    positive = float(arcs.max(axis=0, initial=0.0).sum()) + constant
    n = problem.n
    # sums over the tokens of each span so far, without a root and with one; nothing is subtracted
    # from a sum, as it may be -1e30 or -inf
    sums, rooted = np.zeros((n, n + 1)), np.full((n, n + 1), -np.inf)
    for m in range(1, n + 1):
        if clock.exhausted():
            return None, positive
        _extend(arcs, m, sums, rooted)
    rooted[np.tri(n, n + 1, 0, dtype=bool)] = -np.inf
    possible = rooted > -np.inf
    value = np.where(possible, rooted, 0.0)
    upper = value + rounding_slack(2 * n, value, positive) + constant
    return np.where(possible, upper, -np.inf), positive


def _extend(arcs: Floats, m: int, sums: Floats, rooted: Floats) -> None:
    """Add a token to the sums of all spans that contain it."""
    left = np.maximum.accumulate(arcs[m:0:-1, m])[::-1]
    right = np.maximum.accumulate(arcs[m:, m])
    own, with_m = np.maximum.outer(left, right), np.s_[:m, m:]
    rooted[with_m] = np.maximum(rooted[with_m] + own, sums[with_m] + arcs[0, m])
    sums[with_m] += own


def _best_path(upper: Floats, gaps: Floats) -> Path | None:
    """Return the best sequence of spans, None if all are forbidden."""
    n = len(upper)
    best, back = np.full(n + 1, -np.inf), np.zeros(n + 1, np.int64)
    best[0] = 0.0
    paid = np.concatenate([[0.0], gaps[2:]]) if n else gaps
    for end in range(1, n + 1):
        values = best[:end] + paid[:end] + upper[:end, end]
        back[end] = int(values.argmax())
        best[end] = values[back[end]]
    if best[n] == -np.inf:
        return None
    ends = [n]
    while ends[-1] > 0:
        ends.append(int(back[ends[-1]]))
    return Path(ends[::-1], float(best[n]))
