"""The k best trees of a problem, with any exact decoder."""

from __future__ import annotations

import heapq
from collections.abc import Iterator
from dataclasses import replace
from itertools import count

import numpy as np
from numpy.typing import NDArray

from ...arrays import checked_whole
from ...budget import UNLIMITED, Budget
from ...certificate import Certificate
from ...errors import InfeasibleError, UndecidedError
from ..alternatives import beside_the_best
from .decoder import TreeDecoder
from .problem import TreeProblem, TreeSolution

__all__ = ["exact_decoder", "k_best"]


def k_best(
    problem: TreeProblem,
    k: int,
    *,
    decoder: TreeDecoder | None = None,
    budget: Budget = UNLIMITED,
) -> list[TreeSolution]:
    """Find up to `k` different trees, best first.

    Parameters
    ----------
    problem
        The scores.
    k
        How many, at least 1; fewer are returned if there are no more.
    decoder
        The decoder that finds each tree and defines its score; None for the fastest decoder that
        is exact for the whole problem.
    budget
        For each decoding.

    Returns
    -------
    list of TreeSolution
        Every certificate compares with the best tree of all: the gap of the others is the
        difference between their scores and its score. Each `rank_bound` bounds every tree that
        does not precede: within the certificate's tolerance of the score, the rank is proven.

    Raises
    ------
    ProblemError
        If `k` is less than 1.
    InfeasibleError
        If there is no tree.

    References
    ----------
    Lawler (1972), A Procedure for Computing the K Best Solutions to Discrete Optimization
    Problems. Section 5.2 of Qian and Liu (2013), where `BranchAndBound` decodes.

    Examples
    --------
    >>> problem = TreeProblem([[0, 1, 3], [0, 0, 1], [0, 2, 0]])
    >>> [(tree.heads.tolist(), tree.certificate.score) for tree in k_best(problem, 5)]
    [([2, 0], 5.0), ([0, 1], 2.0)]
    """
    k = checked_whole("k", k, low=1)
    decoder = decoder or exact_decoder(problem)
    own = getattr(decoder, "k_best", None)
    if own is not None:
        found: list[TreeSolution] = own(problem, k, budget=budget)
        return found
    return k_best_by_parts(problem, k, decoder, budget)


def k_best_by_parts(
    problem: TreeProblem, k: int, decoder: TreeDecoder, budget: Budget
) -> list[TreeSolution]:
    """Return the k best trees by decoding parts of the space of trees, as Lawler does."""
    order = count()  # equal scores come out in the order they were found
    first = decoder.decode(problem, budget=budget)
    heap = [(-_score(first), next(order), first, problem, 0)]
    ranked: list[TreeSolution] = []
    undecided: list[TreeSolution] = []  # each bounds a part of which no tree is known
    while heap and len(ranked) < k:
        _, _, solution, part, fixed = heapq.heappop(heap)
        open_parts = [solution, *(entry[2] for entry in heap), *undecided]
        ranked.append(_ranked(problem, solution, open_parts))
        if len(ranked) == k:
            break
        for token, rest in _departures(part, solution.heads, fixed):
            try:
                other = decoder.decode(rest, budget=budget)
            except InfeasibleError:
                continue
            except UndecidedError:
                undecided.append(solution)
                continue
            heapq.heappush(heap, (-_score(other), next(order), other, rest, token))
    return beside_the_best(ranked)


def exact_decoder(problem: TreeProblem) -> TreeDecoder:
    """Return the fastest decoder that is exact for the problem.

    Examples
    --------
    >>> exact_decoder(TreeProblem(np.zeros((3, 3)), projective=False))
    ChuLiuEdmonds()
    """
    # each compiles its own kernels
    if not problem.is_first_order:
        if problem.projective and problem.siblings is None and not problem.has_factors:
            from .second_order import SecondOrder

            return SecondOrder()
        from .branch_and_bound import BranchAndBound

        return BranchAndBound()
    if problem.projective:
        from .eisner import Eisner

        return Eisner()
    from .chu_liu_edmonds import ChuLiuEdmonds

    return ChuLiuEdmonds()


def _departures(
    problem: TreeProblem, heads: NDArray[np.int32], fixed: int
) -> Iterator[tuple[int, TreeProblem]]:
    """Partition all trees but one by the first token at which they deviate from it.

    Of the first `fixed` tokens only the tree's heads are allowed already.
    """
    allowed = np.array(problem.allowed)
    for token in range(fixed, problem.n):
        head = int(heads[token])
        allowed[head, token + 1] = False
        if allowed[:, token + 1].any():
            yield token, problem.restricted(allowed)
        allowed[:, token + 1] = False
        allowed[head, token + 1] = True


def _score(solution: TreeSolution) -> float:
    score = solution.certificate.score
    assert score is not None  # only the infeasible have none, and they are raised
    return score


def _ranked(
    problem: TreeProblem, solution: TreeSolution, open_parts: list[TreeSolution]
) -> TreeSolution:
    """Set each rank bound to the bound over all remaining parts; for the first, over all trees."""
    own = solution.certificate
    certificates = [part.certificate for part in open_parts]
    bound = max(np.inf if one.bound is None else one.bound for one in certificates)
    certificate = Certificate.from_bound(
        own.decoder,
        _score(solution),
        bound,
        tolerance=own.tolerance,
        scale=np.inf,  # the tolerance is within its limit already
        scope=problem.scope,
        iterations=sum(one.iterations for one in certificates),
    )
    return replace(solution, certificate=certificate, rank_bound=bound)
