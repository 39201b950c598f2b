"""The contiguous phrases of texts, which can be headlines."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from .words import TextTokens, numbered

__all__ = ["MOST_WORDS", "Phrases"]

#: The number of words of the longest phrase, not counting hyphens and the like.
MOST_WORDS = 16

Booleans = NDArray[np.bool_]
Integers = NDArray[np.int64]


@dataclass(frozen=True, eq=False)
class Phrases:
    """The places of phrases in texts, in order; phrases of the same stems are the same phrase.

    **Shape of starts, ends and numbers:** ``(places,)``
    """

    #: The first token, and the one after the last.
    starts: Integers
    ends: Integers
    #: The number of the phrase; phrases are numbered by their first places.
    numbers: Integers
    #: The first place of each phrase, and its number of places. **Shape:** ``(phrases,)``
    first: Integers
    counts: Integers

    @classmethod
    def of(cls, tokens: TextTokens) -> Phrases:
        """Collect the phrases: meaningful, within a sentence, and without punctuation.

        They do not begin or end with a function word, are not cut at a hyphen, and have no stem
        twice.
        """
        from .kernels.phrases import collect  # compiled where it is first needed

        of = tokens
        flags = of.word, of.hyphen, of.glue, of.stop, of.unit, of.meaning
        stems = of.own(of.stems), of.stem_numbers[0]
        starts, ends, keys = collect(*flags, *stems, of.sentences, MOST_WORDS)
        return cls(starts, ends, *numbered(keys))

    def candidates(self, whole: Booleans) -> Integers:
        """The first place that is `whole` of each phrase that has such a place.

        **Shape:** ``(candidates,)``
        """
        places = whole.nonzero()[0]
        return places[numbered(self.numbers[places].view(np.uint64))[1]]
