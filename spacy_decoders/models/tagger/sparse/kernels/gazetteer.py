"""Phrases of a gazetteer, found by the words they are made of."""

import numpy as np

from .....jit import jit, uncounted
from .hashing import MULTIPLIER, mixed

__all__ = ["add_phrases", "mark_phrases", "single_words"]

#: Added to small numbers, so that none of them is "nothing" or "outside".
NAMED = 1 << 33
#: In an entry, the bit that tells that a longer phrase begins so.
GOES_ON = np.uint16(1 << 15)


@uncounted(inline="always")
def entry_of(keys, state):
    """Return the cell of a beginning of phrases, or the empty one where it belongs."""
    mask = len(keys) - 1
    key = np.uint32(state >> np.uint64(32)) | np.uint32(1)
    cell = np.int64((np.uint64(key) * MULTIPLIER) >> np.uint64(32)) & mask
    while keys[cell] != 0 and keys[cell] != key:
        cell = (cell + 1) & mask
    return cell, key


@jit()
def add_phrases(keys, entries, words, offsets, kind):
    """Add phrases to a table with room for them.

    Parameters
    ----------
    keys, entries
        **Shape (cells,)**, uint32 and uint16: a hash table by open addressing; changed. An entry
        has a bit for each kind, and `GOES_ON`.
    words
        **Shape (total,)**, uint64: the words of all phrases, in lower case.
    offsets
        **Shape (phrases + 1,)**, int64.
    kind
        The number of the phrases' kind.
    """
    used = 0
    for p in range(len(offsets) - 1):
        state = np.uint64(0)
        for k in range(offsets[p], offsets[p + 1]):
            state = mixed(state, words[k])
            cell, key = entry_of(keys, state)
            used += keys[cell] == 0
            keys[cell] = key
            entries[cell] |= np.uint16(1 << kind) if k == offsets[p + 1] - 1 else GOES_ON
    return used


@jit()
def single_words(keys, entries, lower, listed):
    """Write the kinds of the phrases that each word is by itself."""
    for i in range(len(lower)):
        cell, _ = entry_of(keys, mixed(np.uint64(0), lower[i]))
        kinds = entries[cell] & ~GOES_ON if keys[cell] != 0 else np.uint16(0)
        listed[i] = NAMED + kinds if kinds else 0


@jit()
def mark_phrases(keys, entries, lower, sentences, marks):
    """Write the longest phrases of each sentence, from left to right.

    Parameters
    ----------
    lower
        **Shape (n,)**, uint64: the words in lower case.
    sentences
        **Shape (sentences + 1,)**, int64.
    marks
        **Shape (n,)**, uint64: of a word in a phrase, the kinds of the phrase and whether it
        stands alone, first or later; 0 outside. Written.
    """
    for s in range(len(sentences) - 1):
        i, stop = sentences[s], sentences[s + 1]
        while i < stop:
            state, end, kinds = np.uint64(0), i, np.uint16(0)
            j = i
            while j < stop:
                state = mixed(state, lower[j])
                cell, _ = entry_of(keys, state)
                if keys[cell] == 0:
                    break
                j += 1
                found = entries[cell] & ~GOES_ON
                if found:
                    end, kinds = j, found
                if not entries[cell] & GOES_ON:
                    break
            if end == i:
                marks[i] = 0
                i += 1
                continue
            for k in range(i, end):
                place = 0 if end - i == 1 else 1 if k == i else 2
                marks[k] = NAMED + 4 * np.uint64(kinds) + place
            i = end
