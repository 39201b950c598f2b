"""Counting the different words of a text."""

import numpy as np

from ....jit import jit
from .phrases import _number

__all__ = ["count_kinds", "number_keys"]


@jit()
def number_keys(keys):
    """Number different keys by their first occurrences.

    **Shape**: keys (n,).

    Returns
    -------
    The number of each key, the first place of each number, and how often it occurs. **Shapes:**
    ``(n,)``, ``(k,)``, ``(k,)``
    """
    size = 16
    while size < 2 * keys.size:
        size *= 2
    slots = np.zeros(size, np.uint64)
    taken = np.full(size, -1)
    numbers = np.empty(keys.size, np.int64)
    first = np.empty(keys.size, np.int64)
    counts = np.zeros(keys.size, np.int64)
    found = 0
    for at in range(keys.size):
        number = _number(keys[at], slots, taken, found)
        if number == found:
            first[number] = at
            found += 1
        numbers[at] = number
        counts[number] += 1
    return numbers, first[:found], counts[:found]


@jit()
def count_kinds(numbers, sentences, count):
    """Return the first place of each number below `count`, and in how many sentences it is.

    **Shape**: numbers and sentences (n,), the latter ascending.
    """
    first = np.full(count, -1)
    last = np.full(count, -1)
    spread = np.zeros(count, np.int64)
    for at in range(numbers.size):
        number = numbers[at]
        if first[number] < 0:
            first[number] = at
        if last[number] != sentences[at]:
            last[number] = sentences[at]
            spread[number] += 1
    return first, spread
