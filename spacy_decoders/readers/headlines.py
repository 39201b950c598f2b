"""Titled texts as training examples for the headline generator."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

from spacy.language import Language
from spacy.tokens import Doc
from spacy.training import Example

from ..errors import ProblemError
from .text_lines import json_objects, matching_files

__all__ = ["HeadlineCorpus"]

# the components register it as well, if imported first
if not Doc.has_extension("headline"):
    Doc.set_extension("headline", default="")


class HeadlineCorpus:
    """Examples from JSON lines with a title and a text each.

    The reference document of each has the title in ``doc._.headline``.

    Parameters
    ----------
    path
        A ``.jsonl`` or ``.jsonl.gz`` file, or a folder whose files are read in the order of
        their names.
    title, text
        The names of the two fields.
    limit
        The most lines to read; 0 for all.
    """

    def __init__(
        self, path: str | Path, *, title: str = "title", text: str = "text", limit: int = 0
    ) -> None:
        self.path = Path(path)
        self.title = title
        self.text = text
        self.limit = limit

    def __call__(self, nlp: Language) -> Iterator[Example]:
        """Make the examples anew."""
        for count, (title, text) in enumerate(self._records(), start=1):
            reference = nlp.make_doc(text)
            reference._.headline = title
            yield Example(nlp.make_doc(text), reference)
            if count == self.limit:
                return

    def _records(self) -> Iterator[tuple[str, str]]:
        for file in matching_files(self.path, [".jsonl"]):
            for place, record in json_objects(file):
                title, text = record.get(self.title), record.get(self.text)
                if not (isinstance(title, str) and isinstance(text, str)):
                    raise ProblemError(
                        f"{place}: expected an object with the strings {self.title!r} and "
                        f"{self.text!r}."
                    )
                yield title, text
