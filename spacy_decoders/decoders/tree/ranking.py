"""The k best trees, max-marginals and margins of a problem, with any exact decoder."""

from __future__ import annotations

import numpy as np
from numpy.typing import ArrayLike, NDArray

from ...arrays import checked_indices
from ...budget import UNLIMITED, Budget, rest_of
from ...errors import InfeasibleError, UndecidedError
from .decoder import TreeDecoder
from .problem import TreeProblem, TreeSolution
from .scoring import score_and_scale, score_tree

__all__ = ["exact_decoder", "head_margins", "k_best", "max_marginals"]

#: How far a value may be from its bound, as a share of the parts' absolute scores.
CLOSE = 1e-9


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


def max_marginals(problem: TreeProblem, *, budget: Budget = UNLIMITED) -> NDArray[np.float64]:
    """Return the score of the best tree through each arc.

    Single arcs, and arcs with grandparents in projective trees, take one inside and outside pass.
    Otherwise each arc takes a decoding of its own, exact but slow: where only the heads' margins
    are needed, :func:`head_margins` is much faster.

    Parameters
    ----------
    budget
        For each decoding of its own.

    Returns
    -------
    float64 (n + 1, n + 1)
        ``-inf`` where no tree has the arc, NaN where the value was not proven, as where the
        budget ended. All others are exact within 1e-9 (1 + the absolute scores of that tree's
        parts).

    Examples
    --------
    >>> max_marginals(TreeProblem([[0, 1, 3], [0, 0, 1], [0, 2, 0]]))
    array([[-inf,   2.,   5.],
           [-inf, -inf,   2.],
           [-inf,   5., -inf]])
    """
    if problem.labels is not None and not problem.rules:
        problem = problem.with_arcs(problem.arcs + problem.labels.max(axis=2))
    if not _has_chart(problem):
        return _one_by_one(problem, budget)
    # the kernels are compiled where they are first needed
    if problem.is_first_order:
        from .kernels import eisner

        charted: NDArray[np.float64] = eisner.max_marginals(
            problem.arcs, problem.has_one_root, problem.gaps
        )
        return charted
    from .second_order import second_order_marginals

    return second_order_marginals(problem)


def _one_by_one(problem: TreeProblem, budget: Budget) -> NDArray[np.float64]:
    """Search for the best tree through each arc."""
    marginals = np.full(problem.arcs.shape, -np.inf)
    allowed = np.array(problem.allowed)
    for head, token in np.argwhere(problem.allowed):
        allowed[:, token] = False
        allowed[head, token] = True
        marginals[head, token] = _best_score(problem.restricted(allowed), budget)
        allowed[:, token] = problem.allowed[:, token]
    return marginals


def head_margins(
    problem: TreeProblem, heads: ArrayLike, *, budget: Budget = UNLIMITED
) -> NDArray[np.float64]:
    """Return the margin of each head: the best score less that of the best tree with another head.

    Parameters
    ----------
    heads
        int (n,), a best tree of the problem.
    budget
        Where siblings or factors make searches necessary: the iterations of each, the seconds of
        all.

    Returns
    -------
    float64 (n,)
        ``inf`` where no tree has another head for the token, NaN where the budget ended before
        the margin was proven; else as exact as :func:`max_marginals`. Negative if the heads
        are not those of a best tree.

    Examples
    --------
    >>> head_margins(TreeProblem([[0, 1, 3], [0, 0, 1], [0, 2, 0]]), [2, 0])
    array([3., 3.])
    """
    tree = checked_indices("heads", heads, (problem.n,), low=0, high=problem.n + 1, dtype=np.int64)
    tokens = np.arange(1, problem.n + 1)
    if _has_chart(problem):
        others = np.array(max_marginals(problem))
        best = others[tree, tokens]
        others[tree, tokens] = -np.inf
        margins: NDArray[np.float64] = best - others[:, 1:].max(axis=0, initial=-np.inf)
        return margins
    clock, score = budget.start(), score_tree(problem, tree)
    if problem.rules:  # labels that break no rule, of the only tree that is left
        only = np.zeros_like(problem.allowed)
        only[tree, tokens] = True
        score = _best_score(problem.restricted(only), budget)
    margins = np.full(problem.n, np.nan)
    for token in tokens:
        if clock.exhausted():
            break
        allowed = np.array(problem.allowed)
        allowed[tree[token - 1], token] = False
        rest = rest_of(clock, 0)
        margins[token - 1] = score - _best_score(problem.restricted(allowed), rest)
    return margins


def _has_chart(problem: TreeProblem) -> bool:
    """Return whether one dynamic program covers the whole problem."""
    if problem.is_constrained or (problem.boundaries is not None and not problem.is_first_order):
        return False
    return problem.projective and problem.siblings is None and not problem.has_factors


def _best_score(problem: TreeProblem, budget: Budget) -> float:
    """Return the score of the best tree: ``-inf`` without any, NaN without a proof."""
    try:
        found = exact_decoder(problem).decode(problem, budget=budget)
    except InfeasibleError:
        return -np.inf
    except UndecidedError:
        return np.nan
    score, gap = found.certificate.score, found.certificate.gap
    if score is None or gap is None:
        return np.nan
    scale = score_and_scale(problem, found.heads, found.labels)[1]
    return score if gap <= CLOSE * (1.0 + scale) else np.nan
