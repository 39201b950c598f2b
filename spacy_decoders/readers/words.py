"""What files of sentences state of words: parts of speech, features and heads, checked."""

from __future__ import annotations

from collections.abc import Iterable, Sequence

from ..errors import ProblemError

__all__ = ["PARTS_OF_SPEECH", "WordError", "checked_heads", "features", "head_of", "is_features"]

#: The universal parts of speech, and spaCy's own for white space.
PARTS_OF_SPEECH = frozenset(
    {
        *("ADJ", "ADP", "ADV", "AUX", "CCONJ", "CONJ", "DET", "EOL", "INTJ", "NOUN"),
        *("NUM", "PART", "PRON", "PROPN", "PUNCT", "SCONJ", "SPACE", "SYM", "VERB", "X"),
    }
)


class WordError(ProblemError):
    """A fault of one word's annotation.

    Attributes
    ----------
    word
        Index of the word in its sentence.
    """

    def __init__(self, word: int, message: str) -> None:
        super().__init__(message)
        self.word = word


def is_features(text: str) -> bool:
    """Whether a text is a list of ``Name=Value``, the only form that spaCy reads.

    Examples
    --------
    >>> is_features("Case=Nom|Number=Sing"), is_features("NCCSU==D"), is_features("sg|nom")
    (True, False, False)
    """
    return all(
        item.count("=") == 1 and not item.startswith("=") and not item.endswith("=")
        for item in text.split("|")
    )


def features(text: str | None) -> str | None:
    """Return a list of features, or None where the text is something else."""
    return text if text and is_features(text) else None


def head_of(field: str) -> int | None:
    """Read the column of a head: a number, or ``_`` for none.

    Raises
    ------
    ValueError
        If it is neither.
    """
    if field == "_":
        return None
    if not (field.isascii() and field.isdecimal()):
        raise ValueError(f"the head is no number and not _, but {field!r}")
    return int(field)


def checked_heads(heads: Iterable[int | None]) -> tuple[int, ...] | None:
    """Return the heads of a sentence, or None where a word has none.

    Several words may have the root, 0, as their head.

    Raises
    ------
    WordError
        If a head is no word of the sentence, or words are heads of each other in a cycle.

    Examples
    --------
    >>> checked_heads([2, 0])
    (2, 0)
    >>> checked_heads([2, None]) is None
    True
    >>> checked_heads([2, 1])
    Traceback (most recent call last):
    spacy_decoders.readers.words.WordError: the heads of words 1, 2 form a cycle
    """
    given = tuple(heads)
    for word, head in enumerate(given):
        if head is not None and head > len(given):
            raise WordError(word, f"the head is word {head}, the last word is {len(given)}")
    cycle = _cycle(given)
    if len(cycle) == 1:
        raise WordError(cycle[0], "the word is its own head")
    if cycle:
        names = ", ".join(str(word + 1) for word in cycle)
        raise WordError(cycle[0], f"the heads of words {names} form a cycle")
    found = tuple(head for head in given if head is not None)
    return found if len(found) == len(given) else None


def _cycle(heads: Sequence[int | None]) -> list[int]:
    """The words of a cycle, in their order in the sentence; none if there is no cycle."""
    seen_from = [-1] * len(heads)  # the word whose chain of heads came by first
    for start in range(len(heads)):
        word = start
        while seen_from[word] < 0:
            seen_from[word] = start
            head = heads[word]
            if not head:  # the root, or no head
                break
            word = head - 1
        else:
            if seen_from[word] == start:
                return _cycle_through(word, heads)
    return []


def _cycle_through(word: int, heads: Sequence[int | None]) -> list[int]:
    cycle = [word]
    while (head := heads[cycle[-1]]) and head - 1 != word:
        cycle.append(head - 1)
    return sorted(cycle)
