"""The best connected part of a tree between two sizes: exact, by a tree knapsack."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from functools import reduce

import numpy as np
from numpy.typing import ArrayLike, NDArray

from ...arrays import checked_indices, checked_scores, checked_whole
from ...certificate import Certificate, largest_tolerance
from ...errors import InfeasibleError, ProblemError

__all__ = ["SubtreeProblem", "SubtreeSolution", "TreeKnapsack"]

#: The largest size of a node.
LARGEST = 10**9
#: The most cells that the tables of a problem may have, 8 bytes each.
MOST_CELLS = 2 * 10**7

Floats = NDArray[np.float64]
Integers = NDArray[np.int64]


@dataclass(frozen=True, eq=False)
class SubtreeProblem:
    """A rooted tree whose nodes have a score and a size.

    A solution is a set of nodes that contains the root, and with each node its parent. Scores add
    up and are maximised.

    Raises `ProblemError` if a shape does not fit, a score is not finite, a parent does not come
    before its child, or a size is negative.
    """

    scores: Floats
    """Of each node. **Shape:** ``(n,)``"""
    parents: Integers
    """The parent of each node, which comes before it; -1 for the root, node 0. **Shape:** (n,)"""
    sizes: Integers
    """The size of each node, a whole number of at least 0, or several sizes of each, such as its
    words and its characters. **Shape:** ``(n,)`` or ``(n, sizes)``"""

    def __init__(self, scores: ArrayLike, parents: ArrayLike, sizes: ArrayLike) -> None:
        store = object.__setattr__
        store(self, "scores", checked_scores("scores", scores, (None,), dtype=np.float64))
        n = len(self.scores)
        if not n or not np.isfinite(self.scores).all():
            raise ProblemError("scores: expected finite scores of at least one node.")
        store(self, "parents", checked_indices("parents", parents, (n,), dtype=np.int64))
        shape = (n,) if np.ndim(sizes) == 1 else (n, None)
        store(
            self,
            "sizes",
            checked_indices("sizes", sizes, shape, low=0, high=LARGEST + 1, dtype=np.int64),
        )
        if (
            self.parents[0] != -1
            or not ((self.parents[1:] >= 0) & (self.parents[1:] < np.arange(1, n))).all()
        ):
            raise ProblemError(
                "parents: expected -1 for node 0, and an earlier node for each of the others."
            )


@dataclass(frozen=True, eq=False)
class SubtreeSolution:
    """The chosen nodes, ascending, and what is proven about them. **Shape:** ``(k,)``"""

    nodes: Integers
    certificate: Certificate


@dataclass(frozen=True)
class TreeKnapsack:
    """The best subtree at the root between two sizes.

    It is found by dynamic programming over the nodes in preorder, each either taken or left out
    with all below it. The bound comes from another recursion, which merges the tables of
    children from the leaves up.

    References
    ----------
    Cho and Shaw (1997), A Depth-First Dynamic Programming Algorithm for the Tree Knapsack Problem.

    Examples
    --------
    >>> problem = SubtreeProblem([1, 5, -1, 4], [-1, 0, 0, 2], [1, 2, 1, 1])
    >>> solution = TreeKnapsack().decode(problem, 3)
    >>> solution.nodes.tolist(), solution.certificate.status, solution.certificate.score
    ([0, 1], 'optimal', 6.0)
    """

    def decode(
        self,
        problem: SubtreeProblem,
        capacity: int | Sequence[int],
        least: int | Sequence[int] = 0,
    ) -> SubtreeSolution:
        """Find the best subtree whose sizes add up to at least `least` and at most `capacity`.

        Where nodes have several sizes, there is a limit for each. The tables are as long as the
        first capacity times the sums of the other sizes. Raises `InfeasibleError` if no subtree
        has such a size, and `ProblemError` if there is not a limit for each size, or the tables
        would not fit the memory.
        """
        several = problem.sizes.shape[1:]
        for name, limit in (("capacity", capacity), ("least", least)):
            if np.ndim(limit) and np.shape(limit) != (several or (1,)):
                raise ProblemError(
                    f"{name}: expected one limit, or one for each of the "
                    f"{(several or (1,))[0]} sizes; got {limit!r}."
                )
            for value in np.atleast_1d(limit).tolist():
                checked_whole(name, value, low=0)
        sizes, allowed = _as_numbers(problem.sizes, capacity, least)
        order, after = _preorder(problem.parents)
        nodes = _search(problem, sizes, order, after, allowed)
        if nodes is None:
            raise InfeasibleError(
                f"No subtree has a size from {least} to {capacity}: the root alone has "
                f"{problem.sizes[0]}, the whole tree {problem.sizes.sum(axis=0)}."
            )
        chosen = problem.scores[nodes]
        scale = float(np.abs(chosen).sum())
        certificate = Certificate.from_bound(
            type(self).__name__,
            float(chosen.sum()),
            _bound(problem, sizes, allowed),
            tolerance=largest_tolerance(scale) * 1e-3,
            scale=scale,
        )
        return SubtreeSolution(nodes, certificate)


def _as_numbers(
    sizes: Integers, capacity: int | Sequence[int], least: int | Sequence[int]
) -> tuple[list[int], NDArray[np.bool_]]:
    """Each node's sizes as the digits of one number, and which sums of these are allowed.

    No sum carries: a digit but for the first has room for the sum of all nodes.
    """
    rows = sizes.reshape(len(sizes), -1)
    total = rows.sum(axis=0)
    most, fewest = np.minimum(capacity, total), np.broadcast_to(least, total.shape)
    ends = np.array([most[0], *total[1:]])
    cells = len(sizes) * reduce(int.__mul__, (end + 1 for end in ends.tolist()))
    if cells > MOST_CELLS:
        raise ProblemError(
            f"sizes: tables of {cells:,} cells do not fit the memory, at most {MOST_CELLS:,} do; "
            "state fewer sizes of each node, coarser ones, or a smaller capacity."
        )
    steps = np.append(np.cumprod(ends[:0:-1] + 1)[::-1], 1)
    digits = [np.arange(end + 1) for end in ends.tolist()]
    fitting = [(d >= low) & (d <= high) for d, low, high in zip(digits, fewest, most, strict=True)]
    return (rows @ steps).tolist(), reduce(np.logical_and.outer, fitting).reshape(-1)


def _preorder(parents: Integers) -> tuple[list[int], list[int]]:
    """The nodes in preorder, and for each place the place after its subtree."""
    n = len(parents)
    children: list[list[int]] = [[] for _ in range(n)]
    for node in range(n - 1, 0, -1):
        children[parents[node]].append(node)
    order: list[int] = []
    stack = [0]
    while stack:
        node = stack.pop()
        order.append(node)
        stack += children[node]
    below = np.ones(n, dtype=np.int64)
    for node in range(n - 1, 0, -1):
        below[parents[node]] += below[node]
    return order, [place + int(below[node]) for place, node in enumerate(order)]


def _search(
    problem: SubtreeProblem,
    sizes: list[int],
    order: list[int],
    after: list[int],
    allowed: NDArray[np.bool_],
) -> Integers | None:
    """The best nodes: best[p][b] is the most that the places from p on add with a size of b."""
    n, room = len(order), len(allowed)
    best = np.full((n + 1, room), -np.inf)
    best[n, 0] = 0.0
    for place in range(n - 1, -1, -1):
        node = order[place]
        size = sizes[node]
        row = best[after[place]].copy() if place else np.full(room, -np.inf)
        if size < room:
            taken = problem.scores[node] + best[place + 1][: room - size]
            row[size:] = np.maximum(row[size:], taken)
        best[place] = row
    wanted = np.where(allowed, best[0], -np.inf)
    left = int(np.argmax(wanted))
    if wanted[left] == -np.inf:
        return None
    nodes, place = [], 0
    while place < n:
        node = order[place]
        size = sizes[node]
        if not place or (size <= left and best[place][left] > best[after[place]][left]):
            nodes.append(node)
            left -= size
            place += 1
        else:
            place = after[place]
    return np.array(sorted(nodes), dtype=np.int64)


def _bound(problem: SubtreeProblem, sizes: list[int], allowed: NDArray[np.bool_]) -> float:
    """The most that any subtree scores: table[b] of a node is the most with it and size b."""
    tables: list[Floats] = []
    room = len(allowed)
    for score, size in zip(problem.scores.tolist(), sizes, strict=True):
        table = np.full(room, -np.inf)
        if size < room:
            table[size] = score
        tables.append(table)
    for node in range(len(tables) - 1, 0, -1):
        given = tables[node]
        given[0] = max(given[0], 0.0)
        parent = int(problem.parents[node])
        merged = np.full(room, -np.inf)
        above = tables[parent]
        for part in np.flatnonzero(np.isfinite(given)).tolist():
            np.maximum(merged[part:], given[part] + above[: room - part], out=merged[part:])
        tables[parent] = merged
    return float(tables[0][allowed].max())
