"""Sentence boundaries."""

from dataclasses import dataclass
from itertools import pairwise

import numpy as np
from numpy.typing import NDArray

from ...arrays import Booleans, Floats32, Integers

__all__ = ["MOST_WORDS", "BoundaryLimits", "known_odds"]

#: The most words whose sentence boundaries are decided together with trees, if they can be cut.
MOST_WORDS = 150


def known_odds(log_odds: Floats32, preset: NDArray[np.integer], blank: Booleans) -> Floats32:
    """Return the log-odds of sentence starts, set to ``inf`` or ``-inf`` where they are known.

    All arrays have shape (tokens,). `preset` has the known boundaries: 1 for a start, -1 for none,
    0 for unknown; `blank` marks white space, which begins no sentence unless preset; before the
    first word it belongs to the first sentence.

    Examples
    --------
    >>> known_odds(np.ones(4, "f"), np.array([0, 0, -1, 1]), np.zeros(4, bool))
    array([ inf,   1., -inf,  inf], dtype=float32)
    """
    odds = np.where(blank, np.float32(-np.inf), log_odds)
    if len(odds):
        odds[np.argmin(blank)] = -np.inf
    odds[preset != 0] = np.where(preset[preset != 0] > 0, np.inf, -np.inf)
    odds[:1] = np.inf
    return odds


@dataclass(frozen=True)
class BoundaryLimits:
    """The limits on which sentence boundaries are decided together with trees."""

    #: Absolute log-odds beyond which the boundary layer alone decides; 0 for always.
    certain: float = 4.0
    #: The factor of log-odds as scores of boundaries that are decided together with trees.
    weight: float = 1.0
    #: The most words that are decided together: longer blocks are cut at the likeliest boundary.
    longest: int = MOST_WORDS
    #: Added to the log-odds of the boundary layer, which overfits: on new texts it misses more
    #: boundaries than it invents.
    offset: float = 0.0

    def cut(self, odds: Floats32) -> Integers:
        """Return where the blocks of a document begin, and the number of tokens last.

        The `odds` are as :func:`known_odds` returns them.

        Examples
        --------
        >>> odds = np.array([np.inf, -1, 9, 2, -np.inf, -9], "f")
        >>> BoundaryLimits(certain=4).cut(odds), BoundaryLimits(certain=0).cut(odds)
        (array([0, 2, 6]), array([0, 2, 3, 6]))
        """
        ends = [*np.flatnonzero(odds > self.certain).tolist(), len(odds)]
        open_blocks, found = [*pairwise(ends)][::-1], []
        while open_blocks:
            start, end = open_blocks.pop()
            inner = odds[start + 1 : end]
            if end - start > self.longest and inner.max() > -np.inf:
                middle = start + 1 + int(inner.argmax())
                open_blocks += [(middle, end), (start, middle)]
            else:
                found.append(start)
        return np.array([*found, len(odds)], dtype=np.int64)

    def within(self, odds: Floats32) -> Floats32 | None:
        """Return the scores of the boundaries inside a block; None if there is none to decide."""
        open_to_trees = ~(odds <= -self.certain)  # NaN too, which decoders refuse
        if len(odds) < 2 or not open_to_trees[1:].any():
            return None
        scores = np.where(open_to_trees, odds, np.float32(-np.inf)) * np.float32(self.weight)
        scores[0] = 0.0
        return scores
