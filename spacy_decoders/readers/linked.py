"""Examples of linked entities: the entities are given, their identifiers are predicted."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from typing import Any

from spacy.language import Language
from spacy.tokens import Doc, Span
from spacy.training import Example

from ..errors import ProblemError
from .docbins import docbin_docs, read_docbin
from .text_lines import json_objects

__all__ = ["LinkedCorpus"]


class LinkedCorpus:
    """Examples whose predicted documents have the gold entities, without identifiers.

    Parameters
    ----------
    path
        ``.spacy`` with ``kb_id`` on entities, or ``.jsonl`` (also ``.gz``) with ``text`` and
        ``mentions``: objects with ``start``, ``end`` (characters), ``gold`` (identifier or
        null) and perhaps ``label``.

    Raises
    ------
    ProblemError
        If the file is missing, of another kind, or a line is no such object.
    """

    def __init__(self, path: str | Path) -> None:
        self.path = Path(path)
        if not self.path.is_file():
            raise ProblemError(f"path: {self.path} does not exist.")

    def __call__(self, nlp: Language) -> Iterator[Example]:
        for doc in self._docs(nlp):
            bare = doc.copy()
            bare.set_ents([Span(bare, e.start, e.end, label=e.label) for e in doc.ents])
            yield Example(bare, doc)

    def _docs(self, nlp: Language) -> Iterator[Doc]:
        name = self.path.name.lower()
        if name.endswith(".spacy"):
            yield from docbin_docs(read_docbin(self.path), self.path, nlp.vocab)
        elif name.endswith((".jsonl", ".jsonl.gz")):
            for place, row in json_objects(self.path):
                yield _doc(nlp, place, row)
        else:
            raise ProblemError(f"path: expected .spacy or .jsonl, got {self.path.name}.")


def _doc(nlp: Language, place: str, row: dict[str, Any]) -> Doc:
    try:
        doc = nlp.make_doc(row["text"])
        spans = [_span(doc, mention) for mention in row["mentions"]]
    except (KeyError, TypeError, ValueError) as error:
        raise ProblemError(
            f"{place}: expected an object with text and mentions ({error!r})."
        ) from error
    # of overlapping mentions the first is kept
    taken: set[int] = set()
    kept = []
    for span in spans:
        if span is not None and not taken & set(range(span.start, span.end)):
            taken |= set(range(span.start, span.end))
            kept.append(span)
    doc.set_ents(kept)
    return doc


def _span(doc: Doc, mention: dict[str, Any]) -> Span | None:
    return doc.char_span(
        mention["start"],
        mention["end"],
        label=mention.get("label") or "MENTION",
        kb_id=mention.get("gold") or "",
        alignment_mode="expand",
    )
