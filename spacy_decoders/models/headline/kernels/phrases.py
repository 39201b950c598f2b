"""Collecting the phrases of a text."""

import numpy as np

from ....jit import internal, jit

__all__ = [
    "AUXILIARY", "EDGE", "GLUE", "HYPHEN", "MEANING", "OPENER", "STOP", "UNIT", "WORD",
    "collect_phrases", "phrase_heads",
]  # fmt: skip

#: Columns of a text's traits.
WORD, GLUE, HYPHEN, UNIT, MEANING, EDGE, OPENER, AUXILIARY, STOP = range(9)

_FACTOR = np.uint64(0x9E3779B97F4A7C15)
_SHIFT = np.uint64(29)


@internal()
def _mixed(so_far, key):
    """The key of a longer run of keys."""
    return (so_far ^ (so_far >> _SHIFT)) * _FACTOR + key


@internal()
def _number(key, slots, numbers, count):
    """The number of a key in a hash table; `count`, as which it is added, if it is new."""
    mask = np.uint64(slots.size - 1)
    place = np.int64((key >> np.uint64(32)) & mask)
    while numbers[place] >= 0 and slots[place] != key:
        place = np.int64((place + 1) & mask)
    if numbers[place] < 0:
        slots[place] = key
        numbers[place] = count
    return numbers[place]


@internal()
def _run_end(flags, sentences, start, most):
    """The next punctuation or sentence after a token, or as far as a phrase may reach."""
    at = start
    while at < min(flags.shape[0], start + 2 * most) and sentences[at] == sentences[start]:
        if not (flags[at, WORD] or flags[at, GLUE]):
            break
        at += 1
    return at


@internal()
def _next(flags, start, end, limit, most):
    """The next end, after `end`, of a phrase that begins at `start`; 0 if there is no more."""
    words = 0
    meaning = False
    for at in range(start, limit):
        words += flags[at, WORD]
        meaning |= flags[at, MEANING]
        if words > most or at - start > 2 * most - 2:
            return 0
        whole = at + 1 == flags.shape[0] or not flags[at + 1, HYPHEN]
        if at >= end and whole and meaning and flags[at, EDGE]:
            return at + 1
    return 0


@internal()
def _opens(flags, at):
    return (flags[at, EDGE] or flags[at, OPENER]) and not (at > 0 and flags[at - 1, HYPHEN])


@internal()
def _repeats(flags, stems, start, end):
    for at in range(start, end):
        for other in range(start, at):
            if flags[at, UNIT] and flags[other, UNIT] and stems[at] == stems[other]:
                return True
    return False


@jit()
def collect_phrases(keys, stems, sentences, flags, most):
    """Return the fields of :class:`..phrases.Phrases`: phrases that no punctuation breaks.

    They have at most `most` words and a word with a meaning, end with what is no function word
    and begin so or with a word that titles begin with, and don't take apart what a hyphen joins.
    """
    count = 0
    for start in range(keys.size):
        if _opens(flags, start):
            limit = _run_end(flags, sentences, start, most)
            end = _next(flags, start, start, limit, most)
            while end:
                count += 1
                end = _next(flags, start, end, limit, most)
    size = 16
    while size < 2 * count:
        size *= 2
    slots = np.zeros((2, size), np.uint64)
    numbers = np.full((2, size), -1)
    places = np.empty((4, count), np.int64)
    starts, ends, phrase, stemmed = places
    first = np.empty(count, np.int64)
    counts = np.zeros(count, np.int64)
    repeats = np.empty(count, np.bool_)
    found, phrases, kinds = 0, 0, 0
    for start in range(keys.size):
        if not _opens(flags, start):
            continue
        limit = _run_end(flags, sentences, start, most)
        by_word = np.uint64(0)
        by_stem = np.uint64(0)
        at = start
        end = _next(flags, start, start, limit, most)
        while end:
            while at < end:
                by_word = _mixed(by_word, keys[at])
                by_stem = _mixed(by_stem, stems[at])
                at += 1
            number = _number(by_word, slots[0], numbers[0], phrases)
            if number == phrases:
                first[number] = found
                repeats[number] = _repeats(flags, stems, start, end)
                phrases += 1
            counts[number] += 1
            kind = _number(by_stem, slots[1], numbers[1], kinds)
            kinds += kind == kinds
            starts[found], ends[found], phrase[found], stemmed[found] = start, end, number, kind
            found += 1
            end = _next(flags, start, end, limit, most)
    return starts, ends, phrase, stemmed, first[:phrases], counts[:phrases], repeats[:phrases]


@jit()
def phrase_heads(heads, needs, starts, ends):
    """The token of each span that all its others depend on; -1 if it lacks something.

    So it does if two of its words depend on others outside of it, or if a word needs one behind
    its end.
    """
    found = np.full(starts.size, -1)
    for span in range(starts.size):
        start, end = starts[span], ends[span]
        outside, last = 0, -1
        for at in range(start, end):
            if heads[at] < start or heads[at] >= end or heads[at] == at:
                outside += 1
                found[span] = at
            last = max(last, needs[at])
        if outside != 1 or last >= end:
            found[span] = -1
    return found
