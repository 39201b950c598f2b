"""The base class of tree decoders, and their k best trees."""

import heapq
from collections.abc import Sequence
from dataclasses import replace
from itertools import count

import numpy as np

from ...arrays import Floats, Integers, Integers32, checked_type, checked_whole
from ...budget import UNLIMITED, Budget, Clock, rest_of
from ...certificate import Certificate
from ...errors import InfeasibleError, UndecidedError
from .constrained import best_constrained
from .problem import TreeProblem, TreeSolution
from .proof import Through
from .scoring import score_and_scale

__all__ = ["TreeDecoder", "beside_the_best", "bound_of"]


class TreeDecoder:
    """A frozen dataclass of options that finds the best tree of a problem."""

    def decode(self, problem: TreeProblem, *, budget: Budget = UNLIMITED) -> TreeSolution:
        """Find the best tree.

        Parameters
        ----------
        problem
            The scores of all trees. Without tokens the empty tree is optimal.
        budget
            When to stop. Decoders of a single pass ignore a limit on iterations.

        Raises
        ------
        ProblemError
            If the problem has parts that this decoder can't score, or an argument is of another
            type.
        InfeasibleError
            If no tree satisfies the constraints; the message says why.
        """
        self._begun(problem, budget)
        if problem.is_constrained:
            return best_constrained(self, problem, budget)
        return self._solve(problem, budget)[0]

    @staticmethod
    def _begun(problem: TreeProblem, budget: Budget) -> Clock:
        """Check the arguments; return the running clock."""
        checked_type("problem", problem, TreeProblem)
        return checked_type("budget", budget, Budget).start()

    def _solve(self, problem: TreeProblem, budget: Budget) -> tuple[TreeSolution, Through | None]:
        """Find the best tree of a problem without labels and rules.

        Return also how to bound the trees through each arc, or None.
        """
        raise NotImplementedError(f"{type(self).__name__} has neither `decode` nor `_solve`.")

    def k_best(
        self, problem: TreeProblem, k: int, *, budget: Budget = UNLIMITED
    ) -> list[TreeSolution]:
        """Find up to `k` different trees, best first.

        As in Lawler's method, the other trees are partitioned by where they depart from a known
        one, and a part is decoded if it may have a better tree than those found so far.

        Parameters
        ----------
        k
            How many, at least 1; fewer are returned if there are no more.
        budget
            Iterations are those of each decoding, seconds those of all. The bounds of parts that
            were not decoded in time enter each `rank_bound`.

        Returns
        -------
        list of TreeSolution
            Every certificate has the bound on the best tree, so the gap of the k-th is how far it
            falls short of that. Each `rank_bound` bounds every tree that does not precede: within
            the certificate's tolerance of the score, the rank is proven. Parts that were not
            decoded are bounded by charts, which are checked.

        Raises
        ------
        ProblemError
            If `k` is less than 1.
        InfeasibleError
            If there is no tree.

        References
        ----------
        Lawler (1972), A Procedure for Computing the K Best Solutions to Discrete Optimization
        Problems.
        """
        k = checked_whole("k", k, low=1)
        order = count()  # ties are listed in the order they were found
        clock = self._begun(problem, budget)
        first = self.decode(problem, budget=budget)
        # entries are the negated score, or bound if the part is yet to be decoded; whether it is;
        # the order; the best tree of the part and the part, or the tree that it departs from and
        # that tree's part; how many heads are fixed; an upper bound on its trees
        heap = [(-_score(first), False, next(order), first, problem, 0, bound_of(first))]
        ranked: list[TreeSolution] = []
        undecided: list[float] = []  # bounds of parts of which no tree is known
        while heap:
            _, is_open, _, solution, part, fixed, upper = heapq.heappop(heap)
            if is_open:
                try:
                    if clock.exhausted() or self.seconds_of_charts(problem) > clock.seconds_left:
                        raise UndecidedError
                    part = _departing(part, solution.heads, fixed)
                    other = self.decode(part, budget=rest_of(clock, 0))
                except InfeasibleError:
                    continue
                except UndecidedError:
                    undecided.append(upper)
                    continue
                entry = (-_score(other), False, next(order), other, part, fixed, bound_of(other))
                heapq.heappush(heap, entry)
                continue
            known = [solution, *(entry[3] for entry in heap if not entry[1])]
            iterations = sum(one.certificate.iterations for one in known)
            certificate = replace(solution.certificate, iterations=iterations)
            # on all trees that are not listed yet
            bound = max([upper, *(entry[-1] for entry in heap), *undecided])
            ranked.append(replace(solution, certificate=certificate, rank_bound=bound))
            if len(ranked) == k:
                break
            if clock.exhausted():
                undecided.append(upper)
                continue
            # the key is raised by the tolerance, so that a known tree goes first unless it is
            # exceeded by more than that
            bounds = np.minimum(bound_of(solution), self._best_without(part, solution, clock))
            least = solution.certificate.tolerance - bounds
            has_others = part.allowed[:, 1:].sum(axis=0) > 1
            for token in range(fixed, problem.n):
                if has_others[token]:
                    key, most = float(least[token]), float(bounds[token])
                    entry = (key, True, next(order), solution, part, token, most)
                    heapq.heappush(heap, entry)
        # so trees may be out of order by no more than the tolerance
        return beside_the_best(sorted(ranked, key=_score, reverse=True), bound_of(first))

    def seconds_of_charts(self, problem: TreeProblem, number: float = 1.0) -> float:
        """Return the seconds that so many charts may take, beyond what is always allowed."""
        return 0.0

    def _best_without(self, problem: TreeProblem, best: TreeSolution, clock: Clock) -> Floats:
        """Return for each token an upper bound on the trees that give it another head, (n,)."""
        return np.full(problem.n, bound_of(best))

    def objective(
        self, problem: TreeProblem, heads: Integers32, labels: Integers | None
    ) -> tuple[float, float]:
        """Return the score of a tree, and the sum of the absolute values of its parts' scores."""
        return score_and_scale(problem, heads, labels)


def _departing(problem: TreeProblem, heads: Integers32, token: int) -> TreeProblem:
    """Return the part of the trees that depart from one with these heads first at a token."""
    allowed, before = np.array(problem.allowed), np.arange(token)
    allowed[:, before + 1] = False
    allowed[heads[:token], before + 1] = True
    allowed[heads[token], token + 1] = False
    return problem.restricted(allowed)


def _score(solution: TreeSolution) -> float:
    score = solution.certificate.score
    assert score is not None  # decoders raise where they have no tree
    return score


def beside_the_best(solutions: Sequence[TreeSolution], bound: float) -> list[TreeSolution]:
    """Return ranked trees with certificates that compare each with a bound on all trees.

    A certificate is about the problem, not about a rank or a part of the trees: the gap is the
    largest possible loss, and only a tree that attains the bound is optimal. Each keeps its own
    tolerance, which is limited by its own scale.
    """
    ranked = []
    for solution in solutions:
        own = solution.certificate
        certificate = Certificate.from_bound(
            own.decoder,
            _score(solution),
            bound,
            tolerance=own.tolerance,
            scale=np.inf,  # the tolerance already respects its limit
            scope=own.scope,
            iterations=own.iterations,
        )
        ranked.append(replace(solution, certificate=certificate))
    return ranked


def bound_of(solution: TreeSolution) -> float:
    """Return the bound on all trees, infinite if there is none."""
    bound = solution.certificate.bound
    return np.inf if bound is None else bound
