"""Words and heads as files of trees state them, checked against their sentence."""

from __future__ import annotations

from collections.abc import Iterable, Sequence

__all__ = ["WordError", "checked_heads", "head_of"]


class WordError(ValueError):
    """A fault of one word's annotation.

    Attributes
    ----------
    word
        Index of the word in its sentence.
    """

    def __init__(self, word: int, message: str) -> None:
        super().__init__(message)
        self.word = word


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
    spacy_decoders.readers.heads.WordError: the heads of words 1, 2 form a cycle
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
