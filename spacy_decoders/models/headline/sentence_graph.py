"""The graph in which a summary is a path: one vertex a sentence."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from ...decoders.path import PathProblem
from .corpus_counts import CorpusCounts
from .words import Words

__all__ = ["sentence_graph"]

Floats = NDArray[np.float64]

#: Worth of standing first in the text; it falls off with the sentence's index.
LEAD = 0.3
#: Sentences with fewer content words than this say little alone.
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

    A sentence is worth its similarity (cosine of TF*IDF over stems) to the whole text and a
    little for an early place. An edge adds `coherence` times the similarity of its ends,
    and `ordering` if it goes on in the text, or takes it off if it goes back. Sentences
    that say the same form a class.

    Parameters
    ----------
    words
        The text.
    corpus
        Document frequencies of stems, or the empty counts.
    ordering, coherence
        Weights of the text's order and of similar neighbours.
    redundancy
        Similarity from which on two sentences are of one class (and what each is similar
        to, too).

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
    worth = unit @ whole / max(1e-12, float(np.sqrt((whole**2).sum())))
    worth += LEAD / (1.0 + np.arange(count))
    worth -= (lengths < SHORT) * 0.5
    onward = np.sign(np.arange(count)[None, :] - np.arange(count)[:, None])
    edges = worth[None, :] + ordering * onward + coherence * similar
    return PathProblem(worth, edges, np.zeros(count), _components(similar >= redundancy))


def _components(alike: NDArray[np.bool_]) -> NDArray[np.int64]:
    """Number the connected components of a symmetric relation."""
    classes = np.arange(len(alike))
    while True:
        # every sentence takes the least class among those it is alike to, until none changes
        least = np.where(alike, classes[None, :], len(alike)).min(axis=1, initial=len(alike))
        least = np.minimum(least, classes)
        if np.array_equal(least, classes):
            return classes
        classes = least
