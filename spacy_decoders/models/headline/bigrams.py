"""A bigram language model, and the graph of a text's words."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from ...arrays import Floats, Floats32, Integers
from ..saved import array_of, damaged, reading
from .words import TextTokens, Vertices

if TYPE_CHECKING:
    from ...decoders.path import PathProblem

__all__ = ["BOUNDARY", "BigramModel", "word_graph"]

#: The key of the beginning and the end of a run of words.
BOUNDARY = 0
#: Counts above this are not discounted.
MOST_DISCOUNTED = 5

Keys = NDArray[np.uint64]


@dataclass(frozen=True, eq=False)
class BigramModel:
    """A bigram language model of words, which are 64-bit keys.

    Seen pairs have their Good-Turing probability. The mass that is left goes to the other words,
    in proportion to their unigram probability (Katz's back-off).

    References
    ----------
    Katz (1987). Estimation of Probabilities from Sparse Data for the Language Model
    Component of a Speech Recognizer. Deshpande, Barzilay, Karger (2007), section 6.

    Examples
    --------
    >>> run = np.array([7, 8, 7, 8, 9], dtype=np.uint64)
    >>> model = BigramModel.count([run])
    >>> after_7 = model.log_probabilities(run[:1], run[:2])
    >>> bool(after_7[0, 1] > after_7[0, 0])  # 8 has been seen after it, 7 has not
    True
    """

    #: The vocabulary, ascending. Word i is ``keys[i]``; unknown words are ``len(keys)``.
    #: **Shape:** ``(words,)``
    keys: Keys
    #: The log-probability of each word, unknown ones last. **Shape:** ``(words + 1,)``
    unigrams: Floats32
    #: The log-weight of unigrams after each word. **Shape:** ``(words + 1,)``
    backoffs: Floats32
    #: Seen pairs, ascending: the first word times ``len(unigrams)``, plus the second; and their
    #: log-probabilities. **Shape of both:** ``(pairs,)``
    pairs: Integers
    bigrams: Floats32

    @classmethod
    def count(cls, runs: Iterable[Keys]) -> BigramModel:
        """Estimate a model from runs of words; pairs do not span two runs."""
        border = np.array([BOUNDARY], dtype=np.uint64)
        parts = [border]
        for run in runs:
            if len(run):
                parts += [run, border]
        stream = np.concatenate(parts)
        keys, words, counts = np.unique(stream, return_inverse=True, return_counts=True)
        words = words.reshape(-1)
        size = len(keys)
        single = _good_turing(counts)
        single[-1] = max(single[-1], 1.0)
        unigrams = np.log(single / single.sum())
        pairs = words[:-1].astype(np.int64) * (size + 1) + words[1:]
        pairs, seen = np.unique(pairs, return_counts=True)
        firsts, followers = np.divmod(pairs, size + 1)
        totals = np.bincount(firsts, weights=seen, minlength=size)
        discounted = _good_turing(seen)[:-1] / totals[firsts]
        left = 1.0 - np.bincount(firsts, weights=discounted, minlength=size)
        unseen = 1.0 - np.bincount(firsts, weights=np.exp(unigrams[followers]), minlength=size)
        # some mass is left even after a word that the same words always follow
        backoffs = np.log(np.maximum(left, 1e-4) / np.maximum(unseen, 1e-4))
        return cls(
            keys,
            unigrams.astype(np.float32),
            np.append(backoffs, 0.0).astype(np.float32),
            pairs,
            np.log(discounted).astype(np.float32),
        )

    def words(self, keys: Keys) -> Integers:
        """Return the vocabulary index of each key, ``len(self.keys)`` if unknown."""
        places = np.searchsorted(self.keys, keys)
        inside = np.minimum(places, len(self.keys) - 1)
        known = self.keys[inside] == keys
        return np.where(known, inside, len(self.keys))

    def log_probabilities(self, firsts: Keys, seconds: Keys) -> Floats:
        """The log-probability of each key of `seconds` after each of `firsts`.

        **Shape:** ``(len(firsts), len(seconds))``
        """
        rows, columns = self.words(firsts), self.words(seconds)
        pairs = rows[:, None] * len(self.unigrams) + columns
        place = np.searchsorted(self.pairs, pairs)
        seen = np.append(self.pairs, -1)[place] == pairs
        unseen = self.backoffs[rows][:, None] + self.unigrams[columns]
        return np.where(seen, np.append(self.bigrams, np.float32(0.0))[place], unseen).astype("d")

    @classmethod
    def restored(cls, saved: Any) -> BigramModel:
        """Restore a model from its saved fields, after checking them."""
        part = "knowledge, language_model"
        with reading(part):
            keys, unigrams, backoffs, pairs, bigrams = map(saved.get, cls.__dataclass_fields__)
        words = len(array_of(keys, np.uint64, (-1,), part))
        if not words:
            raise damaged(part, "it has no words")
        seen = len(array_of(pairs, np.int64, (-1,), part))
        for table, size in ((unigrams, words + 1), (backoffs, words + 1), (bigrams, seen)):
            array_of(table, np.float32, (size,), part)
        return cls(keys, unigrams, backoffs, pairs, bigrams)


def word_graph(
    tokens: TextTokens,
    vertices: Vertices,
    selection: Floats,
    language_model: BigramModel,
    auxiliaries: Keys,
    *,
    ordering: float,
    contiguity: float,
) -> tuple[PathProblem, Integers]:
    """Build the graph in which headlines are paths, with a vertex for each content word.

    The score of the edge from v to u is the selection score of u, plus that of the best step from
    v, directly or through one auxiliary word: `ordering` times its log-probability, and
    `contiguity` more if the step occurs in the text. Only the best of parallel edges is kept,
    since no best path takes another.

    `selection`, **shape** ``(n,)``, are the scores of choosing vertices, and `auxiliaries` the
    keys of words that may stand between content words. The second result, **shape** ``(n, n)``, is
    the index of the auxiliary word of the edge between each two vertices, -1 for none.

    References
    ----------
    Deshpande, Barzilay, Karger (2007), section 6, Graph Construction.
    """
    from ...decoders.path import PathProblem

    log = language_model.log_probabilities
    own, border = vertices.keys, np.array([BOUNDARY], dtype=np.uint64)
    direct, before, after = log(own, own), log(own, auxiliaries), log(auxiliaries, own)
    first, between, second = vertices.joined(tokens, auxiliaries).T
    edges, via = np.full(direct.shape, -np.inf), np.full(direct.shape, -1)
    for number in range(-1, len(auxiliaries)):
        chances = direct if number < 0 else before[:, number, None] + after[number]
        steps, seen = ordering * chances, between == number
        steps[first[seen], second[seen]] += contiguity
        better = steps > edges
        edges[better] = steps[better]
        via[better] = number
    start = selection + ordering * log(border, own)[0]
    end = ordering * log(own, border)[:, 0]
    return PathProblem(start, edges + selection, end, vertices.classes), via


def _good_turing(counts: Integers) -> Floats:
    """Return discounted counts, followed by the mass of all unseen events.

    In Katz's form, counts of up to 5 are discounted by the numbers of events with each count. If
    events are so few that a ratio is no discount, half a count is subtracted from singletons only.
    """
    seen = np.bincount(np.minimum(counts, MOST_DISCOUNTED + 2), minlength=MOST_DISCOUNTED + 3)
    once = max(1, int(seen[1]))
    tail = (MOST_DISCOUNTED + 1) * int(seen[MOST_DISCOUNTED + 1]) / once
    factors = np.ones(MOST_DISCOUNTED + 2)
    factors[1] = 0.5
    for r in range(1, MOST_DISCOUNTED + 1):
        if not seen[r] or tail >= 1.0:
            continue
        factor = ((r + 1) * seen[r + 1] / (r * seen[r]) - tail) / (1.0 - tail)
        if 0.1 < factor < 1.0:
            factors[r] = factor
    shrunk = counts * factors[np.minimum(counts, MOST_DISCOUNTED + 1)]
    return np.append(shrunk, counts.sum() - shrunk.sum())
