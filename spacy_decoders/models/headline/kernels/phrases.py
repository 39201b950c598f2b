"""Collecting phrases, and choosing those that can stand by themselves."""

import numpy as np

from ....jit import jit

_FACTOR = np.uint64(0xBF58476D1CE4E5B9)  # not that by which keys are made of their texts


@jit()
def collect(words, joins, glue, stop, unit, meaning, keys, stems, sentences, most):
    """Find all phrases of up to `most` words: where they begin and end, and a key of each.

    Of the tokens, as :class:`~spacy_decoders.models.headline.words.TextTokens` describes them,
    there are the keys of the stems and their numbers; no two texts have one in common.

    **Shape**: all (tokens,); of what is returned (places,).
    """
    n, limit = len(words), len(words)
    # how far a phrase that begins with each token may reach: not to where a stem comes again
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
    """Tell which spans can stand by themselves.

    None has a token that is `banned`. Where there are trees, a span must not begin with what is
    `bad`, must end with what may be `last`, and all of it depends on one of its tokens, which is
    `named`; it takes no quotation apart, and has no verb where it is `governed`.

    **Shape**: starts, ends and what is returned (spans,); the others (tokens,).
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
