"""Walks that remember some classes: a relaxation that is tightened where it errs."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from .effort import STEPS, Effort
from .kernels.labels import extend
from .problem import PathProblem

__all__ = ["Memory", "Pass", "relaxed_pass"]

#: Classes that can be remembered at once.
BITS = 128

#: The labels of one length: vertices, low and high memory, values, indices of parents.
Layer = tuple[NDArray[Any], ...]


class Memory:
    """Which classes each vertex remembers that a walk has met.

    To remember a class everywhere is decremental state-space relaxation; to remember it
    only along the cycles where it came twice is a dynamic ng-route, with fewer states.
    """

    def __init__(self, problem: PathProblem) -> None:
        self._classes = problem.dense_classes
        self.bit = np.full(problem.class_count, -1, dtype=np.int64)
        self.low = np.zeros(problem.size, dtype=np.uint64)
        self.high = np.zeros(problem.size, dtype=np.uint64)

    @property
    def used(self) -> int:
        """How many classes are remembered anywhere."""
        return int(np.count_nonzero(self.bit >= 0))

    def remember(self, number: int, vertices: Any) -> bool:
        """Let `vertices` and the class's own remember a class; False if no bit is left."""
        if self.bit[number] < 0:
            if self.used == BITS:
                return False
            self.bit[number] = self.used
        place = int(self.bit[number])
        words, shift = (self.low, place) if place < 64 else (self.high, place - 64)
        word = np.uint64(1) << np.uint64(shift)
        words[vertices] |= word
        words[self._classes == number] |= word
        return True

    def remember_all(self) -> bool:
        """Let every vertex remember every class; False if they are too many."""
        numbers = range(len(self.bit))
        return len(numbers) <= BITS and all(self.remember(n, slice(None)) for n in numbers)

    def forbid_cycles(self, walk: Sequence[int] | NDArray[Any], everywhere: int) -> bool:
        """Remember what makes this walk impossible; False if it meets no class twice.

        The first `everywhere` classes are remembered at all vertices, later ones only at
        those between the two meetings.
        """
        last_seen: dict[int, int] = {}
        grown = False
        for place, vertex in enumerate(walk):
            number = int(self._classes[vertex])
            if number in last_seen:
                known = self.bit[number] >= 0
                between = list(walk[last_seen[number] : place])
                wide = not known and self.used < everywhere
                grown |= self.remember(number, slice(None) if wide else between)
            last_seen[number] = place
        return grown


@dataclass(frozen=True)
class Pass:
    """What one pass over all lengths has found.

    Attributes
    ----------
    value
        No path is worth more, unless it is worth at most the threshold.
    walks
        The walks of greatest value, best first, in the order of the path.
    reach
        ``reach[l, v]``: no walk of l vertices and then v that can exceed the threshold has
        more, prices paid but v's own. **Shape:** ``(length, n)``
    """

    value: float
    walks: list[NDArray[np.int32]]
    reach: NDArray[np.float64]


def relaxed_pass(
    problem: PathProblem,
    memory: Memory,
    rest: NDArray[np.float64],
    prices: NDArray[np.float64],
    total_price: float,
    threshold: float,
    *,
    backward: bool,
    effort: Effort,
    label_limit: int,
    refund: bool = False,
    walk_count: int = 8,
) -> Pass | None:
    """Find the best walks under a memory; None if the budget or `label_limit` ends first.

    Parameters
    ----------
    rest
        ``rest[l, v]`` bounds the worth of l vertices beyond v. **Shape:** ``(length, n)``
    backward
        Whether to build walks from their end.
    refund
        Rank the walks by their worth without prices. Under a memory of all classes
        everywhere the first is then the best path of all that exceed the threshold: labels
        of one vertex and one memory have paid the same.
    """
    length = len(rest)
    first, last, edges = problem.start, problem.end, problem.edges
    if backward:
        first, last, edges = last, first, problem.reversed_edges
    reach = np.full((length, problem.size), -np.inf)
    alive = np.flatnonzero(first + rest[-1] - prices + total_price > threshold)
    own = memory.bit[problem.dense_classes[alive]]
    one = np.ones(len(alive), dtype=np.uint64)
    low = np.where((own >= 0) & (own < 64), one << (own % 64).astype(np.uint64), 0)
    high = np.where(own >= 64, one << (own % 64).astype(np.uint64), 0)
    layer: Layer = (
        alive.astype(np.int32),
        low.astype(np.uint64) & memory.low[alive],
        high.astype(np.uint64) & memory.high[alive],
        (first - prices)[alive],
        np.full(len(alive), -1, dtype=np.int32),
    )
    reach[0] = first
    layers: list[Layer] = [layer]
    for depth in range(1, length):
        onward = rest[length - 1 - depth] - prices
        step = (edges, prices, onward, total_price, threshold, problem.dense_classes, memory.bit)
        extended = None
        capacity = max(1024, 2 * len(layer[0]))
        while extended is None and capacity < 2 * label_limit and not effort.exhausted:
            extended = _extended(layer, step, memory, reach[depth], capacity, effort)
            capacity *= 4
        if extended is None:
            return None
        layer = extended
        layers.append(layer)
        reach[depth] += prices
    values = layer[3] + last[layer[0]] + total_price
    if refund:
        values += _paid(problem, memory, prices, layer) - total_price
    order = np.argsort(-values, kind="stable")[:walk_count]
    walks = [_traced(layers, int(i), backward=backward) for i in order]
    value = float(values[order[0]]) if len(order) else -np.inf
    return Pass(value, walks, reach)


def _paid(
    problem: PathProblem, memory: Memory, prices: NDArray[np.float64], layer: Layer
) -> NDArray[np.float64]:
    """The prices of the classes that each label remembers, added up."""
    by_class = np.zeros(problem.class_count)
    by_class[problem.dense_classes] = prices
    total = np.zeros(len(layer[0]))
    for number in np.flatnonzero((memory.bit >= 0) & (by_class != 0.0)):
        place = int(memory.bit[number])
        words, shift = (layer[1], place) if place < 64 else (layer[2], place - 64)
        total += by_class[number] * ((words >> np.uint64(shift)) & np.uint64(1))
    return total


def _extended(
    layer: Layer,
    step: tuple[Any, ...],
    memory: Memory,
    reach: NDArray[np.float64],
    capacity: int,
    effort: Effort,
) -> Layer | None:
    slots = np.full(1 << (2 * capacity - 1).bit_length(), -1, dtype=np.int32)
    fresh = (
        np.empty(capacity, dtype=np.int32),
        np.empty(capacity, dtype=np.uint64),
        np.empty(capacity, dtype=np.uint64),
        np.empty(capacity),
        np.empty(capacity, dtype=np.int32),
    )
    given: tuple[Any, ...] = (*layer[:4], *step, memory.low, memory.high, slots, *fresh, reach)
    reach[:] = -np.inf
    size, count = len(reach), 0
    a_round = 1 + STEPS // size
    for first in range(0, len(layer[0]), a_round):
        if effort.exhausted:
            return None
        last = min(first + a_round, len(layer[0]))
        count = extend(first, last, count, *given)
        effort.steps += (last - first) * size
        if count < 0:
            return None
    return tuple(part[:count].copy() for part in fresh)


def _traced(layers: list[Layer], index: int, *, backward: bool) -> NDArray[np.int32]:
    walk = []
    for vertices, *_, parents in reversed(layers):
        walk.append(int(vertices[index]))
        index = int(parents[index])
    return np.array(walk if backward else walk[::-1], dtype=np.int32)
