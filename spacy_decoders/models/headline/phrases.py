"""The contiguous phrases of a text: what a headline may take over as it stands."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property
from typing import Any

import numpy as np
from numpy.typing import NDArray

from .words import Words

__all__ = ["MOST_WORDS", "Phrases", "Traits"]

#: Words of the longest phrase; hyphens and the like are not counted.
MOST_WORDS = 16

#: The flags of tokens in the order of the kernels.
_FLAGS = (
    "word", "glue", "hyphen", "unit", "meaning", "edge", "opener", "auxiliary", "stop",
)  # fmt: skip

Flags = NDArray[np.bool_]
Integers = NDArray[np.int64]


@dataclass(frozen=True, eq=False)
class Traits:
    """What phrases need to know of a text's tokens. **Shape of all:** ``(tokens,)``"""

    #: Whether it has a letter or a digit, and is no suffix such as ``'s``.
    word: Flags
    #: Whether it joins its neighbours into one word: a hyphen, a slash, ``'s``.
    glue: Flags
    #: Whether it joins both its neighbours, which a phrase does not take apart.
    hyphen: Flags
    #: Whether it counts towards the length of a headline: what has a meaning, and numbers.
    unit: Flags
    #: Whether a phrase with it says something: a content word, or a name such as C++.
    meaning: Flags
    #: Whether a phrase may begin and end with it.
    edge: Flags
    #: Whether it is no content, but titles begin with it.
    opener: Flags
    #: Whether it is a preposition or an article.
    auxiliary: Flags
    #: Whether it is a function word.
    stop: Flags
    #: Its part of speech as spaCy numbers them, 0 if unknown.
    tags: NDArray[np.int64]
    #: The token that it depends on, itself if it is a root or unparsed.
    heads: Integers
    #: Whether there are trees.
    parsed: bool

    @classmethod
    def of_flags(cls, flags: Flags, tags: Integers, heads: Integers, parsed: bool) -> Traits:
        """The traits of a text whose flags are columns, in the order of the kernels."""
        columns: Any = dict(zip(_FLAGS, flags.T, strict=True))
        traits = cls(**columns, tags=tags, heads=heads, parsed=parsed)
        traits.__dict__["flags"] = flags
        return traits

    @cached_property
    def flags(self) -> Flags:
        """The flags as columns, in the order of the kernels. **Shape:** ``(tokens, 9)``"""
        return np.column_stack([getattr(self, name) for name in _FLAGS])


@dataclass(frozen=True, eq=False)
class Phrases:
    """The different phrases of a text, and where they occur, in its order."""

    #: Of each occurrence, the first token and that after the last. **Shape:** ``(m,)``
    starts: Integers
    ends: Integers
    #: Of each occurrence, the phrase by its words and by its stems, numbered by their first
    #: occurrences. **Shape:** ``(m,)``
    phrase: Integers
    stemmed: Integers
    #: Of each phrase, its first occurrence and how often it occurs. **Shape:** ``(n,)``
    first: Integers
    counts: Integers
    #: Whether the phrase has a stem twice among its units. **Shape:** ``(n,)``
    repeats: Flags

    @classmethod
    def of(cls, words: Words, traits: Traits) -> Phrases:
        """Collect the phrases: within a sentence, unbroken by punctuation, with a content word.

        They begin and end with what is no function word; those that titles begin with may
        begin them too.
        """
        from .kernels.phrases import collect_phrases

        return cls(
            *collect_phrases(words.keys, words.stems, words.sentences, traits.flags, MOST_WORDS)
        )

    def __len__(self) -> int:
        return len(self.first)
