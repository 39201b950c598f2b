"""Collecting phrases, and finding spans that can stand alone."""

import numpy as np

from ....jit import jit

_FACTOR = np.uint64(0xBF58476D1CE4E5B9)  # another one than that of the keys of texts


@jit()
def collect(words, joins, glue, stop, unit, meaning, keys, stems, sentences, most):
    """Find all phrases of up to `most` words: where they begin and end, and their keys.

    The arguments are the attributes of tokens in
    :class:`~spacy_decoders.models.headline.words.TextTokens`, the keys of stems and their numbers;
    no two texts share one of these.

    **Shape**: all (tokens,); of what is returned (places,).
    """
    n, limit = len(words), len(words)
    # where phrases that begin with each token have to end: before a stem is repeated
    limits, following = np.empty(n, np.int64), np.full(n, n)
    for i in range(n - 1, -1, -1):
        if i + 1 < n and sentences[i] != sentences[i + 1]:
            limit = i + 1
        if not (words[i] or glue[i]):
            limit = i
        if unit[i]:
            limit = min(limit, following[stems[i]])
            following[stems[i]] = i
        limits[i] = limit
    room, count = most * np.count_nonzero(words), 0
    starts, ends = np.empty(room, np.int64), np.empty(room, np.int64)
    found = np.empty(room, np.uint64)
    for i in range(n):
        if not words[i] or stop[i] or (i and joins[i - 1]):
            continue
        key, size, says = np.uint64(0), 0, False
        for j in range(i, limits[i]):
            key = (key ^ keys[j]) * _FACTOR
            says |= meaning[j]
            size += words[j]
            if size > most:
                break
            if words[j] and says and not (stop[j] or (j + 1 < n and joins[j + 1])):
                starts[count], ends[count], found[count] = i, j + 1, key
                count += 1
    return starts[:count], ends[:count], found[:count]


@jit()
def choose(starts, ends, heads, parsed, banned, bad, last, named, marks, governed, verbs):
    """Return which spans can stand alone.

    No token may be `banned`. In texts with trees, the span must not begin with a `bad` token, must
    end with a `last` one, and must have a single head, which is `named`; it must not split a
    quotation, or contain a verb if its head is `governed`.

    **Shape**: starts, ends and the result (spans,); the others (tokens,).
    """
    found = np.zeros(len(starts), np.bool_)
    for s in range(len(starts)):
        first, end = starts[s], ends[s]
        tops, top, quotes, acts = 0, 0, 0, False
        free = not parsed[first] or (last[end - 1] and not bad[first])
        for i in range(first, end):
            free &= not banned[i]
            if heads[i] < first or heads[i] >= end or heads[i] == i:
                tops, top = tops + 1, i
            quotes += marks[i]
            acts |= verbs[i]
        whole = tops == 1 and named[top] and quotes % 2 == 0 and not (governed[top] and acts)
        found[s] = free and (whole or not parsed[first])
    return found
