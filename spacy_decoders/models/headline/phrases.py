"""The contiguous phrases of a text: what a headline may take over as it stands."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from .words import Words

__all__ = ["LONGEST", "MOST_WORDS", "Phrases", "Traits", "phrase_keys"]

#: Words of the longest phrase, where titles are not longer, and where they are.
MOST_WORDS = 8
LONGEST = 16
#: Phrases of a very long text; the rarer ones are left out.
MOST_PHRASES = 20_000

_FACTOR = np.uint64(0x9E3779B97F4A7C15)

Flags = NDArray[np.bool_]
Integers = NDArray[np.int64]


@dataclass(frozen=True, eq=False)
class Traits:
    """What phrases need to know of a text's tokens. **Shape of all:** ``(tokens,)``

    Attributes
    ----------
    word
        Whether it has a letter or a digit, and is no suffix such as ``'s``.
    glue
        Whether it joins its neighbours into one word: a hyphen, a slash, ``'s``.
    hyphen
        Whether it joins both its neighbours, which a phrase does not take apart.
    unit
        Whether it counts towards the length of a headline: what has a meaning, and numbers.
    meaning
        Whether a phrase with it says something: a content word, or a name such as C++.
    edge
        Whether a phrase may begin and end with it.
    opener
        Whether it is no content, but titles begin with it.
    auxiliary
        Whether it is a preposition or an article.
    stop
        Whether it is a function word.
    tags
        Its part of speech as spaCy numbers them, 0 if unknown.
    heads
        The token that it depends on, itself if it is a root or unparsed.
    parsed
        Whether there are trees.
    """

    word: Flags
    glue: Flags
    hyphen: Flags
    unit: Flags
    meaning: Flags
    edge: Flags
    opener: Flags
    auxiliary: Flags
    stop: Flags
    tags: NDArray[np.int64]
    heads: Integers
    parsed: bool


@dataclass(frozen=True, eq=False)
class Phrases:
    """The different phrases of a text, and where they occur.

    Attributes
    ----------
    starts, ends
        Of each occurrence, the first token and that after the last. **Shape:** ``(m,)``
    phrase
        Of each occurrence, the phrase, by its lower-cased words. **Shape:** ``(m,)``
    stemmed
        Of each occurrence, the phrase by its stems. **Shape:** ``(m,)``
    first
        The first occurrence of each phrase. **Shape:** ``(n,)``
    counts
        How often each occurs. **Shape:** ``(n,)``
    pruned
        Whether some were left out.
    """

    starts: Integers
    ends: Integers
    phrase: Integers
    stemmed: Integers
    first: Integers
    counts: Integers
    pruned: bool = False

    @classmethod
    def of(cls, words: Words, traits: Traits, most: int = MOST_WORDS) -> Phrases:
        """Collect the phrases: within a sentence, unbroken by punctuation, with a content word.

        They begin and end with what is no function word; those that titles begin with may
        begin them too.

        Parameters
        ----------
        words, traits
            The text.
        most
            The most words of a phrase; hyphens and the like are not counted.
        """
        n = len(words.keys)
        limit = _run_ends(words, traits)
        lengths = np.concatenate([[0], np.cumsum(traits.word)])
        contents = np.concatenate([[0], np.cumsum(traits.meaning)])
        inside = np.concatenate([[False], traits.hyphen, [False]])  # at i + 1 for token i
        open_at = np.flatnonzero((traits.edge | traits.opener) & ~inside[:n])
        starts, ends = [], []
        for size in range(1, 2 * most):
            open_at = open_at[open_at + size <= limit[open_at]]
            end = open_at + size
            fits = (
                traits.edge[end - 1]
                & ~inside[end + 1]
                & (lengths[end] - lengths[open_at] <= most)
                & (contents[end] > contents[open_at])
            )
            starts.append(open_at[fits])
            ends.append(end[fits])
        start, end = np.concatenate(starts), np.concatenate(ends)
        order = np.argsort(start * (n + 1) + end)
        start, end = start[order], end[order]
        _, first, phrase, counts = np.unique(
            phrase_keys(words.keys, start, end),
            return_index=True, return_inverse=True, return_counts=True,
        )  # fmt: skip
        # phrases in the order of the text, whatever their keys
        order = np.argsort(first)
        rank = np.empty_like(order)
        rank[order] = np.arange(len(order))
        stems = phrase_keys(words.stems, start, end)
        stemmed = np.unique(stems, return_inverse=True)[1].reshape(-1)
        phrase = rank[phrase.reshape(-1)]
        found = cls(start, end, phrase, stemmed, first[order], counts[order])
        return found if len(found) <= MOST_PHRASES else found._most_frequent()

    def _most_frequent(self) -> Phrases:
        """Keep the phrases that occur most often, the first ones of those as frequent."""
        kept = np.sort(np.argsort(-self.counts, kind="stable")[:MOST_PHRASES])
        number = np.full(len(self), -1, dtype=np.int64)
        number[kept] = np.arange(len(kept))
        inside = np.flatnonzero(number[self.phrase] >= 0)
        place = np.searchsorted(inside, self.first[kept])
        stemmed = np.unique(self.stemmed[inside], return_inverse=True)[1].reshape(-1)
        return Phrases(
            self.starts[inside],
            self.ends[inside],
            number[self.phrase[inside]],
            stemmed,
            place,
            self.counts[kept],
            pruned=True,
        )

    def __len__(self) -> int:
        return len(self.first)


def phrase_keys(keys: NDArray[np.uint64], starts: Integers, ends: Integers) -> NDArray[np.uint64]:
    """Return a key of each run of keys, the same for the same run."""
    hashed = np.zeros(len(starts), dtype=np.uint64)
    sizes = ends - starts
    for place in range(int(sizes.max(initial=0))):
        inside = np.flatnonzero(sizes > place)
        so_far = hashed[inside]
        mixed = (so_far ^ (so_far >> np.uint64(29))) * _FACTOR
        hashed[inside] = mixed + keys[starts[inside] + place]
    return hashed


def _run_ends(words: Words, traits: Traits) -> Integers:
    """The end of the run of words around each token: the next punctuation or sentence."""
    n = len(words.keys)
    breaks = ~(traits.word | traits.glue)
    new = np.append(np.diff(words.sentences) != 0, True)
    ends = np.where(breaks, np.arange(n), np.where(new, np.arange(1, n + 1), n))
    return np.asarray(np.minimum.accumulate(ends[::-1])[::-1])
