"""The best subtree at the root whose size is within limits: an exact tree knapsack."""

import heapq
import math
import sys
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from operator import add, le, lshift
from typing import Any, TypeAlias

import numpy as np
from numpy.typing import ArrayLike, NDArray

from ...arrays import (
    Floats,
    Immutable,
    Integers,
    checked_indices,
    checked_scores,
    checked_type,
    checked_whole,
    owned,
    read_only,
)
from ...budget import UNLIMITED, Budget, Clock
from ...certificate import Certificate, tolerance_of
from ...errors import InfeasibleError, ProblemError, UndecidedError

__all__ = ["SubtreeProblem", "SubtreeSolution", "TreeKnapsack"]

#: The largest size of a node.
LARGEST = 10**9
#: The most entries that the tables of a problem may have, about 100 bytes each.
MOST_ENTRIES = 4 * 10**6
#: Seconds for an entry, on a slow machine.
ENTRY = 3e-7
#: The sizes of a node are packed into one integer, as digits of so many bits.
BITS = 64
MASK = (1 << BITS) - 1

#: The best score by packed size; and whether a packed size is within the limits.
Table: TypeAlias = dict[int, float]
Fits: TypeAlias = Callable[[int], bool]


@dataclass(frozen=True, eq=False)
class SubtreeProblem(Immutable):
    """A rooted tree whose nodes have a score and a size.

    A solution is a set of nodes that contains the root and the parent of each of its other nodes.
    The sum of their scores is maximised.

    Raises `ProblemError` if a shape does not fit, a score is not finite, a parent does not come
    before its child, or a size is negative.
    """

    scores: Floats
    """The score of each node. **Shape:** ``(n,)``"""
    parents: Integers
    """The parent of each node, an earlier node; -1 for the root, node 0. **Shape:** ``(n,)``"""
    sizes: Integers
    """The size of each node, a whole number of at least 0, or several sizes, such as its number of
    words and of characters. **Shape:** ``(n,)`` or ``(n, sizes)``"""

    def __init__(self, scores: ArrayLike, parents: ArrayLike, sizes: ArrayLike) -> None:
        def store(name: str, array: NDArray[Any], given: ArrayLike) -> None:
            object.__setattr__(self, name, owned(array, given))

        store("scores", checked_scores("scores", scores, (None,), dtype=np.float64), scores)
        n = len(self.scores)
        if not n or not np.isfinite(self.scores).all():
            raise ProblemError("scores: expected finite scores, of at least one node.")
        store("parents", checked_indices("parents", parents, (n,), dtype=np.int64), parents)
        shape = (n,) if np.ndim(sizes) == 1 else (n, None)
        whole = checked_indices("sizes", sizes, shape, low=0, high=LARGEST + 1, dtype=np.int64)
        store("sizes", whole, sizes)
        if (
            self.parents[0] != -1
            or not ((self.parents[1:] >= 0) & (self.parents[1:] < np.arange(1, n))).all()
        ):
            raise ProblemError(
                "parents: expected -1 for node 0, and an earlier node for each of the others."
            )


@dataclass(frozen=True, eq=False)
class SubtreeSolution(Immutable):
    """The chosen nodes, ascending, and what is proven about them. **Shape:** ``(k,)``"""

    nodes: Integers
    certificate: Certificate


