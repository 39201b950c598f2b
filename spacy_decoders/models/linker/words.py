"""Words around a mention that speak for a candidate: no vectors, no training."""

from __future__ import annotations

from collections.abc import Callable, Collection, Sequence
from functools import lru_cache

import numpy as np
from numpy.typing import NDArray

from ...knowledge.title_words import title_words

__all__ = ["shared_words"]

#: BM25's saturation and length normalisation, and the length of a usual description, in words.
_SATURATION, _BY_LENGTH, _USUAL = 1.2, 0.75, 12.0
#: Surprise, in nats, at which a word counts in full.
_FULL = 8.0


@lru_cache(maxsize=2**14)
def _counted(text: str) -> tuple[dict[str, int], int]:
    """How often each word is in a text, and how many there are."""
    words = title_words(text)
    counts: dict[str, int] = {}
    for word in words:
        counts[word] = counts.get(word, 0) + 1
    return counts, len(words)


def shared_words(
    context: Collection[str],
    mention: str,
    texts: Sequence[str],
    surprise: Callable[[Sequence[str]], NDArray[np.float64]],
) -> NDArray[np.float32]:
    """How much the words around a mention have in common with each candidate's text, by BM25.

    Parameters
    ----------
    context
        The words around it, without those that every text has.
    mention
        Its text, whose own words say nothing.
    texts
        Of each candidate, its title and what describes it.
    surprise
        Gives how rare each of some words is, in nats; 8 count in full.

    Returns
    -------
    **Shape:** ``(texts,)``: about 1 for each rare word in common.

    References
    ----------
    Robertson, Zaragoza 2009, *The Probabilistic Relevance Framework: BM25 and Beyond*.

    Examples
    --------
    >>> rare = lambda words: np.full(len(words), 8.0)
    >>> texts = ["Mercury, the planet nearest to the Sun", "Mercury, a metal"]
    >>> shared_words({"sun", "planet"}, "Mercury", texts, rare).round(1)
    array([2.4, 0. ], dtype=float32)
    """
    scores = np.zeros(len(texts), np.float32)
    own = frozenset(title_words(mention))
    around = frozenset(context) - own
    if not around:
        return scores
    hits: list[tuple[int, str, float]] = []
    for place, text in enumerate(texts):
        counts, length = _counted(text)
        scale = _SATURATION * (1.0 - _BY_LENGTH + _BY_LENGTH * length / _USUAL)
        for word in around & counts.keys():
            count = counts[word]
            hits.append((place, word, (_SATURATION + 1.0) * count / (count + scale)))
    if hits:
        rarity = np.clip(surprise([word for _, word, _ in hits]) / _FULL, 0.0, 1.0)
        weights = np.array([weight for _, _, weight in hits]) * rarity
        np.add.at(scores, [place for place, _, _ in hits], weights.astype(np.float32))
    return scores
