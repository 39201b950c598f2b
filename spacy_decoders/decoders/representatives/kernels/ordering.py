"""Orders of vertices, candidates and sets that do not depend on the order of the input."""

import numpy as np

from ....jit import jit

__all__ = ["mixed", "ordered"]


@jit()
def mixed(numbers):
    """Scramble 64 bits (the finaliser of splitmix64): uint64 (n,) to uint64 (n,)."""
    z = numbers + np.uint64(0x9E3779B97F4A7C15)
    z = (z ^ (z >> np.uint64(30))) * np.uint64(0xBF58476D1CE4E5B9)
    z = (z ^ (z >> np.uint64(27))) * np.uint64(0x94D049BB133111EB)
    return z ^ (z >> np.uint64(31))


@jit()
def _is_before(values, first, second):
    """Compare two lists as Python does: -1 if the first is less, 0 if they are equal, else 1."""
    for x, y in zip(first, second):  # noqa: B905 - the shorter one decides
        if values[x] != values[y]:
            return -1 if values[x] < values[y] else 1
    return np.sign(len(first) - len(second))


@jit()
def ordered(keys, local, offsets):
    """Sort the allowed candidates of each set by key and cost, and the sets as lists of these.

    By insertion sort, which is fast if there are few, or if they are nearly in order.

    Returns the numbers of the sets, int64 (k,), the positions of the allowed candidates, int64
    (allowed,), both in the new order, and where each set then begins, int64 (k + 1,).

    **Shapes:** keys uint64 (n,); local float64 (n,), ``inf`` where forbidden; offsets int64
    (k + 1,).
    """
    k = len(offsets) - 1
    places = np.empty(len(keys), np.int64)
    ends = np.empty(k, np.int64)
    numbers = np.empty(k, np.int64)
    for i in range(k):
        begin = end = offsets[i]
        for x in range(begin, offsets[i + 1]):
            if local[x] == np.inf:
                continue
            at = end
            while at > begin and (
                keys[x] < keys[places[at - 1]]
                or (keys[x] == keys[places[at - 1]] and local[x] < local[places[at - 1]])
            ):
                places[at] = places[at - 1]
                at -= 1
            places[at] = x
            end += 1
        ends[i] = end
        at = i
        while at > 0:
            other = numbers[at - 1]
            mine, theirs = places[begin:end], places[offsets[other] : ends[other]]
            sign = _is_before(keys, mine, theirs)
            if sign > 0 or (sign == 0 and _is_before(local, mine, theirs) >= 0):
                break
            numbers[at] = other
            at -= 1
        numbers[at] = i
    begins = np.zeros(k + 1, np.int64)
    order = np.empty(len(keys), np.int64)
    for at in range(k):
        begins[at + 1] = begins[at]
        # one by one: numba takes a second longer to compile the assignment of a slice
        for x in places[offsets[numbers[at]] : ends[numbers[at]]]:
            order[begins[at + 1]] = x
            begins[at + 1] += 1
    return numbers, order[: begins[k]], begins
