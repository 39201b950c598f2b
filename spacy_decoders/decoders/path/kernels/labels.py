"""Label setting over walks that remember some of the classes they have met."""

from typing import Any, NamedTuple

import numpy as np

from ....jit import jit

__all__ = ["Labels", "MemoryBits", "Step", "extend"]


class MemoryBits(NamedTuple):
    """Which classes each vertex remembers."""

    bit: Any  # (classes,), int64: the bit of each class, or -1
    # (n,), uint64: the bits that a walk keeps at each vertex
    low: Any
    high: Any


class Labels(NamedTuple):
    """Walks of one length: the best for each last vertex and memory."""

    vertices: Any  # (count,), int32: the last vertex of each
    # (count,), uint64: the remembered classes, as 128 bits
    low: Any
    high: Any
    values: Any  # (count,), float64: the score less the prices
    parents: Any  # (count,), int32: the label that it extends


class Step(NamedTuple):
    """The scores and bounds by which walks are extended."""

    edges: Any  # (n, n): from row to column, in the direction of the walks
    classes: Any  # (n,), int32: of the vertices
    prices: Any  # (n,): of the vertices
    completions: Any  # (n,): a bound on the score, less prices, of each vertex and all beyond it
    total: float  # the sum of the prices, which a path's bound gets back
    threshold: float  # labels whose bound does not exceed it are pruned


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
