"""A projective tree in linear time, for budgets that are too small for one dynamic program."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from ...arrays import read_only
from .problem import NO_GAPS, TreeProblem
from .scoring import score_tree

__all__ = ["block_tree"]

#: Tokens of a block.
BLOCK = 64


def block_tree(problem: TreeProblem) -> tuple[NDArray[np.int32], float] | None:
    """Return heads (n + 1,) and their score, found by single arcs, or None.

    Blocks of tokens are parsed one by one, and then the roots of the blocks: no arcs cross, as
    each block is attached by its root alone. The time is linear in the number of blocks. The
    result is None where a block has no tree of its own, or the whole has a forbidden part.
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
    """Write the heads of some tokens among themselves; return whether there is a tree."""
    from .kernels import eisner  # compiled where it is first needed

    given = np.concatenate([[0], tokens])
    arcs = read_only(np.ascontiguousarray(problem.arcs[np.ix_(given, given)]))
    chosen, _, value, _ = eisner.decode(arcs, single_root, NO_GAPS)
    if value == -np.inf:
        return False
    heads[tokens] = given[chosen]
    return True
