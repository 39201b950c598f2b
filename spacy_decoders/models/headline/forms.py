"""Which form of the same words a headline takes: "Hash tables", where the text says both."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

__all__ = ["prefer_fuller_phrases", "prefer_longest_forms"]

Floats = NDArray[np.float64]
Integers = NDArray[np.int64]

#: Forms whose scores differ by no more are as good as each other.
CLOSE = 0.5
#: A fuller phrase is preferred if so large a share of a phrase's occurrences are in it, and its
#: score is behind by no more.
SHARE, BEHIND = 0.5, 2.0


def prefer_longest_forms(scores: Floats, kinds: Integers, lengths: Integers) -> Floats:
    """Give the score of the best form of a phrase to the longest that is about as good.

    Phrases with the same stems have nearly the same features. Plurals and gerunds, which titles
    take more often than singulars and verbs, are the longer forms in most languages.

    Parameters
    ----------
    scores
        Of each phrase. **Shape:** ``(n,)``
    kinds
        Phrases with the same stems have the same number, from 0. **Shape:** ``(n,)``
    lengths
        Their characters. **Shape:** ``(n,)``

    Returns
    -------
    The new scores, where the other forms as good are behind. **Shape:** ``(n,)``

    Examples
    --------
    >>> scores, kinds = np.array([1.0, 0.9, 0.0]), np.array([0, 0, 1])
    >>> prefer_longest_forms(scores, kinds, np.array([10, 11, 5])).tolist()
    [0.5, 1.0, 0.0]
    """
    best = np.full(kinds.max(initial=-1) + 1, -np.inf)
    np.maximum.at(best, kinds, scores)
    near = scores >= best[kinds] - CLOSE
    longest = np.zeros(len(best), dtype=np.int64)
    np.maximum.at(longest, kinds[near], lengths[near])
    behind = np.where(lengths == longest[kinds], 0.0, CLOSE)
    return np.where(near, best[kinds] - behind, scores)


def prefer_fuller_phrases(
    scores: Floats, counts: Integers, phrases: Integers, fuller: Integers
) -> Floats:
    """Give the score of a phrase to the fuller one that the text mostly has in its place.

    "Tomb" is vague where the text speaks of the "tomb of a royal scribe", but "stack" is not
    where it speaks of stacks throughout, and once of a "stack of plates".

    Parameters
    ----------
    scores
        Of each phrase. **Shape:** ``(n,)``
    counts
        How often each occurs. **Shape:** ``(n,)``
    phrases, fuller
        Of each occurrence, the phrase and the fullest one with the same head around it, or -1.
        **Shape:** ``(m,)``

    Returns
    -------
    The new scores: phrases that lost to a fuller one are behind it. **Shape:** ``(n,)``

    Examples
    --------
    >>> scores, counts = np.array([1.0, 0.2]), np.array([2, 1])
    >>> phrases, fuller = np.array([0, 1, 0]), np.array([1, 1, 0])
    >>> prefer_fuller_phrases(scores, counts, phrases, fuller).tolist()
    [0.5, 1.0]
    """
    known = (fuller >= 0) & (phrases >= 0) & (fuller != phrases)
    pairs, times = np.unique(
        np.column_stack([phrases[known], fuller[known]]), axis=0, return_counts=True
    )
    one, other = pairs.T
    better = (times >= SHARE * counts[one]) & (scores[other] >= scores[one] - BEHIND)
    one, other = one[better], other[better]
    found = scores.copy()
    np.maximum.at(found, other, scores[one])
    found[one] = np.minimum(scores[one], found[other] - CLOSE)
    return found