@dataclass(frozen=True)
class TreeKnapsack:
    """The best subtree at the root whose size is within limits.

    It is found by dynamic programming over the nodes in preorder, each either taken or left out
    with all its descendants. The bound comes from another recursion, which merges the tables of
    children into their parents', from the leaves up. If the time ends before the tables are
    complete, the subtree is a greedy one, and sizes are left out of the bound.

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
        *,
        budget: Budget = UNLIMITED,
    ) -> SubtreeSolution:
        """Find the best subtree whose sizes add up to at least `least` and at most `capacity`.

        Where nodes have several sizes, each has its own limits. The tables have an entry for each
        sum of sizes that occurs, up to the first capacity. A limit on iterations is ignored.

        Raises
        ------
        InfeasibleError
            If no subtree has such a size.
        UndecidedError
            If the budget ended before any was found.
        ProblemError
            If a limit is missing, the tables do not fit in memory, or an argument is of another
            type.
        """
        clock = checked_type("budget", budget, Budget).start()
        several = checked_type("problem", problem, SubtreeProblem).sizes.shape[1:]
        for name, limit in (("capacity", capacity), ("least", least)):
            if np.ndim(limit) and np.shape(limit) != (several or (1,)):
                raise ProblemError(
                    f"{name}: expected one limit, or one for each of the "
                    f"{(several or (1,))[0]} sizes; got {limit!r}."
                )
            for value in np.atleast_1d(limit).tolist():
                checked_whole(name, value, low=0)
        solution = best_subtree(
            problem.scores.tolist(),
            problem.parents.tolist(),
            problem.sizes.reshape(len(problem.sizes), -1).tolist(),
            *(np.broadcast_to(limit, several or (1,)).tolist() for limit in (capacity, least)),
            clock=clock,
        )
        if solution is None:
            raise InfeasibleError(
                f"No subtree has a size from {least} to {capacity}: the root alone has "
                f"{problem.sizes[0]}, the whole tree {problem.sizes.sum(axis=0)}."
            )
        return solution


def best_subtree(
    scores: Sequence[float],
    parents: Sequence[int],
    sizes: Sequence[Sequence[int]],
    capacity: Sequence[int],
    least: Sequence[int],
    *,
    clock: Clock | None = None,
) -> SubtreeSolution | None:
    """Decode as :meth:`TreeKnapsack.decode` does, without checking the arguments.

    Each node has one size for each limit. Returns None if no subtree has such a size.
    """
    digits = [BITS * place for place in reversed(range(len(capacity)))]
    numbers = [sum(map(lshift, of, digits)) for of in sizes]
    allowed = [range(low, high + 1) for low, high in zip(least, capacity, strict=True)]

    def all_fit(number: int) -> bool:
        return all(number >> digit & MASK in of for digit, of in zip(digits, allowed, strict=True))

    fits = all_fit if len(digits) > 1 else allowed[0].__contains__
    most = (capacity[0] + 1 << digits[0]) - 1
    clock = clock or UNLIMITED.start()
    try:
        found = _search(scores, parents, numbers, most, fits, clock)
    except UndecidedError:
        found = _greedy(scores, parents, sizes, capacity, least)
        if not found:
            raise
    if found is None:
        return None
    nodes = sorted(found)
    chosen = [scores[node] for node in nodes]
    score, scale = math.fsum(chosen), math.fsum(map(abs, chosen))
    # of any better subtree: the magnitudes of its scores add up to at most so much
    magnitude = 2.0 * sum(value for value in scores if value > 0.0) + abs(score)
    rounding = len(scores) * sys.float_info.epsilon * magnitude
    certificate = Certificate.from_bound(
        TreeKnapsack.__name__,
        score,
        _bound(scores, parents, numbers, most, fits, clock) + rounding,
        tolerance=tolerance_of(scale, rounding),
        scale=scale,
    )
    return SubtreeSolution(read_only(np.array(nodes, dtype=np.int64)), certificate)


def _preorder(parents: Sequence[int]) -> tuple[list[int], list[int]]:
    """The nodes in preorder, and for each position the first one after its subtree."""
    n = len(parents)
    children: list[list[int]] = [[] for _ in range(n)]
    below = [1] * n
    for node in range(n - 1, 0, -1):
        children[parents[node]].append(node)
        below[parents[node]] += below[node]
    order: list[int] = []
    stack = [0]
    while stack:
        node = stack.pop()
        order.append(node)
        stack += children[node]
    return order, [place + below[node] for place, node in enumerate(order)]


def _search(
    scores: Sequence[float],
    parents: Sequence[int],
    sizes: Sequence[int],
    most: int,
    fits: Fits,
    clock: Clock,
) -> list[int] | None:
    """The best nodes: best[p][b] is the best score of size b from preorder position p on."""
    order, after = _preorder(parents)
    n, entries = len(order), 0
    best: list[Table] = [{} for _ in range(n)] + [{0: 0.0}]
    for place in range(n - 1, -1, -1):
        if clock.seconds_left <= ENTRY * len(best[place + 1]):
            raise UndecidedError(
                "budget: it ended before any subtree within the limits was found; allow more "
                "seconds."
            )
        size, score = sizes[order[place]], scores[order[place]]
        row = best[after[place]].copy() if place else {}
        for rest, value in best[place + 1].items():
            whole, taken = rest + size, value + score
            if whole <= most and taken > row.get(whole, -math.inf):
                row[whole] = taken
        best[place] = row
        entries += len(row)
        if entries > MOST_ENTRIES:
            raise ProblemError(
                f"sizes: tables of more than {MOST_ENTRIES:,} sums of sizes do not fit in memory; "
                "give each node fewer or coarser sizes, or a smaller capacity."
            )
    fitting = [(value, -size) for size, value in best[0].items() if fits(size)]
    if not fitting:
        return None
    left, nodes, place = -max(fitting)[1], [], 0
    while place < n:
        node, row = order[place], best[after[place]]
        if not place or (sizes[node] <= left and best[place][left] > row.get(left, -math.inf)):
            nodes.append(node)
            left -= sizes[node]
            place += 1
        else:
            place = after[place]
    return nodes


def _greedy(
    scores: Sequence[float],
    parents: Sequence[int],
    sizes: Sequence[Sequence[int]],
    capacity: Sequence[int],
    least: Sequence[int],
) -> list[int]:
    """The best of the subtrees that grow by the best node which still fits; empty if none fits."""
    children: list[list[int]] = [[] for _ in scores]
    for node, parent in enumerate(parents[1:], 1):
        children[parent].append(node)
    grown: list[int] = []
    used, score, best, kept = [0] * len(capacity), 0.0, -math.inf, 0
    edge = [(0.0, 0)]
    while edge:
        _, node = heapq.heappop(edge)
        larger = [*map(add, used, sizes[node])]
        if not all(map(le, larger, capacity)):
            continue
        used, score = larger, score + scores[node]
        grown.append(node)
        if score > best and all(map(le, least, used)):
            best, kept = score, len(grown)
        for child in children[node]:
            heapq.heappush(edge, (-scores[child], child))
    return grown[:kept]


def _bound(
    scores: Sequence[float],
    parents: Sequence[int],
    sizes: Sequence[int],
    most: int,
    fits: Fits,
    clock: Clock,
) -> float:
    """An upper bound: table[b] of a node is the best score of a subtree at it of size b.

    If the time ends, sizes are left out, so that each node has a single score.
    """
    tables: list[Table] = [{size: score} for size, score in zip(sizes, scores, strict=True)]
    for node in range(len(tables) - 1, 0, -1):
        given, above = tables[node], tables[parents[node]]
        given[0] = max(given.get(0, 0.0), 0.0)
        if clock.seconds_left <= ENTRY * len(given) * len(above):
            values = list(scores)
            for below in range(len(values) - 1, 0, -1):
                values[parents[below]] += max(values[below], 0.0)
            return values[0]
        merged: Table = {}
        for part, value in given.items():
            for rest, other in above.items():
                whole, both = part + rest, value + other
                if whole <= most and both > merged.get(whole, -math.inf):
                    merged[whole] = both
        tables[parents[node]] = merged
    return max((value for size, value in tables[0].items() if fits(size)), default=-math.inf)
