"""Titled texts as training examples for the headline generator."""

from __future__ import annotations

import json
from collections.abc import Iterator
from pathlib import Path

from spacy.language import Language
from spacy.tokens import Doc
from spacy.training import Example

from ..errors import ProblemError
from .text_lines import text_lines

__all__ = ["HeadlineCorpus"]

# the components register it as well; whoever comes first does
if not Doc.has_extension("headline"):
    Doc.set_extension("headline", default="")

_SUFFIXES = (".jsonl", ".jsonl.gz")


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
        Read so many lines at most; 0 for all.
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

    def _files(self) -> list[Path]:
        if self.path.is_dir():
            files = sorted(p for p in self.path.iterdir() if p.name.endswith(_SUFFIXES))
        else:
            files = [self.path] if self.path.is_file() else []
        if not files:
            raise ProblemError(
                f"path: expected a file or folder of {' or '.join(_SUFFIXES)}; {self.path} has "
                "none."
            )
        return files

    def _records(self) -> Iterator[tuple[str, str]]:
        for file in self._files():
            for number, line in enumerate(text_lines(file), start=1):
                if line.strip():
                    yield self._record(line, f"{file.name}, line {number}")

    def _record(self, line: str, place: str) -> tuple[str, str]:
        try:
            record = json.loads(line)
        except json.JSONDecodeError as error:
            raise ProblemError(f"{place}: no JSON ({error}).") from error
        values = [
            record.get(field) if isinstance(record, dict) else None
            for field in (self.title, self.text)
        ]
        title, text = values
        if not (isinstance(title, str) and isinstance(text, str)):
            raise ProblemError(
                f"{place}: expected an object with the strings {self.title!r} and {self.text!r}."
            )
        return title, text
