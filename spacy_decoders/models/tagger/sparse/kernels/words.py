"""Attributes of words: their letters, the phrases they are in, their other mentions."""

import numpy as np

from .....jit import jit, uncounted
from .features import MULTIPLIER, mixed

__all__ = [
    "AFFIX", "GOES_ON", "NAMED", "add_phrases", "letters", "mark_phrases", "note_mentions",
]  # fmt: skip

#: The length of the longest prefix and suffix.
AFFIX = 4
#: Added to small numbers, so that none means "nothing" (0) or "outside" (1).
NAMED = 1 << 33
#: The bit of a gazetteer's entry that is set if a longer phrase begins so.
GOES_ON = np.uint16(1 << 15)
#: The largest count of mentions that is distinguished.
MANY = 2

LOWER, UPPER, DIGIT, OTHER = 1, 2, 4, 8


@uncounted(inline="always")
def class_of(code, lower):
    """Return whether a letter is lower or upper case, a digit or something else."""
    if code != lower:
        return UPPER
    if 48 <= code <= 57:
        return DIGIT
    if 97 <= code <= 122 or code >= 192:
        return LOWER
    return OTHER


@jit()
def letters(codes, lowered, offsets, seeds, out):
    """Write hashes of the letters of words: affixes, shape and classes; 0 for a missing affix.

    **Shape**: codes and lowered uint32 (letters,), the code points of all words, and those of the
    same words in lower case; offsets int64 (words + 1,); seeds uint64 (2 * AFFIX + 2,), one for
    each column; out uint64 (words, 2 * AFFIX + 2): prefixes of 1 to `AFFIX` letters, suffixes, the
    shape with runs cut to one, and the set of classes of letters.
    """
    for w in range(len(offsets) - 1):
        begin, stop = offsets[w], offsets[w + 1]
        length = stop - begin
        prefix, suffix = np.uint64(0), np.uint64(0)
        for k in range(AFFIX):
            if k >= length:
                out[w, k] = out[w, AFFIX + k] = 0
                continue
            prefix = mixed(prefix, np.uint64(codes[begin + k]) + np.uint64(1))
            suffix = mixed(suffix, np.uint64(codes[stop - 1 - k]) + np.uint64(1))
            out[w, k] = mixed(prefix, seeds[k])
            out[w, AFFIX + k] = mixed(suffix, seeds[AFFIX + k])
        shape, kinds, before = np.uint64(0), np.uint64(0), np.uint64(0)
        for k in range(begin, stop):
            kind = class_of(codes[k], lowered[k])
            shown = np.uint64(codes[k]) if kind == OTHER else np.uint64(kind)
            kinds |= np.uint64(kind)
            if k == begin and kind == UPPER:
                kinds |= np.uint64(16)
            if shown != before:
                shape = mixed(shape, shown)
            before = shown
        kinds |= np.uint64(32) if length == 1 else np.uint64(0)
        out[w, 2 * AFFIX] = mixed(shape, seeds[2 * AFFIX])
        out[w, 2 * AFFIX + 1] = mixed(kinds, seeds[2 * AFFIX + 1])


@uncounted(inline="always")
def entry_of(keys, state):
    """Return the cell and the key of a beginning of phrases; the cell is empty if unknown."""
    mask = len(keys) - 1
    key = np.uint32(state >> np.uint64(32)) | np.uint32(1)
    cell = np.int64((np.uint64(key) * MULTIPLIER) >> np.uint64(32)) & mask
    while keys[cell] != 0 and keys[cell] != key:
        cell = (cell + 1) & mask
    return cell, key


@jit()
def add_phrases(keys, entries, words, offsets, kind):
    """Add phrases of a kind, given by number, to a table that is large enough.

    **Shape**: keys uint32 and entries uint16 (cells,), a hash table with open addressing, updated:
    an entry has a bit for each kind, and `GOES_ON`; words uint64 (total,), those of all phrases,
    in lower case; offsets int64 (phrases + 1,).
    """
    for p in range(len(offsets) - 1):
        state = np.uint64(0)
        for k in range(offsets[p], offsets[p + 1]):
            state = mixed(state, words[k])
            cell, key = entry_of(keys, state)
            keys[cell] = key
            entries[cell] |= np.uint16(1 << kind) if k == offsets[p + 1] - 1 else GOES_ON


@jit()
def mark_phrases(keys, entries, lower, sentences, marks):
    """Mark the words in phrases, which are matched greedily from left to right, longest first.

    **Shape**: lower uint64 (n,), the words in lower case; sentences int64 (sentences + 1,); marks
    uint64 (n,), written: for a word in a phrase, the kinds of the phrase and whether the word is
    the only one, the first or a later one; 0 outside.
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


@jit()
def note_mentions(numbers, form, lower, documents, initial, own):
    """Write attributes of the other mentions of each word in its document.

    **Shape**: numbers int64 (n,), equal for all mentions of a word in a document, less than n;
    form and lower uint64 (n,), the words, and their lower case; documents int64 (documents + 1,);
    initial bool (n,), whether a sentence begins there; own uint64 (n, B), of which columns 0, the
    case of other mentions, and 1 and 2, the words before and after another mention, are written.
    """
    n = len(numbers)
    last = np.full(n, -1)
    # the mention before and after each one
    links = np.full((2, n), -1)
    for i in range(n):
        j = last[numbers[i]]
        links[0, i] = j
        if j >= 0:
            links[1, j] = i
        last[numbers[i]] = i
    for d in range(len(documents) - 1):
        begin, stop = documents[d], documents[d + 1]
        for i in range(begin, stop):
            capital, small = 0, 0
            for way in range(2):
                j = links[way, i]
                while j >= 0 and capital <= MANY and small <= MANY:
                    if form[j] == lower[j]:
                        small += 1
                    elif not initial[j]:  # a capital at the beginning of a sentence says nothing
                        capital += 1
                    j = links[way, j]
            seen = 16 * min(capital, MANY) + 4 * min(small, MANY)
            own[i, 0] = NAMED + seen + 2 * initial[i] + (form[i] != lower[i])
            j = links[0, i] if links[0, i] >= 0 else links[1, i]
            own[i, 1] = own[i, 2] = 0
            if j >= 0:
                own[i, 1] = lower[j - 1] if j > begin else np.uint64(1)
                own[i, 2] = lower[j + 1] if j + 1 < stop else np.uint64(1)
