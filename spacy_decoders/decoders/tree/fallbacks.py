"""First-order bounds, and fast fallbacks: trees of separately parsed blocks."""

from functools import cache, partial
from typing import Any, NamedTuple

import numpy as np

from ...arrays import Booleans, Floats, Integers, Integers32, read_only
from ...budget import Clock
from ...certificate import tolerance_of
from .problem import NO_GAPS, TreeProblem
from .proof import Through, rounding_slack
from .scoring import score_tree

__all__ = [
    "BlockTree",
    "TreeBound",
    "arborescence_bound",
    "best_by_arcs",
    "block_tree",
    "bounded",
    "most_of_arcs",
    "tree_in_blocks",
]

#: Tokens in a block.
BLOCK = 64


# cached, since an import statement for every tree would take longer
@cache
def _kernels() -> tuple[Any, Any, Any]:
    from .kernels import chu_liu_edmonds, eisner, proofs  # compiled where they are first needed

    return chu_liu_edmonds, eisner, proofs


class BlockTree(NamedTuple):
    """Heads (n + 1,), the score of the tree, and a bound on all trees."""

    heads: Integers32
    score: float
    bound: float


class TreeBound(NamedTuple):
    """The best first-order tree, and bounds on the others."""

    #: An upper bound on all trees; ``-inf`` if there is none.
    value: float
    #: An upper bound on the trees through each arc. **Shape:** ``(n + 1, n + 1)``
    through: Floats
    #: The heads of the tree that attains `value`, -1 for the root. **Shape:** ``(n + 1,)``
    heads: Integers


def bounded(
    arcs: Floats, projective: bool, single_root: bool, gaps: Floats = NO_GAPS
) -> tuple[Integers32, float, float, Through]:
    """Return the best first-order tree, a bound on all, its rounding error, and bounds by arcs.

    The heads are (n,). The bound is ``-inf`` if there is no tree, and infinite if its check fails.
    The arcs are read-only.
    """
    chu_liu_edmonds, eisner, proofs = _kernels()
    if projective:
        given = (arcs, single_root, gaps)
        heads, chart, _, positive = eisner.charted(*given)
        bound, slack = proofs.chart_bound(*given, chart), 0.0
        if bound > -np.inf:
            slack = rounding_slack(len(heads) * (2 if gaps.size else 1), bound, positive)
        return heads, bound, slack, partial(proofs.bounds_by_chart, *given, chart, bound)
    heads, bound, *duals = chu_liu_edmonds.with_duals(arcs, single_root)
    slack = 0.0
    if bound > -np.inf:
        bound, slack = proofs.dual_bound(arcs, single_root, *duals)
    elif _has_tree(arcs > -np.inf, single_root):
        bound = np.inf
    penalty, value, parent, _ = duals
    upper = bound + 3.0 * slack  # as the sums over the sets that an arc enters are rounded too
    through = partial(proofs.bounds_by_duals, arcs, penalty, value, parent, upper)
    return heads, bound, slack, through


def _has_tree(allowed: Booleans, single_root: bool) -> bool:
    """Return whether the allowed arcs contain any tree, projective or not."""
    from scipy.sparse import csr_matrix
    from scipy.sparse.csgraph import breadth_first_order

    starts = np.zeros(1, np.int64)
    if single_root and len(allowed) > 1:  # the root's only modifier is above all other tokens
        starts, allowed = np.flatnonzero(allowed[0, 1:]), allowed[1:, 1:]
    graph = csr_matrix(allowed)
    return any(len(breadth_first_order(graph, one)[0]) == len(allowed) for one in starts)


def best_by_arcs(
    arcs: Floats, projective: bool, single_root: bool, gaps: Floats = NO_GAPS
) -> TreeBound:
    """Find the best first-order tree, with boundary scores if it is projective."""
    scores = read_only(np.ascontiguousarray(arcs))
    heads, value, slack, find_through = bounded(scores, projective, single_root, gaps)
    through = find_through()
    with_root = np.concatenate([[-1], heads]).astype(np.int64)
    if value == -np.inf:
        return TreeBound(-np.inf, through, with_root)
    return TreeBound(float(value) + slack, through + 2.0 * slack, with_root)


