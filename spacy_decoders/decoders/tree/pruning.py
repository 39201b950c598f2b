"""Leaving out unlikely heads before decoding."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from ...errors import ProblemError
from .decoder import infeasible
from .problem import TreeProblem

__all__ = ["prune"]


def prune(problem: TreeProblem, k: int) -> TreeProblem:
    """Return the problem with the k best heads of every token, by the scores of single arcs.

    The arcs of the best tree by single arcs are kept as well, so that there is always a tree
    left. What is decoded then is optimal among the trees that are left: the certificate says
    so by its scope, ``"pruned"`` if any candidate was removed.

    Parameters
    ----------
    problem
        The scores.
    k
        Heads to keep for each token, at least 1. Equal scores keep the first head.

    Raises
    ------
    ProblemError
        If `k` is less than 1.
    InfeasibleError
        If there is no tree to begin with.

    References
    ----------
    Qian and Liu (2013), section 4.4; Martins, Smith and Xing (2009), Concise Integer Linear
    Programming Formulations for Dependency Parsing.

    Examples
    --------
    >>> problem = TreeProblem([[0, 1, 3, 0], [0, 0, 1, 2], [0, 2, 0, 1], [0, 0, 0, 0]])
    >>> smaller = prune(problem, 1)
    >>> int(problem.allowed.sum()), int(smaller.allowed.sum()), smaller.scope
    (9, 4, 'pruned')
    """
    if k < 1:
        raise ProblemError(f"k: keep at least 1 head for each token, got {k}.")
    tokens = np.arange(1, problem.n + 1)
    keep = np.zeros_like(problem.allowed)
    best = np.argsort(-problem.arcs[:, 1:], axis=0, kind="stable")[:k]
    keep[best, tokens] = True
    heads = _best_first_order_tree(problem)
    keep[heads, tokens] = True
    keep &= problem.allowed
    removed = (keep != problem.allowed).any()
    return problem.restricted(keep, scope="pruned" if removed else None)


def _best_first_order_tree(problem: TreeProblem) -> NDArray[np.int32]:
    # the compiled loops load where they are first needed
    from .kernels import chu_liu_edmonds, eisner

    if problem.projective:
        heads, _, bound, _ = eisner.decode(problem.arcs, problem.single_root)
    else:
        heads, _, bound, _, _ = chu_liu_edmonds.decode(problem.arcs, problem.single_root, False)
    if bound == -np.inf:
        raise infeasible(problem)
    return np.asarray(heads)
