"""The k best trees of a problem, with any exact decoder."""

from __future__ import annotations

from ...budget import UNLIMITED, Budget
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
    """Find up to `k` different trees, best first, as :meth:`TreeDecoder.k_best` does.

    Parameters
    ----------
    decoder
        The decoder that finds each tree and defines its score; None for the fastest decoder that
        is exact for the whole problem.

    Examples
    --------
    >>> problem = TreeProblem([[0, 1, 3], [0, 0, 1], [0, 2, 0]])
    >>> [(tree.heads.tolist(), tree.certificate.score) for tree in k_best(problem, 5)]
    [([2, 0], 5.0), ([0, 1], 2.0)]
    """
    return (decoder or exact_decoder(problem)).k_best(problem, k, budget=budget)


def exact_decoder(problem: TreeProblem) -> TreeDecoder:
    """Return the fastest decoder that is exact for the problem.

    Examples
    --------
    >>> exact_decoder(TreeProblem([[0, 1], [0, 0]], projective=False))
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
