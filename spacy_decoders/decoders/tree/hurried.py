"""A legal projective tree and a bound where the budget does not last for a single pass."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from ...arrays import read_only
from .problem import TreeProblem
from .scoring import score_tree

__all__ = ["hurried_bound", "hurried_tree"]

#: Tokens that are parsed together.
BLOCK = 64


def hurried_tree(problem: TreeProblem) -> tuple[NDArray[np.int32], float] | None:
    """Return heads (n + 1,) and their score, found by single arcs, or None.

    Blocks of tokens are parsed one by one, and then their roots among themselves: nothing
    crosses, as each block hangs on its root alone. The time is linear in the blocks. Where a
    block has no tree of its own, or the whole has a forbidden part, there is none.
    """
    heads = np.zeros(problem.n + 1, np.int32)
    tops = []
    for begin in range(1, problem.n + 1, BLOCK):
        tokens = np.arange(begin, min(begin + BLOCK, problem.n + 1))
        if not _attach(problem, tokens, True, heads):
            return None
        tops.append(int(tokens[heads[tokens] == 0][0]))
    if not _attach(problem, np.array(tops), problem.single_root, heads):
        return None
    score = score_tree(problem, heads[1:])
    return (heads, score) if score > -np.inf else None


def _attach(
    problem: TreeProblem,
    tokens: NDArray[np.int64],
    single_root: bool,
    heads: NDArray[np.int32],
) -> bool:
    """Write the heads of some tokens among themselves; whether there is a tree."""
    from .kernels import eisner  # compiled where it is first needed

    given = np.concatenate([[0], tokens])
    arcs = read_only(np.ascontiguousarray(problem.arcs[np.ix_(given, given)]))
    chosen, _, value, _ = eisner.decode(arcs, single_root)
    if value == -np.inf:
        return False
    heads[tokens] = given[chosen]
    return True


def hurried_bound(problem: TreeProblem, forbidden: float) -> float:
    """Bound the best tree by the best arborescence, crossing arcs allowed.

    Each arc takes in the most that grandparents, siblings and factors could add.

    Parameters
    ----------
    forbidden
        The finite score of a forbidden part.
    """
    from .kernels import chu_liu_edmonds
    from .preparation import outlined_arcs

    arcs, constant = outlined_arcs(problem, forbidden), 0.0
    factors = problem.factors
    if factors is not None:
        owner = np.repeat(np.arange(factors.count), np.diff(factors.offsets))
        least = np.maximum(factors.at_least, 1)
        # a gain for `least` arcs or more is at most one part of it for each arc that is there
        gains = np.where(factors.at_least > 0, np.maximum(factors.scores, 0.0) / least, 0.0)
        np.add.at(arcs, (factors.arcs[:, 0], factors.arcs[:, 1]), gains[owner])
        constant = float(np.maximum(factors.scores[factors.at_least <= 0], 0.0).sum())
    decoded = chu_liu_edmonds.decode(read_only(arcs), problem.single_root, False)
    return float(decoded[2]) + constant + 1e-9 * (1.0 + abs(float(decoded[2])) + constant)