def arborescence_bound(problem: TreeProblem, forbidden: float) -> float:
    """Bound the best tree by the best arborescence, which may have crossing arcs.

    The score of each arc includes the most that grandparents, siblings and factors can add.
    `forbidden` is the finite score that stands for a forbidden part.
    """
    arcs, constant = most_of_arcs(problem, forbidden)
    _, bound, slack, _ = bounded(read_only(arcs), False, problem.has_one_root)
    if bound == -np.inf:
        return bound
    bound += slack
    constant += float(np.maximum(problem.gaps, 0.0).sum())
    return bound + constant + tolerance_of(abs(bound) + constant)


def most_of_arcs(problem: TreeProblem, forbidden: float = -np.inf) -> tuple[Floats, float]:
    """Return the most that each arc can add to a tree with its other parts, and a constant.

    No tree scores more than the sum of its arcs under these scores plus the constant, boundaries
    aside. A forbidden part scores `forbidden`.
    """
    arcs, allowed, constant = problem.arcs.copy(), problem.allowed, 0.0
    for h in range(1, problem.n + 1):
        if problem.grandparents is not None:
            above = problem.grandparents[allowed[:, h], h, :]
            arcs[h] += np.maximum(above.max(axis=0, initial=-np.inf), forbidden)
    for h in range(1 if problem.single_root else 0, problem.n + 1):
        if problem.siblings is not None:
            gains = np.triu(np.maximum(problem.siblings[h], 0.0), 1)
            gains *= allowed[h][:, None] & allowed[h]
            arcs[h] += 0.5 * (gains.sum(axis=0) + gains.sum(axis=1))
    factors = problem.factors
    if factors is not None:
        owner = np.repeat(np.arange(factors.count), np.diff(factors.offsets))
        least = np.maximum(factors.at_least, 1)
        # a gain for `least` arcs or more is at most 1 / least of it for each arc in the tree
        gains = np.where(factors.at_least > 0, np.maximum(factors.scores, 0.0) / least, 0.0)
        np.add.at(arcs, (factors.arcs[:, 0], factors.arcs[:, 1]), gains[owner])
        constant = float(np.maximum(factors.scores[factors.at_least <= 0], 0.0).sum())
    return arcs, constant


def tree_in_blocks(
    problem: TreeProblem, seconds: float, clock: Clock, forbidden: float = -np.inf
) -> BlockTree | None:
    """Return a tree of separately parsed blocks if there is too little time for a full pass.

    A pass over the whole problem may take so many `seconds`. Returns None if there is time, or no
    such tree. `forbidden` is the score that stands for a forbidden part.
    """
    if not seconds > clock.seconds_left or (found := block_tree(problem)) is None:
        return None
    return BlockTree(*found, arborescence_bound(problem, forbidden))


def block_tree(problem: TreeProblem) -> tuple[Integers32, float] | None:
    """Return the heads (n + 1,) of a tree of separately parsed blocks and their score, or None.

    Blocks of tokens are parsed one by one by first-order scores, and then the roots of the blocks:
    no arcs cross, as each block is attached by its root alone. The time is linear in the number of
    blocks. The result is None if a block has no tree of its own, or the tree a forbidden part.
    """
    heads = np.zeros(problem.n + 1, np.int32)
    tops = []
    for begin in range(1, problem.n + 1, BLOCK):
        tokens = np.arange(begin, min(begin + BLOCK, problem.n + 1))
        if not _attach(problem, tokens, True, heads) or heads[tokens].all():
            return None
        tops.append(int(tokens[heads[tokens] == 0][0]))
    if not _attach(problem, np.array(tops), problem.single_root, heads):
        return None
    score = score_tree(problem, heads[1:])
    return (heads, score) if score > -np.inf else None


def _attach(problem: TreeProblem, tokens: Integers, single_root: bool, heads: Integers32) -> bool:
    """Parse some tokens among themselves, writing their heads; return whether there is a tree."""
    eisner = _kernels()[1]
    given = np.concatenate([[0], tokens])
    arcs = read_only(np.ascontiguousarray(problem.arcs[np.ix_(given, given)]))
    chosen, _, value, _ = eisner.charted(arcs, single_root, NO_GAPS)
    if value == -np.inf:
        return False
    heads[tokens] = given[chosen]
    return True
