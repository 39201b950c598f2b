"""ROUGE, which counts the words and pairs of words that two texts share."""

from __future__ import annotations

from collections import Counter
from itertools import pairwise
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

__all__ = ["Rouge", "rouge", "rouge_of_spans", "words_of"]


class Rouge(NamedTuple):
    """F1 over words, over pairs of neighbours, and over the longest common subsequence."""

    rouge1: float
    rouge2: float
    rougeL: float


def rouge(reference: str, text: str) -> Rouge:
    """Score a text against a reference.

    Words are what is alphanumeric in any script, lower-cased and not stemmed. The numbers are
    those of the package `rouge-score` with such words.

    References
    ----------
    Lin (2004), ROUGE: A Package for Automatic Evaluation of Summaries, sections 2 and 3.

    Examples
    --------
    >>> rouge("the cat sat", "The cat was there")
    Rouge(rouge1=0.5714285714285715, rouge2=0.4, rougeL=0.5714285714285715)
    """
    wanted, given = words_of(reference), words_of(text)
    pairs = _pairs(wanted), _pairs(given)
    return Rouge(
        _f1(_shared(wanted, given), len(wanted), len(given)),
        _f1(_shared(*pairs), len(pairs[0]), len(pairs[1])),
        _f1(_longest_common_subsequence(wanted, given), len(wanted), len(given)),
    )


def rouge_of_spans(
    reference: NDArray[np.uint64],
    keys: NDArray[np.uint64],
    counted: NDArray[np.bool_],
    starts: NDArray[np.int64],
    ends: NDArray[np.int64],
) -> NDArray[np.float64]:
    """Score spans of a text against a reference, both as keys of words.

    Parameters
    ----------
    reference
        The keys of its words. **Shape:** ``(r,)``
    keys, counted
        The keys of the text's tokens, and whether each is a word. **Shape:** ``(tokens,)``
    starts, ends
        The spans. **Shape:** ``(n,)``

    Returns
    -------
    ROUGE-1, ROUGE-2 and ROUGE-L of each span. **Shape:** ``(n, 3)``

    Examples
    --------
    >>> text = np.array([4, 5, 6], dtype=np.uint64)
    >>> spans = np.array([0, 1]), np.array([2, 3])
    >>> rouge_of_spans(text[:2], text, np.ones(3, dtype=bool), *spans).round(2).tolist()
    [[1.0, 1.0, 1.0], [0.5, 0.0, 0.5]]
    """
    wanted: list[Any] = reference.tolist()
    result = np.zeros((len(starts), 3))
    hits = np.concatenate([[0], np.cumsum(np.isin(keys, reference) & counted)])
    for place in np.flatnonzero(hits[ends] > hits[starts]).tolist():
        low, high = int(starts[place]), int(ends[place])
        given: list[Any] = keys[low:high][counted[low:high]].tolist()
        pairs = _pairs(wanted), _pairs(given)
        result[place] = (
            _f1(_shared(wanted, given), len(wanted), len(given)),
            _f1(_shared(*pairs), len(pairs[0]), len(pairs[1])),
            _f1(_longest_common_subsequence(wanted, given), len(wanted), len(given)),
        )
    return result


def words_of(text: str) -> list[str]:
    """The lower-cased words of a text: what is alphanumeric in any script."""
    return "".join(c if c.isalnum() else " " for c in text.lower()).split()


def _pairs(words: list[str]) -> list[tuple[str, str]]:
    return list(pairwise(words))


def _shared(
    one: list[str] | list[tuple[str, str]], other: list[str] | list[tuple[str, str]]
) -> int:
    return (Counter(one) & Counter(other)).total()


def _longest_common_subsequence(one: list[str], other: list[str]) -> int:
    lengths = [0] * (len(other) + 1)
    for word in one:
        before = 0  # the length without this word and without the other's
        for place, another in enumerate(other, start=1):
            above = lengths[place]
            lengths[place] = before + 1 if word == another else max(above, lengths[place - 1])
            before = above
    return lengths[-1]


def _f1(shared: int, wanted: int, given: int) -> float:
    if not shared:
        return 0.0
    precision, recall = shared / given, shared / wanted
    return 2 * precision * recall / (precision + recall)
