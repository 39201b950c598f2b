"""Words around a mention that speak for a candidate: no vectors, no training."""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterable, Sequence
from functools import lru_cache

import numpy as np
from numpy.typing import NDArray

from ...knowledge.texts import title_words

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
    contexts: Iterable[Collection[str]],
    texts: Sequence[Sequence[str]],
    surprise: Callable[[Sequence[str]], NDArray[np.float64]],
) -> NDArray[np.float32]:
    """How much the words around mentions have in common with each candidate's text, by BM25.

    Parameters
    ----------
    contexts
        The words around each mention, without those that every text has and its own.
    texts
        Of each mention those of its candidates: titles, or what describes them.
    surprise
        Gives how rare each of some words is, in nats; 8 count in full.

    Returns
    -------
    **Shape:** ``(candidates,)``: about 1 for each rare word in common.

    References
    ----------
    Robertson, Zaragoza 2009, *The Probabilistic Relevance Framework: BM25 and Beyond*.

    Examples
    --------
    >>> rare = lambda words: np.full(len(words), 8.0)
    >>> texts = ["Mercury, the planet nearest to the Sun", "Mercury, a metal"]
    >>> shared_words([{"sun", "planet"}], [texts], rare).round(1)
    array([2.4, 0. ], dtype=float32)
    """
    pairs = [(around, text) for around, own in zip(contexts, texts, strict=True) for text in own]
    rows: list[int] = []
    words: list[str] = []
    weights: list[float] = []
    for row, (around, text) in enumerate(pairs):
        counts, length = _counted(text)
        scale = _SATURATION * (1.0 - _BY_LENGTH + _BY_LENGTH * length / _USUAL)
        for word in counts.keys() & around:
            rows.append(row)
            words.append(word)
            weights.append((_SATURATION + 1.0) * counts[word] / (counts[word] + scale))
    if not rows:
        return np.zeros(len(pairs), np.float32)
    rarity = np.clip(surprise(words) / _FULL, 0.0, 1.0)
    scores = np.bincount(np.array(rows, np.int64), np.array(weights) * rarity, len(pairs))
    return scores.astype(np.float32)
