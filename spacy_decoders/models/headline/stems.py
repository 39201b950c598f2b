"""Stems by language, each word stemmed once."""

from collections.abc import Iterable
from dataclasses import dataclass
from functools import lru_cache
from typing import Any

from spacy.util import get_lang_class

__all__ = ["Stemmer"]


@dataclass(frozen=True)
class Stemmer:
    """A Snowball stemmer of a language, given by its code, as in ``nlp.lang``.

    Where Snowball does not know the language, a word is its own stem.

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
        return [_stem(self.language, word) for word in words]


@lru_cache(50_000)
def _stem(language: str, word: str) -> str:
    stemmer = _stemmer(language)
    return word if stemmer is None else str(stemmer.stemWord(word))


@lru_cache
def _stemmer(language: str) -> Any:
    import snowballstemmer

    name = get_lang_class(language).__name__.lower()  # "English" for "en"
    return snowballstemmer.stemmer(name) if name in snowballstemmer.algorithms() else None
