"""Stems by language, each word stemmed once."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from functools import lru_cache
from typing import Any

from spacy.strings import get_string_id

__all__ = ["Stemmer"]

#: The Snowball algorithm of each language code; words of other languages are their own stems.
ALGORITHMS = {
    "ar": "arabic", "ca": "catalan", "da": "danish", "de": "german", "el": "greek",
    "en": "english", "es": "spanish", "eu": "basque", "fi": "finnish", "fr": "french",
    "ga": "irish", "hi": "hindi", "hu": "hungarian", "hy": "armenian", "id": "indonesian",
    "it": "italian", "lt": "lithuanian", "nb": "norwegian", "ne": "nepali", "nl": "dutch",
    "pt": "portuguese", "ro": "romanian", "ru": "russian", "sr": "serbian", "sv": "swedish",
    "ta": "tamil", "tr": "turkish",
}  # fmt: skip


@dataclass(frozen=True)
class Stemmer:
    """A Snowball stemmer.

    Parameters
    ----------
    language
        Language code, as in ``nlp.lang``. For an unknown one a word is its own stem.

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

    def keys(self, words: list[int], strings: Any) -> list[int]:
        """Return the key of the stem of each word, given by its key among the strings."""
        return [get_string_id(_stem(self.language, strings[word])) for word in words]


@lru_cache(50_000)
def _stem(language: str, word: str) -> str:
    stemmer = _stemmer(language)
    return word if stemmer is None else str(stemmer.stemWord(word))


@lru_cache
def _stemmer(language: str) -> Any:
    if language not in ALGORITHMS:
        return None
    import snowballstemmer

    return snowballstemmer.stemmer(ALGORITHMS[language])
