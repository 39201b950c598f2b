"""Texts and their phrases laid end to end, so that a few numpy calls read many texts."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, fields
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from .phrases import Phrases, Traits
from .words import Vertices, Words

__all__ = ["LaidOut", "ReadText"]

Integers = NDArray[np.int64]

#: Keys of stems are combined with this times the number of their text.
_MIXER = np.uint64(0x9E3779B97F4A7C15)


class ReadText(NamedTuple):
    """A text and its phrases."""

    words: Words
    traits: Traits
    vertices: Vertices
    phrases: Phrases
    #: Which phrases' features are wanted. **Shape:** ``(n,)``
    chosen: Integers
    #: Log-odds of each vertex being in the title. **Shape:** ``(vertices,)``
    odds: NDArray[np.float64]
    #: The stems of its own title, if the counts of titles include it: it is left out then.
    own: NDArray[np.uint64] | None = None


@dataclass(frozen=True, eq=False)
class LaidOut:
    """Columns of all tokens, and all occurrences of phrases."""

    #: Where each text begins, and its tokens. **Shapes:** ``(texts,)``
    begins: Integers
    sizes: Integers
    #: The text of each token, and whether it has trees. **Shape:** ``(tokens,)``
    text: Integers
    parsed: NDArray[np.bool_]
    #: Of all tokens.
    words: Words
    traits: Traits
    #: Of each token the number of its stem, of each such number its first token and how often it
    #: occurs; texts share no stems here. **Shapes:** ``(tokens,)``, ``(stems,)`` twice
    stems: Integers
    first: Integers
    counts: Integers
    #: Of each occurrence of a phrase its first token and that behind it, in the texts' order, its
    #: phrase, and its phrase by stems. **Shapes:** ``(occurrences,)``
    starts: Integers
    ends: Integers
    phrase: Integers
    stemmed: Integers
    #: Of each phrase its text, its first occurrence, and how often it occurs. **Shapes:**
    #: ``(phrases,)``
    text_of_phrase: Integers
    first_of_phrase: Integers
    times: Integers
    #: The phrases whose features are wanted. **Shape:** ``(n,)``
    chosen: Integers

    @classmethod
    def of(cls, texts: Sequence[ReadText]) -> LaidOut:
        """Lay out texts, one at least."""
        from .kernels.words import number_keys

        sizes = np.array([len(text.words.keys) for text in texts])
        begins = np.cumsum(sizes) - sizes
        number = np.repeat(np.arange(len(texts)), sizes)
        words = Words(
            *(
                np.concatenate([getattr(text.words, field.name) for text in texts])
                for field in fields(Words)
            )
        )
        found = [text.phrases.occurrences for text in texts]
        phrases = np.array([len(one.first) for one in found])
        kinds = np.array([one.stemmed.max(initial=-1) + 1 for one in found])
        occurrences = np.array([len(one.starts) for one in found])
        of_phrases, of_kinds, of_occurrences = (
            np.cumsum(count) - count for count in (phrases, kinds, occurrences)
        )

        def joined(parts: Sequence[Integers], offsets: Integers) -> Integers:
            moved = [part + by for part, by in zip(parts, offsets.tolist(), strict=True)]
            return np.concatenate(moved)

        keys = words.stems ^ ((number + 1).astype(np.uint64) * _MIXER)
        stems, first, counts = number_keys(keys)
        given = [text.traits for text in texts]
        traits = Traits.of_flags(
            np.concatenate([of.flags for of in given]),
            np.concatenate([of.tags for of in given]),
            joined([of.heads for of in given], begins),
            any(of.parsed for of in given),
        )
        return cls(
            begins,
            sizes,
            number,
            np.repeat([of.parsed for of in given], sizes),
            words,
            traits,
            stems,
            first,
            counts,
            joined([one.starts for one in found], begins),
            joined([one.ends for one in found], begins),
            joined([one.phrase for one in found], of_phrases),
            joined([one.stemmed for one in found], of_kinds),
            np.repeat(np.arange(len(texts)), phrases),
            joined([one.first for one in found], of_occurrences),
            np.concatenate([one.counts for one in found]),
            joined([text.chosen for text in texts], of_phrases),
        )
