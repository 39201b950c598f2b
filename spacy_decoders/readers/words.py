"""What files of sentences state of words: parts of speech, features, heads, entities."""

from collections.abc import Iterable, Sequence
from graphlib import CycleError, TopologicalSorter

from spacy.parts_of_speech import IDS

from ..errors import ProblemError

__all__ = [
    "PARTS_OF_SPEECH",
    "WordError",
    "as_bio",
    "heads_of",
    "is_features",
]

#: The universal parts of speech, and spaCy's own for white space.
PARTS_OF_SPEECH = frozenset(IDS) - {""}

#: Where a word stands in an entity, in BIO, by the first letter of its tag.
_POSITIONS = {"B": "B", "I": "I", "U": "B", "S": "B", "L": "I", "E": "I"}
_UNKNOWN = ("", "_", "-")


class WordError(ProblemError):
    """A fault of one word's annotation."""

    def __init__(self, word: int, message: str) -> None:
        super().__init__(message)
        #: index of the word in its sentence
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


def heads_of(column: Iterable[str]) -> tuple[int, ...] | None:
    """Read the heads of a sentence, numbers or ``_`` for none; None where a word has none.

    Several words may have the root, 0, as their head.

    Raises `WordError` if a head is neither, or no word of the sentence, or words are heads of each
    other in a cycle.

    Examples
    --------
    >>> heads_of(["2", "0"])
    (2, 0)
    >>> heads_of(["2", "_"]) is None
    True
    >>> heads_of(["2", "1"])
    Traceback (most recent call last):
    spacy_decoders.readers.words.WordError: the heads of words 1, 2 form a cycle
    """
    given: list[int | None] = []
    for word, field in enumerate(column):
        if field != "_" and not (field.isascii() and field.isdecimal()):
            raise WordError(word, f"the head is no number and not _, but {field!r}")
        given.append(None if field == "_" else int(field))
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
    above = {word: [head - 1] for word, head in enumerate(heads) if head}
    try:
        TopologicalSorter(above).prepare()
    except CycleError as error:
        return sorted(set(error.args[1]))
    return []


def as_bio(tags: Iterable[str]) -> tuple[str, ...]:
    """Return tags in BIO, of a sentence tagged in IOB, BIO, BILOU (BILUO) or BIOES.

    ``_``, of a word whose tag is unknown, becomes the empty string. Raises `WordError` if a tag is
    of none of the schemes.

    Examples
    --------
    >>> as_bio(["I-PER", "I-PER", "O", "I-ORG", "B-ORG", "_"])  # IOB: B only where it is needed
    ('B-PER', 'I-PER', 'O', 'B-ORG', 'B-ORG', '')
    >>> as_bio(["B-PER", "L-PER", "O", "U-ORG"])
    ('B-PER', 'I-PER', 'O', 'B-ORG')
    """
    found: list[str] = []
    kind = ""  # of the entity that goes on
    for at, tag in enumerate(tags):
        if tag in _UNKNOWN or tag == "O":
            found.append("" if tag in _UNKNOWN else "O")
            kind = ""
            continue
        position = _POSITIONS.get(tag[0]) if tag[1:2] == "-" and len(tag) > 2 else None
        if position is None:
            known = "IOB, BIO, BILOU or BIOES, such as B-PER or O"
            raise WordError(at, f"{tag[:40]!r} is no entity tag in {known}")
        found.append(f"{'I' if position == 'I' and kind == tag[2:] else 'B'}{tag[1:]}")
        # after the last word of an entity, none of its type goes on
        kind = "" if tag[0] in "ULSE" else tag[2:]
    return tuple(found)
