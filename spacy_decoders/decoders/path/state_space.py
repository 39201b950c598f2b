"""State-space relaxation: walks that remember some of the classes they visited."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from .kernels.graph import Prices
from .kernels.labels import Labels, MemoryBits, Step, extend
from .problem import Floats, Integers, PathProblem
from .work import STEPS, Work

__all__ = ["ClassMemory", "RelaxedWalks", "relaxed_walks"]

#: Classes that can be remembered at once.
BITS = 128


class ClassMemory:
    """Which visited classes a walk still remembers at each vertex.

    To remember a class everywhere is decremental state-space relaxation; to remember it
    only along the cycles that repeat it is a dynamic ng-route, with fewer states.
    """

    def __init__(self, problem: PathProblem) -> None:
        self._classes = problem.dense_classes
        words = np.zeros((2, problem.size), dtype=np.uint64)
        self.bits = MemoryBits(np.full(problem.class_count, -1, dtype=np.int64), *words)

    @property
    def used(self) -> int:
        """The number of classes remembered at any vertex."""
        return int(np.count_nonzero(self.bits.bit >= 0))

    def remember(self, number: int, vertices: Any) -> bool:
        """Remember a class at `vertices` and at its own; return False if no bit is left."""
        bit, low, high = self.bits
        if bit[number] < 0:
            if self.used == BITS:
                return False
            bit[number] = self.used
        place = int(bit[number])
        words, shift = (low, place) if place < 64 else (high, place - 64)
        word = np.uint64(1) << np.uint64(shift)
        words[vertices] |= word
        words[self._classes == number] |= word
        return True

    def remember_all(self) -> bool:
        """Remember every class at every vertex; return False if there are too many."""
        numbers = range(len(self.bits.bit))
        return len(numbers) <= BITS and all(self.remember(n, slice(None)) for n in numbers)

    def forbid_cycles(self, walk: Sequence[int] | NDArray[Any], everywhere: int) -> bool:
        """Remember enough to forbid this walk; return False if it visits no class twice.

        The first `everywhere` classes are remembered at all vertices, later ones only at
        those between the two visits.
        """
        last_seen: dict[int, int] = {}
        grown = False
        for place, vertex in enumerate(walk):
            number = int(self._classes[vertex])
            if number in last_seen:
                known = self.bits.bit[number] >= 0
                between = list(walk[last_seen[number] : place])
                wide = not known and self.used < everywhere
                grown |= self.remember(number, slice(None) if wide else between)
            last_seen[number] = place
        return grown


@dataclass(frozen=True)
class RelaxedWalks:
    """The result of one pass of label setting over all lengths."""

    value: float  # an upper bound on every path whose score exceeds the threshold
    walks: list[Integers]  # the best walks, best first, in the order of the path
    # (length, n): `reach[l, v]`: a bound on the score, less prices except v's own, of any walk of
    # l vertices and then v that can exceed the threshold
    reach: Floats


def relaxed_walks(
    problem: PathProblem,
    memory: ClassMemory,
    rest: Floats,
    prices: Prices,
    threshold: float,
    *,
    backward: bool,
    work: Work,
    label_limit: int,
    refund: bool = False,
    walk_count: int = 8,
) -> RelaxedWalks | None:
    """Find the best walks under a memory; None if the budget or `label_limit` ends first.

    Parameters
    ----------
    rest
        ``rest[l, v]`` bounds the score of l vertices beyond v. **Shape:** ``(length, n)``
    backward
        Whether to build walks from their end.
    refund
        Rank the walks by their scores without prices. If every class is remembered everywhere,
        the first is then the best path of all that exceed the threshold: labels with the same
        vertex and memory have paid the same prices.
    """
    length, (paid, total) = len(rest), prices
    first, last, edges = problem.start, problem.end, problem.edges
    if backward:
        first, last, edges = last, first, problem.reversed_edges
    reach = np.full((length, problem.size), -np.inf)
    alive = np.flatnonzero(first + rest[-1] - paid + total > threshold)
    own = memory.bits.bit[problem.dense_classes[alive]]
    one = np.ones(len(alive), dtype=np.uint64)
    low = np.where((own >= 0) & (own < 64), one << (own % 64).astype(np.uint64), 0)
    high = np.where(own >= 64, one << (own % 64).astype(np.uint64), 0)
    layer = Labels(
        alive.astype(np.int32),
        low.astype(np.uint64) & memory.bits.low[alive],
        high.astype(np.uint64) & memory.bits.high[alive],
        (first - paid)[alive],
        np.full(len(alive), -1, dtype=np.int32),
    )
    reach[0] = first
    layers = [layer]
    for depth in range(1, length):
        completions = rest[length - 1 - depth] - paid
        step = Step(edges, problem.dense_classes, paid, completions, total, threshold)
        extended = None
        capacity = max(1024, 2 * len(layer.vertices))
        while extended is None and capacity < 2 * label_limit and not work.exhausted:
            extended = _extended(layer, step, memory.bits, reach[depth], capacity, work)
            capacity *= 4
        if extended is None:
            return None
        layer = extended
        layers.append(layer)
        reach[depth] += paid
    values = layer.values + last[layer.vertices] + total
    if refund:
        values += _paid(problem, memory.bits, paid, layer) - total
    order = np.argsort(-values, kind="stable")[:walk_count]
    walks = [_traced(layers, int(i), backward=backward) for i in order]
    value = float(values[order[0]]) if len(order) else -np.inf
    return RelaxedWalks(value, walks, reach)


def _paid(problem: PathProblem, memory: MemoryBits, prices: Floats, layer: Labels) -> Floats:
    """Return the sum of the prices of the classes that each label remembers."""
    by_class = np.zeros(problem.class_count)
    by_class[problem.dense_classes] = prices
    total = np.zeros(len(layer.vertices))
    for number in np.flatnonzero((memory.bit >= 0) & (by_class != 0.0)):
        place = int(memory.bit[number])
        words, shift = (layer.low, place) if place < 64 else (layer.high, place - 64)
        total += by_class[number] * ((words >> np.uint64(shift)) & np.uint64(1))
    return total


def _extended(
    layer: Labels, step: Step, memory: MemoryBits, reach: Floats, capacity: int, work: Work
) -> Labels | None:
    """Return the labels of the next length; None if there are too many, or time is up."""
    slots = np.full(1 << (2 * capacity - 1).bit_length(), -1, dtype=np.int32)
    kinds = (np.int32, np.uint64, np.uint64, np.float64, np.int32)
    fresh = Labels(*(np.empty(capacity, dtype=kind) for kind in kinds))
    reach[:] = -np.inf
    size, count = len(reach), 0
    a_round = 1 + STEPS // size
    for first in range(0, len(layer.vertices), a_round):
        if work.exhausted:
            return None
        last = min(first + a_round, len(layer.vertices))
        count = extend(first, last, count, layer, step, memory, slots, fresh, reach)
        work.steps += (last - first) * size
        if count < 0:
            return None
    return Labels(*(part[:count].copy() for part in fresh))


def _traced(layers: list[Labels], index: int, *, backward: bool) -> Integers:
    walk = []
    for layer in reversed(layers):
        walk.append(int(layer.vertices[index]))
        index = int(layer.parents[index])
    return np.array(walk if backward else walk[::-1], dtype=np.int32)
