"""The graph in which a headline is a path: one vertex per content word."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from ...decoders.path import PathProblem
from .bigrams import BOUNDARY, BigramModel
from .kernels.word_graph import Bigrams, score_pairs
from .words import Vertices, Words

__all__ = ["WordGraph", "useful_words", "word_graph"]

Floats = NDArray[np.float64]


@dataclass(frozen=True, eq=False)
class WordGraph:
    """A selection-and-ordering problem over the words of a text."""

    #: The weighted graph.
    problem: PathProblem
    #: The auxiliary word between two vertices on the best edge between them, as an index, or -1.
    #: **Shape:** ``(n, n)``
    via: NDArray[np.int64]


def word_graph(
    words: Words,
    vertices: Vertices,
    selection: Floats,
    language_model: BigramModel,
    auxiliaries: NDArray[np.uint64],
    *,
    ordering: float = 1.0,
    contiguity: float = 0.0,
    edge_ordering: float | None = None,
) -> WordGraph:
    """Build the decoding graph of a text.

    The score of the edge from v to u is the selection score of u plus that of the best step from
    v: directly or through one auxiliary word, `ordering` times its log-probability, and
    `contiguity` more if the step occurs in the text. Of the parallel edges only the best is kept:
    no best path takes another.

    Parameters
    ----------
    words, vertices
        The text.
    selection
        Score of choosing each vertex. **Shape:** ``(n,)``
    language_model
        Scores the steps.
    auxiliaries
        Keys of the words that may stand between content words.
    ordering, contiguity
        Weights of the language model and of adjacency in the text.
    edge_ordering
        Weight of the language model for the first and the last word; `ordering` by default.

    References
    ----------
    Deshpande, Barzilay, Karger (2007), section 6, Graph Construction.
    """
    n = len(vertices)
    edges = np.empty((n, n))
    via = np.empty((n, n), dtype=np.int64)
    model = language_model
    arrays = Bigrams(model.unigrams, model.backoffs, model.offsets, model.followers, model.bigrams)
    known = model.words(vertices.keys)
    score_pairs(
        known,
        model.words(auxiliaries),
        arrays,
        ordering,
        contiguity,
        vertices.joined(words, auxiliaries),
        edges,
        via,
    )
    edges += selection
    start, end = np.array(selection), np.zeros(n)
    at_ends = ordering if edge_ordering is None else edge_ordering
    if at_ends:
        border = model.words(np.array([BOUNDARY], dtype=np.uint64))
        start += at_ends * _row(model, int(border[0]), known)
        end += at_ends * _column(model, int(border[0]), known)
    return WordGraph(PathProblem(start, edges, end, vertices.classes), via)


def useful_words(selection: Floats, bonus: float, length: int, score: float) -> NDArray[np.int64]:
    """Remove the words that no headline as good as a known one can contain, without a graph.

    Probabilities are at most 1, so a word adds at most its selection score and the bonus
    for contiguity; the other words of the headline add at most what the best ones do.

    Parameters
    ----------
    selection
        Score of choosing each word. **Shape:** ``(n,)``
    bonus
        The largest score that an edge adds to it.
    length
        Words of the headline.
    score
        Score of a known headline.

    Returns
    -------
    The indices of the remaining words, ascending.
    """
    others = np.sort(selection)[::-1][: length - 1].sum() + (length - 1) * bonus
    slack = 1e-9 * max(1.0, abs(score))
    return np.flatnonzero(selection + others >= score - slack)


def _row(model: BigramModel, first: int, words: NDArray[np.int32]) -> Floats:
    """Log-probabilities of each word after the word numbered `first`."""
    low, high = model.offsets[first], model.offsets[first + 1]
    followers = model.followers[low:high]
    place = np.minimum(low + np.searchsorted(followers, words), max(high - 1, low))
    row = (model.backoffs[first] + model.unigrams[words]).astype(np.float64)
    if high > low:
        seen = model.followers[place] == words
        row[seen] = model.bigrams[place[seen]]
    return np.asarray(row)


def _column(model: BigramModel, second: int, words: NDArray[np.int32]) -> Floats:
    """Log-probabilities of the word numbered `second` after each word."""
    column = (model.backoffs[words] + model.unigrams[second]).astype(np.float64)
    for place, word in enumerate(words.tolist()):
        if word == len(model.keys):
            continue
        low, high = model.offsets[word], model.offsets[word + 1]
        at = low + np.searchsorted(model.followers[low:high], second)
        if at < high and model.followers[at] == second:
            column[place] = model.bigrams[at]
    return np.asarray(column)
