"""Stems by language, each word of a text stemmed once."""

from __future__ import annotations

from collections.abc import Iterable
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

#: Words kept in the cache before it is emptied.
CACHE_SIZE = 50_000


class Stemmer:
    """A Snowball stemmer with a cache.

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

    def __init__(self, language: str) -> None:
        self.language = language
        self._stemmer: Any = None
        self._known: dict[int, int] = {}

    def stems(self, words: Iterable[str]) -> list[str]:
        """Return the stem of each lower-cased word."""
        return [self._stem(word) for word in words]

    def keys(self, words: list[int], strings: Any) -> list[int]:
        """Return the key of the stem of each word, given by its key among the strings."""
        known = self._known
        if len(known) >= CACHE_SIZE:
            known.clear()
        for word in words:
            if word not in known:
                known[word] = get_string_id(self._stem(strings[word]))
        return [known[word] for word in words]

    def _stem(self, word: str) -> str:
        if self.language not in ALGORITHMS:
            return word
        if self._stemmer is None:
            import snowballstemmer

            self._stemmer = snowballstemmer.stemmer(ALGORITHMS[self.language])
        return str(self._stemmer.stemWord(word))

    def __getstate__(self) -> dict[str, Any]:
        return {"language": self.language}

    def __setstate__(self, state: dict[str, Any]) -> None:
        self.__init__(state["language"])  # type: ignore[misc]
