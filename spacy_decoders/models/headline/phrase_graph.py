"""The graph in which a headline of phrases is a path: a chain of vertices for each phrase."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from ...decoders.path import PathProblem
from .phrases import Phrases, Traits
from .title_counts import TitleCounts, pair_keys
from .words import Words

__all__ = ["Joins", "PhraseGraph", "phrase_graph", "useful_phrases"]

Floats = NDArray[np.float64]
Integers = NDArray[np.int64]
Flags = NDArray[np.bool_]
Keys = NDArray[np.uint64]


@dataclass(frozen=True, eq=False)
class Joins:
    """What may join two phrases, and its score.

    Attributes
    ----------
    auxiliaries
        Keys of the words that may stand between phrases.
    bias
        Score of joining two phrases at all.
    contiguity
        Added where the text itself has the step; else a title has.
    """

    auxiliaries: NDArray[np.uint64]
    bias: float
    contiguity: float

    @property
    def best(self) -> float:
        """The most that a join can add."""
        return self.bias + max(0.0, self.contiguity)


@dataclass(frozen=True, eq=False)
class PhraseGraph:
    """A path problem whose vertices are the content words of phrases.

    Attributes
    ----------
    problem
        The weighted graph. A phrase with k content words is a chain of k vertices, which a path
        enters at its first and leaves at its last; all its score is at the entrance.
    phrase
        The phrase of each vertex. **Shape:** ``(n,)``
    token
        Its token, in the first occurrence of the phrase. **Shape:** ``(n,)``
    via
        The auxiliary word on the edge between the last vertex of a phrase and the first of
        another, as an index, or -1. **Shape:** ``(n, n)``
    """

    problem: PathProblem
    phrase: Integers
    token: Integers
    via: Integers


def useful_phrases(
    scores: Floats,
    fitting: NDArray[np.bool_],
    kinds: Integers,
    wanted: int,
    join: float,
    joined: int,
) -> NDArray[np.bool_]:
    """Say which phrases can be part of one of the best headlines.

    A headline scores what one of its phrases does, and what each other adds with the join to it:
    so at most as much more as the `joined` phrases that add most. A phrase that misses, even so,
    the last of the wanted number of phrases that are headlines by themselves is in no such one.

    Parameters
    ----------
    scores
        Of each phrase. **Shape:** ``(n,)``
    fitting
        Whether each is a headline by itself, as long as wanted. **Shape:** ``(n,)``
    kinds
        Phrases of one kind count as one headline. **Shape:** ``(n,)``
    wanted
        The number of headlines.
    join
        The most that a join adds.
    joined
        The most joins of a headline.
    """
    whole = np.argsort(-np.where(fitting, scores, -np.inf), kind="stable")[: fitting.sum()]
    best = np.unique(kinds[whole], return_index=True)[1] if wanted > 1 else np.arange(len(whole))
    if len(best) < wanted:
        return np.ones(len(scores), dtype=bool)
    gains = np.sort(np.maximum(scores + join, 0.0))[::-1][:joined]
    least = float(scores[whole[np.sort(best)[wanted - 1]]] - gains.sum())
    return np.asarray(scores >= least - 1e-9 * max(1.0, abs(least)))


def phrase_graph(
    words: Words,
    traits: Traits,
    phrases: Phrases,
    kept: Integers,
    scores: Floats,
    titles: TitleCounts,
    joins: Joins,
) -> PhraseGraph:
    """Build the decoding graph of a text's phrases.

    Two phrases are joined, directly or through an auxiliary word, where the text or a title seen
    in training has each step between neighbouring words.

    Parameters
    ----------
    words, traits, phrases
        The text.
    kept
        The phrases in the graph. **Shape:** ``(p,)``
    scores
        Their scores. **Shape:** ``(p,)``
    titles
        Counts of titles.
    joins
        The scores of joining.
    """
    from .kernels.words import number_keys

    start, end = phrases.starts[phrases.first[kept]], phrases.ends[phrases.first[kept]]
    phrase, token = _vertices(traits, start, end)
    n = len(phrase)
    first = np.searchsorted(phrase, np.arange(len(kept)))
    last = np.append(first[1:], n) - 1
    weights = np.full((n, n), -np.inf)
    inside = np.flatnonzero(phrase[:-1] == phrase[1:])
    weights[inside, inside + 1] = 0.0
    via = np.full((n, n), -1, dtype=np.int64)
    if len(kept) > 1:  # a phrase is not joined to itself
        steps, via_phrases = _join(words, traits, start, end, titles, joins)
        weights[np.ix_(last, first)] = steps + scores[None, :]
        via[np.ix_(last, first)] = via_phrases
    begin = np.full(n, -np.inf)
    begin[first] = scores
    finish = np.full(n, -np.inf)
    finish[last] = 0.0
    problem = PathProblem.of_valid(begin, weights, finish, number_keys(words.stems[token])[0])
    return PhraseGraph(problem, kept[phrase], token, via)


def _vertices(traits: Traits, start: Integers, end: Integers) -> tuple[Integers, Integers]:
    """The phrase and the token of each vertex: of content words and numbers, in order."""
    sizes = end - start
    phrase = np.repeat(np.arange(len(start)), sizes)
    offset = np.arange(len(phrase)) - np.repeat(np.cumsum(sizes) - sizes, sizes)
    token = start[phrase] + offset
    unit = traits.unit[token]
    return phrase[unit], token[unit]


def _join(
    words: Words,
    traits: Traits,
    start: Integers,
    end: Integers,
    titles: TitleCounts,
    joins: Joins,
) -> tuple[Floats, Integers]:
    """The best step from each phrase to each, -inf for none, and the auxiliary that it takes."""
    stems = words.stems
    left, from_last = np.unique(stems[end - 1], return_inverse=True)
    right, to_first = np.unique(stems[start], return_inverse=True)
    near = np.flatnonzero(traits.word[:-1] & traits.word[1:] & (np.diff(words.sentences) == 0))
    in_text = np.unique(pair_keys(stems[near], stems[near + 1]))
    middle = joins.auxiliaries

    def attested(one: Keys, other: Keys) -> tuple[Flags, Flags]:
        first, second = np.repeat(one, len(other)), np.tile(other, len(one))
        by_text = np.isin(pair_keys(first, second), in_text)
        by_title = titles.of_pairs(first, second) > 0
        shape = (len(one), len(other))
        return (by_text | by_title).reshape(shape), by_text.reshape(shape)

    known, by_text = attested(left, right)
    best = np.where(known, joins.bias + joins.contiguity * by_text, -np.inf)
    via = np.full(best.shape, -1, dtype=np.int64)
    if len(middle):
        before, before_text = attested(left, middle)
        after, after_text = attested(middle, right)
        for place in range(len(middle)):
            known = before[:, place, None] & after[None, place]
            if known.any():
                by_text = before_text[:, place, None] & after_text[None, place]
                step = np.where(known, joins.bias + joins.contiguity * by_text, -np.inf)
                better = step > best
                best[better] = step[better]
                via[better] = place
    rows, columns = from_last.reshape(-1), to_first.reshape(-1)
    return best[np.ix_(rows, columns)], via[np.ix_(rows, columns)]
