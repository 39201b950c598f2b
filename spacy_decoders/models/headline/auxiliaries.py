"""Prepositions and articles that may stand between the content words of a headline."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Sequence

__all__ = ["AUXILIARIES", "auxiliaries_of_titles"]

#: The number that the paper uses.
COUNT = 24

#: For texts in these languages, where no titles have been counted.
AUXILIARIES = {
    "de": (
        "der", "die", "das", "des", "dem", "den", "ein", "eine", "einer", "im", "in", "am", "an",
        "auf", "aus", "bei", "für", "gegen", "mit", "nach", "und", "von", "zum", "zur",
    ),
    "en": (
        "a", "an", "the", "of", "in", "on", "for", "to", "with", "by", "from", "at", "as", "into",
        "and", "or", "between", "over", "without", "through", "via", "under", "against", "using",
    ),
    "es": (
        "el", "la", "los", "las", "un", "una", "de", "del", "en", "para", "por", "con", "sin",
        "sobre", "entre", "y", "o", "a", "al", "desde", "hasta", "contra", "según", "su",
    ),
    "fr": (
        "le", "la", "les", "un", "une", "des", "du", "de", "d'", "l'", "en", "dans", "pour",
        "par", "avec", "sans", "sur", "sous", "entre", "et", "ou", "à", "au", "vers",
    ),
    "it": (
        "il", "lo", "la", "i", "gli", "le", "un", "una", "di", "del", "della", "in", "nel", "per",
        "con", "senza", "su", "tra", "fra", "e", "o", "a", "al", "dal",
    ),
}  # fmt: skip


def auxiliaries_of_titles(
    titles: Iterable[Sequence[tuple[str, bool]]], language: str
) -> list[str]:
    """Choose the words that most often stand between content words of titles.

    Parameters
    ----------
    titles
        For each title its lower-cased words, and whether each is content.
    language
        Decides the words where the titles have fewer than two that occur twice.

    Examples
    --------
    >>> title = [("sum", True), ("of", False), ("divisors", True)]
    >>> auxiliaries_of_titles([title, title], "en")[:2]
    ['of', 'a']
    """
    counts: Counter[str] = Counter()
    for words in titles:
        for (_, left), (word, content), (_, right) in zip(
            words[:-2], words[1:-1], words[2:], strict=True
        ):
            if left and right and not content:
                counts[word] += 1
    found = [word for word, times in counts.most_common(COUNT) if times > 1]
    known = AUXILIARIES.get(language, ())
    return found + [word for word in known if word not in found][: COUNT - len(found)]
