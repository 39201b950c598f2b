"""The annotation of words in files of sentences: parts of speech, features, heads, entities."""

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

#: The BIO prefix for that of any scheme.
_POSITIONS = {"B": "B", "I": "I", "U": "B", "S": "B", "L": "I", "E": "I"}
_UNKNOWN = ("", "_", "-")


class WordError(ProblemError):
    """An error in the annotation of one word."""

    def __init__(self, word: int, message: str) -> None:
        super().__init__(message)
        #: the index of the word in its sentence
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
    """Read the heads of a sentence, numbers or ``_`` for none; None if any word has none.

    Several words may have the root, 0, as their head. Raises `WordError` if a head is not a number
    or ``_``, or no word of the sentence, or heads form a cycle.

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
            raise WordError(word, f"the head must be a number or _, not {field!r}")
        given.append(None if field == "_" else int(field))
    for word, head in enumerate(given):
        if head is not None and head > len(given):
            raise WordError(word, f"the head is word {head}, but the last word is {len(given)}")
    cycle = _cycle(given)
    if len(cycle) == 1:
        raise WordError(cycle[0], "the word is its own head")
    if cycle:
        names = ", ".join(str(word + 1) for word in cycle)
        raise WordError(cycle[0], f"the heads of words {names} form a cycle")
    found = tuple(head for head in given if head is not None)
    return found if len(found) == len(given) else None


def _cycle(heads: Sequence[int | None]) -> list[int]:
    """The words of a cycle, in their order in the sentence; empty if there is none."""
    arcs = {word: [head - 1] for word, head in enumerate(heads) if head}
    try:
        TopologicalSorter(arcs).prepare()
    except CycleError as error:
        return sorted(set(error.args[1]))
    return []


def as_bio(tags: Iterable[str]) -> tuple[str, ...]:
    """Convert the tags of a sentence from IOB, BIO, BILOU (BILUO) or BIOES to BIO.

    ``_``, an unknown tag, becomes the empty string. Raises `WordError` if a tag is of none of
    these schemes.

    Examples
    --------
    >>> as_bio(["I-PER", "I-PER", "O", "I-ORG", "B-ORG", "_"])  # IOB: B only where it is needed
    ('B-PER', 'I-PER', 'O', 'B-ORG', 'B-ORG', '')
    >>> as_bio(["B-PER", "L-PER", "O", "U-ORG"])
    ('B-PER', 'I-PER', 'O', 'B-ORG')
    """
    found: list[str] = []
    kind = ""  # the type of the entity that may continue
    for at, tag in enumerate(tags):
        if tag in _UNKNOWN or tag == "O":
            found.append("" if tag in _UNKNOWN else "O")
            kind = ""
            continue
        position = _POSITIONS.get(tag[0]) if tag[1:2] == "-" and len(tag) > 2 else None
        if position is None:
            known = "IOB, BIO, BILOU or BIOES, such as B-PER or O"
            raise WordError(at, f"{tag[:40]!r} is not an entity tag in {known}")
        found.append(f"{'I' if position == 'I' and kind == tag[2:] else 'B'}{tag[1:]}")
        # an entity does not continue after its last word
        kind = "" if tag[0] in "ULSE" else tag[2:]
    return tuple(found)
