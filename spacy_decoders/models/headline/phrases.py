"""The contiguous phrases of texts: what a headline may take over as it stands."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from .words import TextTokens, numbered

__all__ = ["MOST_WORDS", "Phrases", "inside"]

#: Words of the longest phrase; hyphens and the like are not counted.
MOST_WORDS = 16

_FACTOR = np.uint64(0x9E3779B97F4A7C15)

Booleans = NDArray[np.bool_]
Integers = NDArray[np.int64]


@dataclass(frozen=True, eq=False)
class Phrases:
    """The places where texts have phrases, in order; phrases of the same stems are one.

    **Shape of starts, ends and numbers:** ``(places,)``
    """

    #: The first token, and that after the last.
    starts: Integers
    ends: Integers
    #: Which phrase it is, numbered by their first places.
    numbers: Integers
    #: Of each phrase its first place, and how often its text has it. **Shape:** ``(phrases,)``
    first: Integers
    counts: Integers

    @classmethod
    def of(cls, tokens: TextTokens) -> Phrases:
        """Collect the phrases: within a sentence, unbroken by punctuation, with a meaning.

        They begin and end with what is no function word, don't take apart what a hyphen joins, and
        have no stem twice.
        """
        words = np.flatnonzero(tokens.word)
        limits = _limits(tokens)
        meanings = np.append(0, np.cumsum(tokens.meaning))
        joins = np.concatenate([[False], tokens.hyphen, [False]])  # at i + 1 for token i
        edge = ~tokens.stop[words]
        # of each word as the first one, all that may be the last one
        rank = np.arange(len(words))[:, None] + np.arange(MOST_WORDS)
        last = words[np.minimum(rank, len(words) - 1)] if len(words) else rank
        good = (rank < len(words)) & (last < limits[words][:, None]) & ~joins[last + 2]
        good &= (edge & ~joins[words])[:, None] & ~tokens.stop[last]
        good &= meanings[last + 1] > meanings[words][:, None]
        ends = last[good] + 1
        starts = np.repeat(words, good.sum(axis=1))
        numbers, first, counts = numbered(_keys(tokens, starts, ends))
        return cls(starts, ends, numbers, first, counts)

    def candidates(self, whole: Booleans) -> Integers:
        """The first of the places, of those that are `whole`, of each phrase that has some.

        **Shape:** ``(candidates,)``
        """
        places = np.flatnonzero(whole)
        return places[numbered(self.numbers[places].view(np.uint64))[1]]


def inside(starts: Integers, ends: Integers) -> tuple[Integers, Integers]:
    """The tokens of spans end to end, and where each span begins among these.

    Examples
    --------
    >>> places, rows = inside(np.array([4, 0]), np.array([6, 3]))
    >>> places.tolist(), rows.tolist()
    ([4, 5, 0, 1, 2], [0, 2])
    """
    lengths = ends - starts
    rows = np.cumsum(lengths) - lengths
    return np.arange(lengths.sum()) + np.repeat(starts - rows, lengths), rows


def _limits(tokens: TextTokens) -> Integers:
    """How far a phrase that begins with each token may reach."""
    n = len(tokens.text)
    own = np.arange(n)
    limits = np.where(tokens.word | tokens.glue, n, own)
    final = np.flatnonzero(np.diff(tokens.sentences))
    limits[final] = np.minimum(limits[final], final + 1)
    # to where a stem comes again
    units = np.flatnonzero(tokens.unit)
    stems = tokens.own(tokens.stems)[units]
    order = np.argsort(stems, kind="stable")
    again = stems[order[1:]] == stems[order[:-1]]
    one, other = units[order[:-1][again]], units[order[1:][again]]
    limits[one] = np.minimum(limits[one], other)
    return np.minimum.accumulate(limits[::-1])[::-1]


def _keys(tokens: TextTokens, starts: Integers, ends: Integers) -> NDArray[np.uint64]:
    """One key for the stems of each run of tokens, which no two texts have in common."""
    n = len(tokens.text)
    powers = np.cumprod(np.full(n + 1, _FACTOR))  # numbers of 64 bits, whatever is above
    sums = np.append(np.uint64(0), np.cumsum(tokens.stems * powers[:-1]))
    text = tokens.own(np.zeros(n, dtype=np.uint64))[starts]
    return np.asarray((sums[ends] - sums[starts]) * powers[n - starts] ^ text)
