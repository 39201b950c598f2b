"""What the other mentions of a word in its document tell of it."""

import numpy as np

from .....jit import jit, uncounted
from .hashing import MULTIPLIER

__all__ = ["note_mentions"]

#: More mentions than this count as so many.
MANY = 2
#: Added to small numbers, so that none of them is "nothing" or "outside".
NAMED = 1 << 33


@uncounted(inline="always")
def cell_of(keys, key):
    """Return the cell that has a key, or the empty one where it belongs."""
    mask = len(keys) - 1
    cell = np.int64((key * MULTIPLIER) >> np.uint64(32)) & mask
    while keys[cell] != 0 and keys[cell] != key:
        cell = (cell + 1) & mask
    return cell


@jit()
def link_mentions(lower, begin, stop, keys, last, before, after):
    """Write the mention before and after each word of a document; -1 for none.

    The table is left empty for the next document.
    """
    for i in range(begin, stop):
        cell = cell_of(keys, lower[i])
        earlier = last[cell] if keys[cell] != 0 else -1
        before[i], after[i] = earlier, -1
        if earlier >= 0:
            after[earlier] = i
        keys[cell], last[cell] = lower[i], i
    for i in range(begin, stop):
        # a key may stand behind others that are gone already: every cell it may stand in
        cell = np.int64((lower[i] * MULTIPLIER) >> np.uint64(32)) & (len(keys) - 1)
        while keys[cell] != 0:
            keys[cell] = 0
            cell = (cell + 1) & (len(keys) - 1)


@jit()
def count_cases(i, before, after, form, lower, initial):
    """Return how often the other mentions of a word stand in capitals, and how often not.

    Capitals at the beginning of a sentence say nothing.
    """
    capital, small = 0, 0
    for way in range(2):
        links = before if way == 0 else after
        j = links[i]
        while j >= 0 and capital <= MANY and small <= MANY:
            if form[j] == lower[j]:
                small += 1
            elif not initial[j]:
                capital += 1
            j = links[j]
    return min(capital, MANY), min(small, MANY)


@jit()
def note_mentions(form, lower, documents, initial, own):
    """Write what the other mentions of each word tell.

    Parameters
    ----------
    form, lower
        **Shape (n,)**, uint64: the words, and their lower case.
    documents
        **Shape (documents + 1,)**, int64.
    initial
        **Shape (n,)**, bool: whether a sentence begins there.
    own
        **Shape (n, B)**, uint64. Written are columns 0, in which case other mentions stand, and
        1 and 2, the words before and after another mention.
    """
    n = len(form)
    longest = 1
    for d in range(len(documents) - 1):
        longest = max(longest, documents[d + 1] - documents[d])
    cells = 2
    while cells < 2 * longest:
        cells *= 2
    keys = np.zeros(cells, np.uint64)
    last = np.zeros(cells, np.int64)
    before, after = np.empty(n, np.int64), np.empty(n, np.int64)
    for d in range(len(documents) - 1):
        begin, stop = documents[d], documents[d + 1]
        link_mentions(lower, begin, stop, keys, last, before, after)
        for i in range(begin, stop):
            capital, small = count_cases(i, before, after, form, lower, initial)
            seen = 16 * capital + 4 * small + 2 * initial[i] + (form[i] != lower[i])
            own[i, 0] = NAMED + seen
            j = before[i] if before[i] >= 0 else after[i]
            own[i, 1] = own[i, 2] = 0
            if j >= 0:
                own[i, 1] = lower[j - 1] if j > begin else np.uint64(1)
                own[i, 2] = lower[j + 1] if j + 1 < stop else np.uint64(1)
