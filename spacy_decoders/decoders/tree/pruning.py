"""Heuristic pruning of unlikely heads before decoding."""

import numpy as np

from ...arrays import Integers32, checked_type, checked_whole, is_number
from ...errors import ProblemError
from .fallbacks import best_by_arcs
from .problem import TreeProblem
from .proof import infeasible
from .ranking import exact_decoder
from .rule_limits import LabelledArcs

__all__ = ["prune"]


def prune(problem: TreeProblem, k: int | None = None, *, beam: float | None = None) -> TreeProblem:
    """Return the problem with only the likely heads of every token, by first-order scores.

    The arcs of the best first-order tree are kept as well, so that there is a tree unless parts of
    several arcs, or rules, forbid it. The decoded tree is then optimal among the remaining ones,
    and the certificate's scope is ``"pruned"`` if any candidate was removed.

    Parameters
    ----------
    k
        Number of heads to keep for each token, at least 1. Among equal scores the first is kept.
    beam
        Keep an arc only if its first-order max-marginal is at most this far below the score of the
        best tree; at least 0. Tokens with large margins keep one head, ambiguous ones many.
        Non-projective problems keep some more, as upper bounds replace the max-marginals. With
        `k`, only the arcs that `k` keeps are considered.

    Raises
    ------
    ProblemError
        If `k` is not an integer of at least 1, or `beam` is negative.
    InfeasibleError
        If there is no tree to begin with.

    References
    ----------
    Qian and Liu (2013), section 4.4; Martins, Smith and Xing (2009), Concise Integer Linear
    Programming Formulations for Dependency Parsing. By max-marginals: Rush and Petrov (2012),
    Vine Pruning for Efficient Multi-Pass Dependency Parsing.

    Examples
    --------
    >>> problem = TreeProblem([[0, 1, 3, 0], [0, 0, 1, 2], [0, 2, 0, 1], [0, 0, 0, 0]])
    >>> smaller = prune(problem, 1)
    >>> int(problem.allowed.sum()), int(smaller.allowed.sum()), smaller.scope
    (9, 4, 'pruned')
    >>> int(prune(problem, beam=1.0).allowed.sum())
    3
    """
    checked_type("problem", problem, TreeProblem)
    if k is not None:
        k = checked_whole("k", k, low=1)
    if beam is not None and not (is_number(beam) and beam >= 0):
        raise ProblemError(f"beam: must be at least 0, got {beam!r}.")
    ranked, keep, tokens = _by_arcs(problem), problem.allowed, np.arange(1, problem.n + 1)
    if k is not None:
        keep = np.zeros_like(problem.allowed)
        keep[np.argsort(-ranked.arcs[:, 1:], axis=0, kind="stable")[:k], tokens] = True
        keep[_best_first_order_tree(ranked), tokens] = True
        keep &= ranked.allowed
    if beam is not None and problem.n:
        arcs = np.where(keep, ranked.arcs, -np.inf)
        found = best_by_arcs(arcs, problem.projective, problem.has_one_root, problem.gaps)
        if found.value == -np.inf:
            raise infeasible(problem)
        # with a slack, so that rounding can't remove the arcs of the best tree
        least = found.value - beam - 1e-9 * max(1.0, abs(found.value))
        keep = keep & (found.through >= least)
    if (k is not None or beam is not None) and ranked is not problem:
        keep = np.array(keep)
        keep[_best_first_order_tree(problem), tokens] = True
        keep &= problem.allowed
    removed = (keep != problem.allowed).any()
    return problem.restricted(keep, scope="pruned") if removed else problem


def _by_arcs(problem: TreeProblem) -> TreeProblem:
    """Return the problem with the best label of each arc, without the arcs that rules forbid."""
    if not problem.is_constrained and (problem.boundaries is None or problem.projective):
        return problem
    arcs = LabelledArcs(problem.rules, problem.arcs, problem.labels)
    return problem.with_arcs(arcs.arcs_with(arcs.possible))


def _best_first_order_tree(problem: TreeProblem) -> Integers32:
    by_arcs = problem.unchecked(grandparents=None, siblings=None, factors=None)
    return exact_decoder(by_arcs).decode(by_arcs).heads
