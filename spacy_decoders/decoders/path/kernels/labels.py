"""Dynamic programming over walks that remember some of the classes they have met."""

import numpy as np

from ....jit import jit

__all__ = ["extend"]


@jit()
def _slot(vertex, low, high, size):
    """Where a label's place in the hash table begins; `size` is a power of two."""
    key = np.uint64(vertex) * np.uint64(0x9E3779B97F4A7C15)
    key ^= low * np.uint64(0xBF58476D1CE4E5B9)
    key ^= high * np.uint64(0x94D049BB133111EB)
    key ^= key >> np.uint64(29)
    key *= np.uint64(0xD6E8FEB86659FD93)
    key ^= key >> np.uint64(32)
    return np.int64(key & np.uint64(size - 1))


@jit()
def extend(
    first, last, count, vertices, low, high, values, edges, prices, rest, base, threshold,
    classes, bit, memory_low, memory_high, slots, new_vertices, new_low, new_high, new_values,
    new_parents, reach,
):  # fmt: skip
    """Extend the labels from `first` to `last` by each vertex; return the number of new ones.

    `count` labels are there already; the result is -1 if they get too many.
    A label is a vertex, the remembered classes as 128 bits, and the best value of a walk
    with that end and memory. Of two equal ones the better stays. A label goes no further
    if it cannot exceed `threshold` with the best `rest` there may be. `bit[c]` is the bit
    of class c, or -1; a vertex forgets what is not in its memory. `reach[v]` gets the best
    value at v.
    """
    n = rest.size
    one = np.uint64(1)
    nothing = np.uint64(0)
    capacity = new_vertices.size
    for label in range(first, last):
        row = edges[vertices[label]]
        value = values[label]
        promised = value + base
        seen_low = low[label]
        seen_high = high[label]
        for u in range(n):
            if promised + (row[u] + rest[u]) <= threshold:
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
