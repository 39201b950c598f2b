"""Examples of linked entities: the entities are given, their identifiers are predicted."""

from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from spacy.language import Language
from spacy.tokens import Doc, Span
from spacy.training import Example

from ..errors import ProblemError
from .docbins import docbin_docs, read_docbin
from .text_lines import json_objects, matching_files

__all__ = ["LinkedCorpus"]


@dataclass(eq=False)
class LinkedCorpus:
    """Examples whose predicted documents have the gold entities, without identifiers."""

    path: Path | None
    """A file, or a folder of files: ``.spacy`` with ``kb_id`` on entities, or ``.jsonl`` (also
    ``.gz``) with ``text`` and ``mentions``: objects with ``start``, ``end`` (characters), ``gold``
    (identifier or null) and optionally ``label``."""

    def __call__(self, nlp: Language) -> Iterator[Example]:
        """Yield an Example for each document.

        Raises `ProblemError` if a file is missing, of another kind or has another structure.
        """
        for path in matching_files(self.path, (".spacy", ".jsonl")):
            for doc in _docs(nlp, path):
                bare = doc.copy()
                bare.set_ents([Span(bare, e.start, e.end, label=e.label) for e in doc.ents])
                yield Example(bare, doc)


def _docs(nlp: Language, path: Path) -> Iterator[Doc]:
    name = path.name.lower()
    if name.endswith(".spacy"):
        yield from docbin_docs(read_docbin(path), path, nlp.vocab)
    elif name.endswith((".jsonl", ".jsonl.gz")):
        for place, row in json_objects(path):
            try:
                yield _doc(nlp, row)
            except (LookupError, TypeError, ValueError, OverflowError) as error:
                raise ProblemError(
                    f"{place}: expected an object with text and mentions ({error!r})."
                ) from error
    else:
        raise ProblemError(f"path: expected .spacy or .jsonl, got {path.name}.")


def _doc(nlp: Language, row: dict[str, Any]) -> Doc:
    doc = nlp.make_doc(row["text"])
    kept: list[Span] = []
    for mention in row["mentions"]:
        span = doc.char_span(
            mention["start"],
            mention["end"],
            label=mention.get("label") or "MENTION",
            kb_id=mention.get("gold") or "",
            alignment_mode="expand",
        )
        if span is None:
            raise ValueError(f"the mention {mention} is not within the text")
        # of overlapping mentions the first is kept
        if not any(span.start < other.end and other.start < span.end for other in kept):
            kept.append(span)
    doc.set_ents(kept)
    return doc
