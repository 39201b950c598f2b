"""Label setting over walks that remember some of the classes they have met."""

from typing import Any, NamedTuple

import numpy as np

from ....jit import jit

__all__ = ["Labels", "MemoryBits", "Step", "extend"]


class MemoryBits(NamedTuple):
    """Which classes each vertex remembers.

    Attributes
    ----------
    bit
        The bit of each class, or -1. **Shape:** ``(classes,)``, int64
    low, high
        The bits that a walk keeps at each vertex. **Shape:** ``(n,)``, uint64
    """

    bit: Any
    low: Any
    high: Any


class Labels(NamedTuple):
    """Walks of one length: the best for each last vertex and memory.

    Attributes
    ----------
    vertices
        The last vertex of each. **Shape:** ``(count,)``, int32
    low, high
        The remembered classes, as 128 bits. **Shape:** ``(count,)``, uint64
    values
        The score less the prices. **Shape:** ``(count,)``, float64
    parents
        The label that it extends. **Shape:** ``(count,)``, int32
    """

    vertices: Any
    low: Any
    high: Any
    values: Any
    parents: Any


class Step(NamedTuple):
    """The scores and bounds by which walks are extended.

    Attributes
    ----------
    edges
        From row to column, in the direction of the walks. **Shape:** ``(n, n)``
    classes
        Of the vertices. **Shape:** ``(n,)``, int32
    prices
        Of the vertices. **Shape:** ``(n,)``
    completions
        A bound on the score, less prices, of each vertex and all beyond it. **Shape:** ``(n,)``
    total
        The sum of the prices, which a path's bound gets back.
    threshold
        Labels whose bound does not exceed it are pruned.
    """

    edges: Any
    classes: Any
    prices: Any
    completions: Any
    total: float
    threshold: float


@jit()
def _slot(vertex, low, high, size):
    """Return the first slot to probe in the hash table; `size` is a power of two."""
    key = np.uint64(vertex) * np.uint64(0x9E3779B97F4A7C15)
    key ^= low * np.uint64(0xBF58476D1CE4E5B9)
    key ^= high * np.uint64(0x94D049BB133111EB)
    key ^= key >> np.uint64(29)
    key *= np.uint64(0xD6E8FEB86659FD93)
    key ^= key >> np.uint64(32)
    return np.int64(key & np.uint64(size - 1))


@jit()
def extend(first, last, count, labels, step, memory, slots, fresh, reach):
    """Extend the labels from `first` to `last` by each vertex; return the number of new ones.

    `fresh` already holds `count` labels, and `slots` is their hash table, -1 where empty; the
    result is -1 if they do not fit. `reach[v]` is raised to the best value at v.
    """
    vertices, low, high, values = labels.vertices, labels.low, labels.high, labels.values
    edges, classes, prices, completions, total, threshold = step
    bit, memory_low, memory_high = memory
    new_vertices, new_low, new_high, new_values, new_parents = fresh
    n = completions.size
    one = np.uint64(1)
    nothing = np.uint64(0)
    capacity = new_vertices.size
    for label in range(first, last):
        row = edges[vertices[label]]
        value = values[label]
        base = value + total
        seen_low = low[label]
        seen_high = high[label]
        for u in range(n):
            if base + (row[u] + completions[u]) <= threshold:
                continue
            place = bit[classes[u]]
            own_low = nothing
            own_high = nothing
            if place >= 64:
                own_high = one << np.uint64(place - 64)
            elif place >= 0:
                own_low = one << np.uint64(place)
            if (seen_low & own_low) | (seen_high & own_high):
                continue
            next_low = (seen_low | own_low) & memory_low[u]
            next_high = (seen_high | own_high) & memory_high[u]
            next_value = value + (row[u] - prices[u])
            if next_value > reach[u]:
                reach[u] = next_value
            slot = _slot(u, next_low, next_high, slots.size)
            while True:
                known = slots[slot]
                if known < 0:
                    if count == capacity:
                        return -1
                    slots[slot] = count
                    new_vertices[count] = u
                    new_low[count] = next_low
                    new_high[count] = next_high
                    new_values[count] = next_value
                    new_parents[count] = label
                    count += 1
                    break
                if (
                    new_vertices[known] == u
                    and new_low[known] == next_low
                    and new_high[known] == next_high
                ):
                    if next_value > new_values[known]:
                        new_values[known] = next_value
                        new_parents[known] = label
                    break
                slot = (slot + 1) & (slots.size - 1)
    return count
