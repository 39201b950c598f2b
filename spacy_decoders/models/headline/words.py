"""A text as arrays, and its content words as the vertices of a graph."""

from __future__ import annotations

from dataclasses import dataclass
from itertools import pairwise

import numpy as np
from numpy.typing import NDArray

__all__ = ["TokenFacts", "Vertices", "Words"]


@dataclass(frozen=True, eq=False)
class Words:
    """The tokens of a text, one entry each. **Shape of all:** ``(tokens,)``"""

    #: The lower-cased word as a 64-bit key, never 0.
    keys: NDArray[np.uint64]
    #: Its stem as a key; that of a word which is not content does not matter.
    stems: NDArray[np.uint64]
    #: Whether it may become a word of the headline.
    content: NDArray[np.bool_]
    #: Whether it is a word at all, rather than punctuation or space, which nothing in a
    #: headline joins across.
    plain: NDArray[np.bool_]
    #: The index of its sentence, ascending from 0.
    sentences: NDArray[np.int64]
    #: Whether it is capitalised other than at the start of a sentence.
    capital: NDArray[np.bool_]
    #: Whether it is in a named entity.
    entity: NDArray[np.bool_]
    #: 0 unknown, 1 noun, 2 proper noun, 3 verb, 4 adjective.
    kinds: NDArray[np.int8]

    def runs(self) -> list[NDArray[np.uint64]]:
        """The runs of words between punctuation and sentence boundaries."""
        if not len(self.keys):
            return []
        cut = ~self.plain
        new = np.flatnonzero(cut[1:] | cut[:-1] | (np.diff(self.sentences) != 0)) + 1
        bounds = [0, *new.tolist(), len(cut)]
        return [self.keys[low:high] for low, high in pairwise(bounds) if not cut[low]]


@dataclass(frozen=True, eq=False)
class TokenFacts:
    """What short sentences and the judge need of the tokens of a text, one entry each."""

    #: The lower-cased words, and their relations to their heads.
    lower: list[str]
    relations: list[str]
    #: Parts of speech, as spaCy numbers them.
    kinds: NDArray[np.uint64]
    #: As parsed, counted from the front of the text; those outside of it are no places in it.
    heads: NDArray[np.int64]
    #: Which are words that are read aloud.
    read: NDArray[np.bool_]
    #: Which are no stop words, no times and nobody who is addressed.
    content: NDArray[np.bool_]
    #: As spaCy says it; an address is one of the web or of mail.
    stop: NDArray[np.bool_]
    punct: NDArray[np.bool_]
    space: NDArray[np.bool_]
    address: NDArray[np.bool_]
    #: Which are addresses, accounts, signs or words without a tag.
    odd: NDArray[np.bool_]
    #: Which are words of talk between "I" and "you".
    talk: NDArray[np.bool_]
    #: Which are what a clause is about, and which of these refer to another sentence.
    subjects: NDArray[np.bool_]
    pronouns: NDArray[np.bool_]
    #: Which are parts that their heads cannot lose: hyphens, degrees, parts of names.
    parts: NDArray[np.bool_]
    #: Which are hyphens and signs of degrees.
    joining: NDArray[np.bool_]
    #: Which look like numbers; and those that are tagged so, too.
    like_number: NDArray[np.bool_]
    numbers: NDArray[np.bool_]
    #: Which ask or begin a relative clause, and which say which of several their noun is.
    asking: NDArray[np.bool_]
    ranks: NDArray[np.bool_]


@dataclass(frozen=True, eq=False)
class Vertices:
    """The different content words of a text, in the order of their first occurrence."""

    #: Of each vertex. **Shape:** ``(n,)``
    keys: NDArray[np.uint64]
    stems: NDArray[np.uint64]
    #: Vertices of one stem have one class, numbered from 0. **Shape:** ``(n,)``
    classes: NDArray[np.int64]
    #: The token where each occurs first. **Shape:** ``(n,)``
    first: NDArray[np.int64]
    #: How often each occurs. **Shape:** ``(n,)``
    counts: NDArray[np.int64]
    #: The vertex of each token, -1 where there is none. **Shape:** ``(tokens,)``
    of_token: NDArray[np.int64]

    @classmethod
    def of(cls, words: Words) -> Vertices:
        """Collect the content words of a text."""
        from .kernels.words import number_keys

        places = np.flatnonzero(words.content)
        numbers, first, counts = number_keys(words.keys[places])
        of_token = np.full(len(words.keys), -1, dtype=np.int64)
        of_token[places] = numbers
        tokens = places[first]
        stems = words.stems[tokens]
        return cls(words.keys[tokens], stems, number_keys(stems)[0], tokens, counts, of_token)

    def __len__(self) -> int:
        return len(self.keys)

    def restrict(self, kept: NDArray[np.int64]) -> Vertices:
        """Keep some of the vertices, given in ascending order."""
        number = np.full(len(self) + 1, -1, dtype=np.int64)  # the last entry serves token -1
        number[kept] = np.arange(len(kept))
        return Vertices(
            self.keys[kept],
            self.stems[kept],
            self.classes[kept],
            self.first[kept],
            self.counts[kept],
            number[self.of_token],
        )

    def joined(self, words: Words, auxiliaries: NDArray[np.uint64]) -> NDArray[np.int64]:
        """Return the ordered pairs that are adjacent in the text.

        Returns rows (vertex, word between, vertex), the word between being an index into
        `auxiliaries` or -1 for none. **Shape:** ``(pairs, 3)``
        """
        of, n, m = self.of_token, len(self), len(auxiliaries)
        cut = np.cumsum(~words.plain) + words.sentences * (len(of) + 1)
        near = np.flatnonzero((of[:-1] >= 0) & (of[1:] >= 0) & (cut[:-1] == cut[1:]))
        # one integer per row, which sorts ten times faster than rows
        codes = of[near] * (m + 1) * n + of[near + 1]
        far = np.flatnonzero((of[:-2] >= 0) & (of[2:] >= 0) & (cut[:-2] == cut[2:]))
        if m and len(far):
            order = np.argsort(auxiliaries)
            between = words.keys[far + 1]
            place = np.minimum(np.searchsorted(auxiliaries[order], between), m - 1)
            known = auxiliaries[order][place] == between
            far, place = far[known], order[place[known]]
            through = (of[far] * (m + 1) + place + 1) * n + of[far + 2]
            codes = np.concatenate([codes, through])
        rows, last = np.divmod(np.unique(codes), max(1, n))
        first, between = np.divmod(rows, m + 1)
        return np.stack([first, between - 1, last], axis=1)
