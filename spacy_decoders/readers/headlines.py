"""Titled texts as training examples for the headline generator."""

import re
from collections.abc import Iterator
from dataclasses import KW_ONLY, dataclass
from itertools import islice
from pathlib import Path

from spacy.language import Language
from spacy.tokens import Doc
from spacy.training import Example

from ..arrays import checked_whole
from ..errors import ProblemError
from .text_lines import json_objects, matching_files

__all__ = ["HeadlineCorpus", "without_title"]

_SIGNS = r"[\W_]*"

# the components register it as well, if imported first
if not Doc.has_extension("headline"):
    Doc.set_extension("headline", default="")


@dataclass(eq=False)
class HeadlineCorpus:
    """Examples from JSON lines with a title and a text each.

    The reference document of each has the title in ``doc._.headline``.
    """

    path: Path | None
    """A ``.jsonl`` or ``.jsonl.gz`` file, or a folder of such files."""
    _: KW_ONLY
    title: str = "title"
    """The field of the title."""
    text: str = "text"
    """The field of the text."""
    limit: int = 0
    """The most lines to read; 0 for all."""
    strip_title: bool = False
    """Whether to remove the title from the beginning of a text. Texts that begin with their titles
    teach, and test, where to look rather than what to say."""

    def __post_init__(self) -> None:
        checked_whole("limit", self.limit, low=0)

    def __call__(self, nlp: Language) -> Iterator[Example]:
        """Yield an Example for each line."""
        for title, text in islice(self._records(), self.limit or None):
            if self.strip_title:
                text = without_title(title, text)
            reference = nlp.make_doc(text)
            reference._.headline = title
            yield Example(nlp.make_doc(text), reference)

    def _records(self) -> Iterator[tuple[str, str]]:
        for file in matching_files(self.path, [".jsonl"]):
            for place, record in json_objects(file):
                title, text = record.get(self.title), record.get(self.text)
                if not (isinstance(title, str) and isinstance(text, str)):
                    raise ProblemError(
                        f"{place}: expected an object with the strings {self.title!r} and "
                        f"{self.text!r}; name other fields by `title` and `text`."
                    )
                yield title, text


def without_title(title: str, text: str) -> str:
    """Return a text without the title that it begins with, once or repeatedly.

    Only letters and digits are compared, whatever their case. A title that a sentence continues,
    in lower case or after a bracket, is no heading but the sentence's beginning, and stays.

    Examples
    --------
    >>> without_title("Binary search", "BINARY SEARCH: It halves an array.")
    'It halves an array.'
    >>> without_title("Heap", "Heaps are trees.")
    'Heaps are trees.'
    >>> without_title("A heap", "A heap A heap is a tree.")
    'A heap is a tree.'
    """
    letters = [re.escape(c) for c in title if c.isalnum()]
    # other characters may stand between its letters; its last word must end
    repeated = re.compile(rf"{_SIGNS}{_SIGNS.join(letters)}(?![^\W_]){_SIGNS}", re.IGNORECASE)
    while letters and (found := repeated.match(text)) and not _is_in_sentence(text, found.end()):
        text = text[found.end() :].lstrip(" \t\r\n.:-–—")
    return text


def _is_in_sentence(text: str, end: int) -> bool:
    """Whether a sentence continues the title before `end`; the name of an author does not."""
    title = re.sub(r"[\W_]+\Z", "", text[:end])
    rest = re.sub(r"^\s*\([^)]*\)", "", text[len(title) :]).lstrip(" ,")
    return rest[:1].islower() and not rest.startswith("by ")
