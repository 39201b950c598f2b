"""A hash table whose keys are rows of numbers."""

import numpy as np

from ....jit import jit

_MIX = np.uint64(0x9E3779B97F4A7C15)
_SHIFT = np.uint64(29)


@jit()
def places_of(slots, keys, count, rows, places):
    """Look up each row among the keys, appending new ones.

    Returns the new number of keys. There must be room for all rows.

    **Shape**: slots int32 (power of two,), -1 where free; keys uint64 (most, columns), of which
    `count` are known; rows uint64 (rows, columns); places int64 (rows,), written.
    """
    last = np.int64(len(slots) - 1)
    columns = keys.shape[1]
    for i in range(len(rows)):
        mixed = np.uint64(0)
        for c in range(columns):
            mixed = (mixed ^ rows[i, c]) * _MIX
            mixed ^= mixed >> _SHIFT
        at = np.int64(mixed & np.uint64(last))
        while True:
            place = slots[at]
            if place < 0:
                place = count
                slots[at] = place
                for c in range(columns):
                    keys[place, c] = rows[i, c]
                count += 1
                break
            same = True
            for c in range(columns):
                if keys[place, c] != rows[i, c]:
                    same = False
                    break
            if same:
                break
            at = (at + 1) & last
        places[i] = place
    return count


@jit()
def numbered(keys):
    """Implement :func:`spacy_decoders.models.headline.words.numbered`."""
    size, slots = len(keys), 1
    while slots < 2 * size:
        slots *= 2
    numbers, known = np.empty(size, np.int64), np.empty((size, 1), np.uint64)
    free = np.full(slots, -1, np.int32)
    count = places_of(free, known, 0, keys.reshape(size, 1), numbers)
    first, counts = np.empty(count, np.int64), np.zeros(count, np.int64)
    for place in range(size - 1, -1, -1):
        first[numbers[place]] = place
        counts[numbers[place]] += 1
    return numbers, first, counts
