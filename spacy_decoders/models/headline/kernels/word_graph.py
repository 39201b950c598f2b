"""Scoring all ordered pairs of a text's words at once."""

from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from ....jit import jit

__all__ = ["Bigrams", "score_pairs"]


class Bigrams(NamedTuple):
    """The arrays of a :class:`~spacy_decoders.models.headline.bigrams.BigramModel`."""

    unigrams: NDArray[np.float32]
    backoffs: NDArray[np.float32]
    offsets: NDArray[np.int64]
    followers: NDArray[np.int32]
    bigrams: NDArray[np.float32]


@jit()
def _log_probabilities(firsts, seconds, places, model):
    """Return log-probabilities; places[w] is the index of word w in `seconds`, or -1."""
    unigrams, backoffs, offsets = model.unigrams, model.backoffs, model.offsets
    followers, bigrams = model.followers, model.bigrams
    rows = firsts.size
    columns = seconds.size
    table = np.empty((rows, columns))
    for i in range(rows):
        v = firsts[i]
        backoff = backoffs[v]
        for j in range(columns):
            table[i, j] = backoff + unigrams[seconds[j]]
        if v < unigrams.size - 1:
            for at in range(offsets[v], offsets[v + 1]):
                j = places[followers[at]]
                if j >= 0:
                    table[i, j] = bigrams[at]
    return table


@jit()
def score_pairs(words, auxiliaries, model, ordering, contiguity, joined, edges, via):
    """Fill edges[v, u] with the best step from v to u, and via[v, u] with the word between.

    A step is direct or through an auxiliary word (its index in `via`, else -1). Its score is
    `ordering` times its log-probability, and `contiguity` more if it occurs in the text, as a row
    (v, word between or -1, u) of `joined`.
    """
    n = words.size
    m = auxiliaries.size
    places = np.full(model.unigrams.size, -1, np.int64)
    for i in range(n):
        if words[i] < model.unigrams.size - 1:
            places[words[i]] = i
    direct = _log_probabilities(words, words, places, model)
    after = _log_probabilities(auxiliaries, words, places, model)
    for i in range(n):
        if words[i] < model.unigrams.size - 1:
            places[words[i]] = -1
    for i in range(m):
        if auxiliaries[i] < model.unigrams.size - 1:
            places[auxiliaries[i]] = i
    before = _log_probabilities(words, auxiliaries, places, model)
    for v in range(n):
        row = edges[v]
        word = via[v]
        for u in range(n):
            row[u] = ordering * direct[v, u]
            word[u] = -1
        for x in range(m):
            first = before[v, x]
            second = after[x]
            for u in range(n):
                value = ordering * (first + second[u])
                better = value > row[u]
                row[u] = value if better else row[u]
                word[u] = x if better else word[u]
    for i in range(joined.shape[0]):
        v = joined[i, 0]
        x = joined[i, 1]
        u = joined[i, 2]
        value = ordering * (direct[v, u] if x < 0 else before[v, x] + after[x, u]) + contiguity
        if value > edges[v, u]:
            edges[v, u] = value
            via[v, u] = x
