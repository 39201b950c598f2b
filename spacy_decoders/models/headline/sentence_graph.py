"""The graph in which a summary is a path: one vertex a sentence."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from ...decoders.path import PathProblem
from .corpus_counts import CorpusCounts
from .words import Words

__all__ = ["sentence_graph", "sentence_scores"]

Floats = NDArray[np.float64]
Integers = NDArray[np.int64]

#: Score of the first sentence of a text; it decreases with the sentence's index.
LEAD = 0.3
#: The least content words of a sentence that makes sense on its own.
SHORT = 4


def sentence_graph(
    words: Words,
    corpus: CorpusCounts,
    *,
    ordering: float = 0.1,
    coherence: float = 0.2,
    redundancy: float = 0.5,
    kept: Integers | None = None,
) -> PathProblem:
    """Build the decoding graph of a summary from a text's own sentences.

    The score of a sentence is its similarity (cosine of TF*IDF over stems) to the whole text plus
    a small term for an early position. An edge adds `coherence` times the similarity of its ends,
    and adds `ordering` if it goes forward in the text, or subtracts it if it goes back. Similar
    sentences form a class.

    Parameters
    ----------
    words
        The text.
    corpus
        Document frequencies of stems, or the empty counts.
    ordering, coherence
        Weights of the text's order and of similar neighbours.
    redundancy
        Similarity from which on two sentences are of one class (transitively).
    kept
        The sentences in the graph, ascending; all by default. Nothing of the size of all pairs of
        others is made.

    References
    ----------
    Deshpande, Barzilay, Karger (2007), section 2.2.
    """
    found = _SentenceStems.of(words, corpus)
    scores = found.scores()
    if kept is None:
        kept = np.arange(found.count)
    unit = found.unit_rows(kept)
    similar = unit @ unit.T
    scores = scores[kept]
    place = np.arange(len(kept))
    onward = np.sign(place[None, :] - place[:, None])
    edges = scores[None, :] + ordering * onward + coherence * similar
    return PathProblem(scores, edges, np.zeros(len(kept)), _components(similar >= redundancy))


def sentence_scores(words: Words, corpus: CorpusCounts) -> Floats:
    """Return the score of each sentence, without a table of all pairs. **Shape:** ``(count,)``"""
    return _SentenceStems.of(words, corpus).scores()


@dataclass(frozen=True, eq=False)
class _SentenceStems:
    """The TF*IDF of the stems of each sentence, as a sparse table with sorted rows.

    `rows`, `columns` and `values` are its entries, `count` and `stems` its size, `lengths` the
    content words of each sentence.
    """

    rows: Integers
    columns: Integers
    values: Floats
    count: int
    stems: int
    lengths: Integers

    @classmethod
    def of(cls, words: Words, corpus: CorpusCounts) -> _SentenceStems:
        count = int(words.sentences[-1]) + 1
        places = np.flatnonzero(words.content)
        stems, column = np.unique(words.stems[places], return_inverse=True)
        texts, _, size = corpus.look_up(stems)
        idf = np.log((size + 2.0) / (texts + 1.0)) if size else np.ones(len(stems))
        width = max(1, len(stems))
        codes = words.sentences[places] * width + column.reshape(-1)
        codes, times = np.unique(codes, return_counts=True)
        rows, columns = np.divmod(codes, width)
        lengths = np.bincount(words.sentences[places], minlength=count)
        return cls(rows, columns, times * idf[columns], count, width, lengths)

    def scores(self) -> Floats:
        """Similarity of each sentence to the whole, and what its place and length add."""
        whole = np.bincount(self.columns, weights=self.values, minlength=self.stems)
        sums = np.bincount(
            self.rows, weights=self.values * whole[self.columns], minlength=self.count
        )
        scores = sums / self._norms() / max(1e-12, float(np.sqrt((whole**2).sum())))
        scores += LEAD / (1.0 + np.arange(self.count))
        return np.asarray(scores - (self.lengths < SHORT) * 0.5)

    def unit_rows(self, kept: Integers) -> Floats:
        """The rows of some sentences, scaled to length 1, and the columns that they need."""
        number = np.full(self.count, -1, dtype=np.int64)
        number[kept] = np.arange(len(kept))
        entries = np.flatnonzero(number[self.rows] >= 0)
        columns, column = np.unique(self.columns[entries], return_inverse=True)
        rows = number[self.rows[entries]]
        table = np.zeros((len(kept), max(1, len(columns))))
        table[rows, column.reshape(-1)] = self.values[entries]
        return np.asarray(table / self._norms()[kept][:, None])

    def _norms(self) -> Floats:
        norms = np.sqrt(np.bincount(self.rows, weights=self.values**2, minlength=self.count))
        return np.where(norms > 0, norms, 1.0)


def _components(alike: NDArray[np.bool_]) -> NDArray[np.int64]:
    """Number the connected components of a symmetric relation."""
    classes = np.arange(len(alike))
    while True:
        # every sentence takes the least class among its neighbours, until none changes
        least = np.where(alike, classes[None, :], len(alike)).min(axis=1, initial=len(alike))
        least = np.minimum(least, classes)
        if np.array_equal(least, classes):
            return classes
        classes = least
