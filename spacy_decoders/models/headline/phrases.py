"""The contiguous phrases of texts: what a headline may take over as it stands."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from .words import TextTokens, numbered

__all__ = ["MOST_WORDS", "Phrases"]

#: Words of the longest phrase; hyphens and the like are not counted.
MOST_WORDS = 16

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
        from .kernels.phrases import collect  # compiled where it is first needed

        of = tokens
        flags = of.word, of.hyphen, of.glue, of.stop, of.unit, of.meaning
        stems = of.own(of.stems), of.stem_numbers[0]
        starts, ends, keys = collect(*flags, *stems, of.sentences, MOST_WORDS)
        return cls(starts, ends, *numbered(keys))

    def candidates(self, whole: Booleans) -> Integers:
        """The first of the places, of those that are `whole`, of each phrase that has some.

        **Shape:** ``(candidates,)``
        """
        places = whole.nonzero()[0]
        return places[numbered(self.numbers[places].view(np.uint64))[1]]
