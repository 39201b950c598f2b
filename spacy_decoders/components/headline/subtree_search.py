"""The best subtree that also fits a limit that does not add up: branch and bound."""

from __future__ import annotations

import heapq
import itertools
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from ...decoders.path import SubtreeProblem, TreeKnapsack
from ...errors import InfeasibleError

__all__ = ["BestSubtree", "SubtreeSearch", "attainable_sizes"]

#: Subtrees that are looked at before the search of one sentence gives up its proof.
LOOKED_AT = 150


class BestSubtree(NamedTuple):
    """The best subtree found, or None, with its score, and a bound on that of any other."""

    nodes: list[int] | None
    score: float
    bound: float


class SubtreeBranch(NamedTuple):
    """Nodes that must be in the subtree, closed upwards, and nodes that must not."""

    forced: frozenset[int]
    banned: frozenset[int]


@dataclass(frozen=True, eq=False)
class SubtreeSearch:
    """Subtrees of a size between two limits, with one of each set of nodes, that `fits` allows."""

    #: The tree; its sizes are limited.
    problem: SubtreeProblem
    #: The limits of the size.
    least: int
    most: int
    #: Sets of nodes of which the subtree must have at least one each.
    wanted: Sequence[frozenset[int]]
    #: A further size of each node, and its limit: a relaxation of `fits`. None for no limit.
    weights: NDArray[np.int64]
    capacity: int | None
    #: Whether a subtree is short enough; what contains one that is not, is not either.
    fits: Callable[[list[int]], bool]

    def best(self) -> BestSubtree:
        """Find the best subtree; the bound is minus infinity if there is none."""
        start = SubtreeBranch(frozenset({0}), frozenset())
        for part in self.wanted:
            if len(part) == 1:
                start = self._with(start, min(part))
        counter = itertools.count()
        heap: list[tuple[float, int, SubtreeBranch, list[int]]] = []

        def push(state: SubtreeBranch) -> None:
            relaxed = self._relaxed(state)
            if relaxed is not None:
                heapq.heappush(heap, (-relaxed[0], next(counter), state, relaxed[1]))

        push(start)
        for _ in range(LOOKED_AT):
            if not heap:
                return BestSubtree(None, -np.inf, -np.inf)
            bound, _, state, nodes = heapq.heappop(heap)
            branches = self._branches(state, nodes)
            if branches is None:
                return BestSubtree(nodes, self._score(nodes), -bound)
            for branch in branches:
                push(branch)
        if not heap:
            return BestSubtree(None, -np.inf, -np.inf)
        known = [nodes for *_, state, nodes in heap if self._branches(state, nodes) is None]
        best = max(known, key=self._score, default=None)
        return BestSubtree(best, -np.inf if best is None else self._score(best), -heap[0][0])

    def _score(self, nodes: list[int]) -> float:
        return float(self.problem.scores[nodes].sum())

    def _with(self, state: SubtreeBranch, node: int) -> SubtreeBranch:
        forced = set(state.forced)
        while node >= 0 and node not in forced:
            forced.add(node)
            node = int(self.problem.parents[node])
        return SubtreeBranch(frozenset(forced), state.banned)

    def _relaxed(self, state: SubtreeBranch) -> tuple[float, list[int]] | None:
        """A bound on what the state allows, and the subtree that shows it."""
        contracted = self._contracted(state)
        if contracted is None:
            return None
        of, members = contracted
        if not self.fits(members[0]):
            return None
        found = []
        limits = [(self.problem.sizes, self.least, self.most)]
        if self.capacity is not None:
            limits.append((self.weights, 0, self.capacity))
        for sizes, least, most in limits:
            problem = self._small(of, members, sizes)
            try:
                solution = TreeKnapsack().decode(problem, most, least)
            except InfeasibleError:
                return None
            nodes = sorted(node for part in solution.nodes.tolist() for node in members[part])
            assert solution.certificate.bound is not None
            found.append((solution.certificate.bound, nodes))
        return min(found, key=lambda entry: entry[0])

    def _contracted(self, state: SubtreeBranch) -> tuple[list[int], list[list[int]]] | None:
        """The new node of each node, -1 if banned, and the nodes of each new one."""
        if state.forced & state.banned:
            return None
        of: list[int] = []
        members: list[list[int]] = [[]]
        for node, parent in enumerate(self.problem.parents.tolist()):
            if node in state.forced:
                of.append(0)
            elif node in state.banned or of[parent] < 0:
                of.append(-1)
                continue
            else:
                of.append(len(members))
                members.append([])
            members[of[-1]].append(node)
        return of, members

    def _small(
        self, of: list[int], members: list[list[int]], sizes: NDArray[np.int64]
    ) -> SubtreeProblem:
        parents = [of[int(self.problem.parents[part[0]])] for part in members[1:]]
        return SubtreeProblem(
            [self._score(part) for part in members],
            [-1, *parents],
            [int(sizes[part].sum()) for part in members],
        )

    def _branches(self, state: SubtreeBranch, nodes: list[int]) -> list[SubtreeBranch] | None:
        """Parts of the state that together have all subtrees but this one; None if allowed."""
        chosen = set(nodes)
        for part in self.wanted:
            if not part & chosen:
                return [self._with(state, node) for node in sorted(part)]
        size = int(self.problem.sizes[nodes].sum())
        if size < self.least:
            parents = self.problem.parents
            free = [
                node
                for node in range(len(parents))
                if node not in chosen and node not in state.banned and int(parents[node]) in chosen
            ]
        elif size > self.most:
            free = [
                node for node in nodes if node not in state.forced and self.problem.sizes[node]
            ]
        elif not self.fits(nodes):
            free = [node for node in nodes if node not in state.forced]
        else:
            return None
        if not free:
            return []
        node = max(free, key=lambda one: int(self.weights[one]))
        return [self._with(state, node), SubtreeBranch(state.forced, state.banned | {node})]


def attainable_sizes(problem: SubtreeProblem) -> list[int]:
    """All sizes that subtrees have, ascending."""
    sizes = problem.sizes.tolist()
    bits = [1 << size for size in sizes]
    for node in range(len(sizes) - 1, 0, -1):
        parent, sums = int(problem.parents[node]), 0
        for size in range(bits[node].bit_length()):
            if bits[node] >> size & 1:
                sums |= bits[parent] << size
        bits[parent] |= sums
    return [size for size in range(bits[0].bit_length()) if bits[0] >> size & 1]
