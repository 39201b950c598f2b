"""The graph in which a headline is a path: one vertex per content word."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from ...decoders.path import PathProblem
from .bigrams import BOUNDARY, BigramModel
from .words import TextTokens, Vertices

__all__ = ["WordGraph", "word_graph"]

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
    tokens: TextTokens,
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
    tokens, vertices
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
    log = language_model.log_probabilities
    own, border = vertices.keys, np.array([BOUNDARY], dtype=np.uint64)
    direct, before, after = log(own, own), log(own, auxiliaries), log(auxiliaries, own)
    edges, via = ordering * direct, np.full(direct.shape, -1)
    for number in range(len(auxiliaries)):
        _improve(edges, via, ordering * (before[:, number, None] + after[number]), number)
    first, between, second = vertices.joined(tokens, auxiliaries).T
    seen = np.full(direct.shape, -np.inf)
    for number in range(-1, len(auxiliaries)):
        of = between == number
        v, u = first[of], second[of]
        step = direct[v, u] if number < 0 else before[v, number] + after[number, u]
        seen[v, u] = ordering * step + contiguity
        _improve(edges, via, seen, number)
        seen[v, u] = -np.inf
    edges += selection
    start, end = np.array(selection), np.zeros(len(vertices))
    at_ends = ordering if edge_ordering is None else edge_ordering
    if at_ends:
        start += at_ends * log(border, own)[0]
        end += at_ends * log(own, border)[:, 0]
    return WordGraph(PathProblem(start, edges, end, vertices.classes), via)


def _improve(best: Floats, via: NDArray[np.int64], steps: Floats, number: int) -> None:
    """Put the steps through one auxiliary word where they are better than those so far."""
    better = steps > best
    best[better] = steps[better]
    via[better] = number
