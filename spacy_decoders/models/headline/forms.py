"""Which form of the same words a headline takes: "Hash tables", where the text says both."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

__all__ = ["prefer_longest_forms"]

Floats = NDArray[np.float64]
Integers = NDArray[np.int64]

#: Forms whose scores differ by no more are as good as each other.
CLOSE = 0.5


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
