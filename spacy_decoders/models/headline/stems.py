"""Stemming by language, with a cache."""

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from functools import lru_cache
from typing import Any

import numpy as np
from numpy.typing import NDArray
from spacy.strings import get_string_id
from spacy.util import get_lang_class

__all__ = ["Stemmer", "word_keys"]


@dataclass(frozen=True)
class Stemmer:
    """A Snowball stemmer of a language, given by its code, as in ``nlp.lang``.

    In languages that Snowball does not support, words are their own stems.

    Examples
    --------
    >>> Stemmer("en").stems(["sorting", "sorted", "merge"])
    ['sort', 'sort', 'merg']
    >>> Stemmer("xx").stems(["sorting"])
    ['sorting']
    """

    language: str

    def stems(self, words: Iterable[str]) -> list[str]:
        """Return the stem of each lower-cased word."""
        return [_stem(self.language, word)[0] for word in words]

    def keys(self, words: Iterable[str]) -> NDArray[np.uint64]:
        """Return the keys of the stems of words, as :class:`.TextTokens` has them."""
        return np.array([_stem(self.language, word)[1] for word in words], dtype=np.uint64)


def word_keys(words: Sequence[str]) -> NDArray[np.uint64]:
    """Return the keys of words, as :class:`.TextTokens` has them."""
    return np.array([get_string_id(word.lower()) for word in words], dtype=np.uint64)


@lru_cache(50_000)
def _stem(language: str, word: str) -> tuple[str, int]:
    stemmer = _stemmer(language)
    stem = word if stemmer is None else str(stemmer.stemWord(word))
    return stem, get_string_id(stem.lower())


@lru_cache
def _stemmer(language: str) -> Any:
    import snowballstemmer

    name = get_lang_class(language).__name__.lower()  # "English" for "en"
    return snowballstemmer.stemmer(name) if name in snowballstemmer.algorithms() else None
