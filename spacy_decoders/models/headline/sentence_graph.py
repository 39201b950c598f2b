"""The graph in which a summary is a path: one vertex a sentence."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from ...decoders.path import PathProblem
from .corpus_counts import CorpusCounts
from .words import Words

__all__ = ["sentence_graph"]

Floats = NDArray[np.float64]

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

    References
    ----------
    Deshpande, Barzilay, Karger (2007), section 2.2.
    """
    count = int(words.sentences[-1]) + 1
    places = np.flatnonzero(words.content)
    stems, column = np.unique(words.stems[places], return_inverse=True)
    texts, _, size = corpus.look_up(stems)
    idf = np.log((size + 2.0) / (texts + 1.0)) if size else np.ones(len(stems))
    table = np.zeros((count, max(1, len(stems))))
    np.add.at(table, (words.sentences[places], column.reshape(-1)), 1.0)
    table[:, : len(stems)] *= idf
    lengths = np.bincount(words.sentences[places], minlength=count)
    whole = table.sum(axis=0)
    norms = np.sqrt((table**2).sum(axis=1))
    unit = table / np.where(norms > 0, norms, 1.0)[:, None]
    similar = unit @ unit.T
    scores = unit @ whole / max(1e-12, float(np.sqrt((whole**2).sum())))
    scores += LEAD / (1.0 + np.arange(count))
    scores -= (lengths < SHORT) * 0.5
    onward = np.sign(np.arange(count)[None, :] - np.arange(count)[:, None])
    edges = scores[None, :] + ordering * onward + coherence * similar
    return PathProblem(scores, edges, np.zeros(count), _components(similar >= redundancy))


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
