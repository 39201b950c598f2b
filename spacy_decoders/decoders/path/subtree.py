"""The best subtree at the root whose size is within limits: an exact tree knapsack."""

import heapq
import math
import sys
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from functools import cached_property
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

__all__ = ["Knapsack", "SubtreeProblem", "SubtreeSolution", "TreeKnapsack"]

#: The largest size of a node.
LARGEST = 10**9
#: The most entries that the tables of a problem may have, about 100 bytes each.
MOST_ENTRIES = 4 * 10**6
#: Seconds for an entry, on a slow machine.
ENTRY = 3e-7
#: The sizes of a node are packed into one integer, as digits of so many bits.
BITS = 64
MASK = (1 << BITS) - 1

#: The best score by packed size.
Table: TypeAlias = dict[int, float]


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
        solution = Knapsack(
            problem.scores.tolist(),
            problem.parents.tolist(),
            problem.sizes.reshape(len(problem.sizes), -1).tolist(),
            np.broadcast_to(capacity, several or (1,)).tolist(),
            np.broadcast_to(least, several or (1,)).tolist(),
            clock,
        ).solved()
        if solution is None:
            raise InfeasibleError(
                f"No subtree has a size from {least} to {capacity}: the root alone has "
                f"{problem.sizes[0]}, the whole tree {problem.sizes.sum(axis=0)}."
            )
        return solution


@dataclass
class Knapsack:
    """A problem in plain types, unchecked; each node has one size for each limit."""

    scores: Sequence[float]
    parents: Sequence[int]
    sizes: Sequence[Sequence[int]]
    capacity: Sequence[int]
    least: Sequence[int]
    clock: Clock = field(default_factory=UNLIMITED.start)

    def __post_init__(self) -> None:
        self._digits = [BITS * place for place in reversed(range(len(self.capacity)))]
        self._packed = [sum(map(lshift, of, self._digits)) for of in self.sizes]
        self._most = (self.capacity[0] + 1 << self._digits[0]) - 1
        ranges = zip(self.least, self.capacity, strict=True)
        self._allowed = [range(low, high + 1) for low, high in ranges]

    def _fitting(self, table: Table) -> Iterator[tuple[float, int]]:
        """Yield the score and the packed size of each entry within the limits."""
        pairs = [*zip(self._digits, self._allowed, strict=True)]
        for size, value in table.items():
            if all(size >> digit & MASK in of for digit, of in pairs):
                yield value, size

    def solved(self) -> SubtreeSolution | None:
        """Decode as :meth:`TreeKnapsack.decode` does; None if no subtree has such a size."""
        try:
            found = self._search()
        except UndecidedError:
            found = self._greedy()
            if not found:
                raise
        if found is None:
            return None
        nodes = sorted(found)
        chosen = [self.scores[node] for node in nodes]
        score, scale = math.fsum(chosen), math.fsum(map(abs, chosen))
        # of any better subtree: the magnitudes of its scores add up to at most so much
        magnitude = 2.0 * sum(value for value in self.scores if value > 0.0) + abs(score)
        rounding = len(self.scores) * sys.float_info.epsilon * magnitude
        certificate = Certificate.from_bound(
            TreeKnapsack.__name__,
            score,
            self._bound() + rounding,
            tolerance=tolerance_of(scale, rounding),
            scale=scale,
        )
        return SubtreeSolution(read_only(np.array(nodes, dtype=np.int64)), certificate)

    def _preorder(self) -> tuple[list[int], list[int]]:
        """The nodes in preorder, and for each position the first one after its subtree."""
        below, order, stack = [1] * len(self.parents), [], [0]
        for node in range(len(below) - 1, 0, -1):
            below[self.parents[node]] += below[node]
        while stack:
            node = stack.pop()
            order.append(node)
            stack += reversed(self._children[node])
        return order, [place + below[node] for place, node in enumerate(order)]

    @cached_property
    def _children(self) -> list[list[int]]:
        children: list[list[int]] = [[] for _ in self.parents]
        for node, parent in enumerate(self.parents[1:], 1):
            children[parent].append(node)
        return children

    def _search(self) -> list[int] | None:
        """The best nodes: best[p][b] is the best score of size b from preorder position p on."""
        order, after = self._preorder()
        sizes, n, entries = self._packed, len(order), 0
        best: list[Table] = [{} for _ in range(n)] + [{0: 0.0}]
        for place in range(n - 1, -1, -1):
            if self.clock.seconds_left <= ENTRY * len(best[place + 1]):
                raise UndecidedError(
                    "budget: it ended before any subtree within the limits was found; allow more "
                    "seconds."
                )
            size, score = sizes[order[place]], self.scores[order[place]]
            row = best[after[place]].copy() if place else {}
            for rest, value in best[place + 1].items():
                whole, taken = rest + size, value + score
                if whole <= self._most and taken > row.get(whole, -math.inf):
                    row[whole] = taken
            best[place] = row
            entries += len(row)
            if entries > MOST_ENTRIES:
                raise ProblemError(
                    f"sizes: tables of more than {MOST_ENTRIES:,} sums of sizes do not fit in "
                    "memory; give each node fewer or coarser sizes, or a smaller capacity."
                )
        fitting = [(value, -size) for value, size in self._fitting(best[0])]
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

    def _greedy(self) -> list[int]:
        """The best subtree of those that grow by the best node that fits; empty if none serves."""
        grown: list[int] = []
        used, score, best, kept = [0] * len(self.capacity), 0.0, -math.inf, 0
        edge = [(0.0, 0)]
        while edge:
            _, node = heapq.heappop(edge)
            larger = [*map(add, used, self.sizes[node])]
            if not all(map(le, larger, self.capacity)):
                continue
            used, score = larger, score + self.scores[node]
            grown.append(node)
            if score > best and all(map(le, self.least, used)):
                best, kept = score, len(grown)
            for child in self._children[node]:
                heapq.heappush(edge, (-self.scores[child], child))
        return grown[:kept]

    def _bound(self) -> float:
        """An upper bound: table[b] of a node is the best score of a subtree at it of size b.

        If the time ends, sizes are left out, so that each node has a single score.
        """
        sized = zip(self._packed, self.scores, strict=True)
        tables: list[Table] = [{size: score} for size, score in sized]
        for node in range(len(tables) - 1, 0, -1):
            given, above = tables[node], tables[self.parents[node]]
            given[0] = max(given.get(0, 0.0), 0.0)
            if self.clock.seconds_left <= ENTRY * len(given) * len(above):
                return self._bound_of_all_sizes()
            merged: Table = {}
            for part, value in given.items():
                for rest, other in above.items():
                    whole, both = part + rest, value + other
                    if whole <= self._most and both > merged.get(whole, -math.inf):
                        merged[whole] = both
            tables[self.parents[node]] = merged
        return max((value for value, _ in self._fitting(tables[0])), default=-math.inf)

    def _bound_of_all_sizes(self) -> float:
        values = list(self.scores)
        for node in range(len(values) - 1, 0, -1):
            values[self.parents[node]] += max(values[node], 0.0)
        return values[0]
