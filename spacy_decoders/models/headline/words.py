"""Texts as arrays, and their content words as the vertices of a graph."""

from __future__ import annotations

from dataclasses import dataclass, fields
from functools import cached_property
from itertools import pairwise
from typing import Any

import numpy as np
from numpy.typing import NDArray

from ...arrays import Booleans, Integers

__all__ = ["TextTokens", "Vertices", "numbered"]

Keys = NDArray[np.uint64]

#: The factor of the number of a text, with which the keys of its words are combined.
_MIXER = np.uint64(0x9E3779B97F4A7C15)


@dataclass(frozen=True, eq=False)
class TextTokens:
    """The tokens of several texts, concatenated, since numpy calls on each text cost more.

    **Shape of all:** ``(tokens,)``
    """

    #: The number of its text, ascending from 0.
    text: Integers
    #: The number of its sentence, ascending from 0 over all texts.
    sentences: Integers
    #: The lower-cased word as a 64-bit key, never 0.
    keys: Keys
    #: Its stem as a key; function words are their own stems.
    stems: Keys
    #: spaCy's number of its part of speech, 0 if unknown.
    tags: Integers
    #: Whether it is a word, rather than punctuation or space, which separate runs of words.
    plain: Booleans
    #: Whether it has a letter or a digit, and is no suffix such as ``'s``.
    word: Booleans
    #: Whether it joins its neighbours into one word: a hyphen, a slash, ``'s``.
    glue: Booleans
    #: Whether it joins both its neighbours, so that no phrase is cut there.
    hyphen: Booleans
    #: Whether it may become a single word of a headline.
    content: Booleans
    #: Whether it has a meaning of its own: content, and names such as C++.
    meaning: Booleans
    #: Whether it counts towards the length of a phrase: meaningful words and numbers.
    unit: Booleans
    #: Whether it is a function word.
    stop: Booleans
    #: Whether it is capitalised other than at the start of a sentence.
    capital: Booleans
    #: Whether it is in a named entity.
    entity: Booleans

    def __len__(self) -> int:
        return len(self.keys)

    def part(self, begin: int, end: int) -> TextTokens:
        """Return one of the texts, or a part of it."""
        own: dict[str, Any] = {of.name: getattr(self, of.name)[begin:end] for of in fields(self)}
        for name in ("text", "sentences"):
            own[name] = own[name] - own[name][:1]
        return TextTokens(**own)

    @cached_property
    def begins(self) -> Integers:
        """Where each text begins; arbitrary for texts without tokens. **Shape:** ``(texts,)``"""
        sizes = np.bincount(self.text)
        return np.minimum(sizes.cumsum() - sizes, max(0, len(self.text) - 1))

    @cached_property
    def sizes(self) -> tuple[Integers, Integers]:
        """The numbers of tokens and of sentences of each text. **Shape of both:** ``(texts,)``"""
        sizes = np.bincount(self.text)
        last = self.sentences[self.begins + sizes - 1]
        return sizes, last - self.sentences[self.begins] + 1

    def own(self, keys: Keys) -> Keys:
        """Combine keys with the number of their text, so that no two texts share one."""
        return keys ^ self.text.astype(np.uint64) * _MIXER

    @cached_property
    def stem_numbers(self) -> tuple[Integers, Integers, Integers]:
        """The result of :func:`numbered` for the stems, by text."""
        return numbered(self.own(self.stems))

    @property
    def run(self) -> Integers:
        """The number of each token's run of words, or of the gap between two runs."""
        new = self.plain[1:] != self.plain[:-1]
        return np.cumsum(np.append(False, new | (np.diff(self.sentences) != 0))[: len(self)])

    def runs(self) -> list[Keys]:
        """The runs of words between punctuation and sentence boundaries."""
        bounds = np.flatnonzero(np.diff(self.run, prepend=-1, append=-1)).tolist()
        return [self.keys[low:high] for low, high in pairwise(bounds) if self.plain[low]]

    def near(self, keys: Keys) -> Booleans:
        """Whether each token is in a run of words that contains one of the keys."""
        run = self.run
        return np.isin(run, run[np.isin(self.keys, keys)])


def numbered(keys: Keys) -> tuple[Integers, Integers, Integers]:
    """Number distinct keys in the order of their first occurrence.

    Returns the number of each key, **shape** ``(n,)``, and the first place and the count of each
    number, **shape of both** ``(k,)``.

    Examples
    --------
    >>> numbers, first, counts = numbered(np.array([9, 5, 9], dtype=np.uint64))
    >>> numbers.tolist(), first.tolist(), counts.tolist()
    ([0, 1, 0], [0, 1], [2, 1])
    """
    from ..inference.kernels.word_rows import numbered  # compiled where it is first needed

    return numbered(keys)


@dataclass(frozen=True, eq=False)
class Vertices:
    """The distinct content words of each text, in the order of their first occurrence."""

    #: Of each vertex. **Shape:** ``(n,)``
    keys: Keys
    stems: Keys
    #: The class of each, which vertices of the same stem share, from 0. **Shape:** ``(n,)``
    classes: Integers
    #: The first token of each. **Shape:** ``(n,)``
    first: Integers
    #: The vertex of each token, -1 where there is none. **Shape:** ``(tokens,)``
    of_token: Integers

    @classmethod
    def of(cls, tokens: TextTokens) -> Vertices:
        """Collect the content words."""
        places = tokens.content.nonzero()[0]
        numbers, first, _ = numbered(tokens.own(tokens.keys)[places])
        of_token = np.full(len(tokens.text), -1, dtype=np.int64)
        of_token[places] = numbers
        first = places[first]
        classes, _, _ = numbered(tokens.own(tokens.stems)[first])
        return cls(tokens.keys[first], tokens.stems[first], classes, first, of_token)

    def __len__(self) -> int:
        return len(self.keys)

    def restrict(self, kept: Integers) -> Vertices:
        """Keep some of the vertices, given in ascending order."""
        number = np.full(len(self) + 1, -1, dtype=np.int64)  # the last entry is for -1
        number[kept] = np.arange(len(kept))
        columns: Any = (self.keys, self.stems, self.classes, self.first)
        return Vertices(*(column[kept] for column in columns), *[number[self.of_token]])

    def joined(self, tokens: TextTokens, auxiliaries: Keys) -> Integers:
        """Return the ordered pairs of vertices that are adjacent in the text.

        Rows are (vertex, word between, vertex), where the word is an index into `auxiliaries`, or
        -1 for none. **Shape:** ``(pairs, 3)``
        """
        cut = np.cumsum(~tokens.plain) + tokens.sentences * (len(tokens) + 1)
        index = {key: place for place, key in enumerate(auxiliaries.tolist())}
        between = np.array([index.get(key, -1) for key in tokens.keys.tolist()], dtype=np.int64)
        rows = []
        for step in (1, 2):
            first, last, same = self.of_token[:-step], self.of_token[step:], cut[step:]
            near = np.flatnonzero((first >= 0) & (last >= 0) & (cut[:-step] == same))
            word = between[near + 1] if step == 2 else np.full(len(near), -1)
            rows.append(
                np.stack([first[near], word, last[near]], axis=1)[(step == 1) | (word >= 0)]
            )
        return np.unique(np.concatenate(rows), axis=0)
