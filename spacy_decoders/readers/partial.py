"""Partial annotation: what is known of a document's entities and labels where not all is.

It stands in ``doc._.partial_annotation``, a dictionary of plain types that DocBin keeps, and
`exact_tagger` learns from it: whatever agrees with it is summed over.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from typing import Any

from spacy.tokens import Doc

from ..errors import ProblemError
from .sentences import Sentence

__all__ = ["EntityTypes", "annotate_partially"]

#: In a list of types: no entity.
OUTSIDE = "O"


def annotate_partially(
    doc: Doc,
    *,
    types: Iterable[str] | None = None,
    allowed: Mapping[str, Sequence[Iterable[str] | None]] | None = None,
    negative: Iterable[tuple[int, int, str | None]] = (),
) -> None:
    """Say what is known of a gold document, beside what is set on it.

    Parameters
    ----------
    doc
        The document; its annotation is complete but for what is said here.
    types
        The types of entities that it annotates: a token outside of entities may be part of one of
        any other type. None for all types.
    allowed
        For a target ("tag", "pos", "morph", "ent") the labels of each token of which one is right,
        or None for a token that has what is set on it.
    negative
        Spans that are no entities: first token, token behind, and type, or None (or
        ``""``) for any type.
        What is left unknown there (spaCy's missing annotation) stays so otherwise.

    Raises
    ------
    ProblemError
        If a list does not have an entry for each token, a span is outside the document, or a
        target is unknown.

    Examples
    --------
    >>> import spacy
    >>> doc = spacy.blank("en")("They fish")
    >>> annotate_partially(doc, allowed={"tag": [["PRP"], ["VB", "VBP"]]})
    >>> doc._.partial_annotation
    {'allowed': {'tag': [['PRP'], ['VB', 'VBP']]}}
    """
    found: dict[str, Any] = {}
    if types is not None:
        if isinstance(types, str):
            raise ProblemError(f"types: expected a list of types; got {types!r}.")
        found["types"] = list(types)
    for target, rows in (allowed or {}).items():
        if target not in ("tag", "pos", "morph", "ent"):
            raise ProblemError(f"allowed: expected tag, pos, morph or ent; got {target!r}.")
        if len(rows) != len(doc):
            raise ProblemError(
                f"allowed[{target!r}]: expected an entry for each of {len(doc)} tokens; "
                f"got {len(rows)}."
            )
        if any(isinstance(row, str) for row in rows):
            raise ProblemError(f"allowed[{target!r}]: expected a list of labels for each token.")
        labels = [None if row is None else list(row) for row in rows]
        found.setdefault("allowed", {})[target] = labels
    spans = []
    for given in negative:
        if isinstance(given, str) or len(given) != 3 or not isinstance(given[2] or "", str):
            raise ProblemError(
                "negative: expected first token, token behind, and a type of entity, or None for "
                f"any type; got {given!r}."
            )
        start, end, kind = given
        spans.append([int(start), int(end), kind or ""])
        if not 0 <= start < end <= len(doc):
            raise ProblemError(
                f"negative: the span ({start}, {end}) is outside the {len(doc)} tokens."
            )
    if spans:
        found["negative"] = spans
    if not Doc.has_extension("partial_annotation"):
        Doc.set_extension("partial_annotation", default={})
    doc._.partial_annotation = found


class EntityTypes:
    """How a corpus's types of entities relate to those that a component learns.

    Parameters
    ----------
    types
        For each type of the corpus the type that it is, a list of those that it may be ("O" for
        none of them), or an empty list if nothing is known of its entities. None for types that
        stay as they are; those that are not named are unknown.
    complete
        The types that the corpus annotates wherever they occur; a token outside may be part of an
        entity of another. None for all.

    Examples
    --------
    >>> wnut = EntityTypes({"person": "PER", "group": ["ORG", "O"]}, ["PER"])
    >>> wnut.of_sentence(Sentence(("IBM", "with", "Kim"), (True,) * 3,
    ...     ents=("B-group", "O", "B-person")))
    (('', 'O', 'B-PER'), [['B-ORG', 'O'], None, None])
    """

    def __init__(
        self, types: Mapping[str, str | Sequence[str]] | None, complete: Sequence[str] | None
    ) -> None:
        for name, value in (types or {}).items():
            several = [value] if isinstance(value, str) else value
            if not all(isinstance(kind, str) and kind for kind in several):
                raise ProblemError(
                    f"types: expected a type or a list of types for {name!r}; got {value!r}."
                )
        if isinstance(complete, str):
            raise ProblemError(f"complete: expected a list of types; got {complete!r}.")
        self.types = None if types is None else dict(types)
        self.complete = None if complete is None else list(complete)

    def of_sentence(
        self, sentence: Sentence
    ) -> tuple[tuple[str, ...] | None, list[list[str] | None]]:
        """Return a sentence's entities as a component has them, and what tokens may be instead."""
        nothing: list[list[str] | None] = [None] * len(sentence)
        if sentence.ents is None or self.types is None:
            return sentence.ents, nothing
        labels, allowed = [], nothing
        for i, label in enumerate(sentence.ents):
            if label in ("", OUTSIDE):
                labels.append(label)
                continue
            value = self.types.get(label[2:], [])
            if isinstance(value, str):
                labels.append(OUTSIDE if value == OUTSIDE else label[:2] + value)
                continue
            labels.append("")
            if value:
                allowed[i] = [OUTSIDE if of == OUTSIDE else label[:2] + of for of in value]
        return tuple(labels), allowed

    def annotate(self, doc: Doc, allowed: list[list[str] | None]) -> None:
        """Write to a document what is known of it."""
        rows = {"ent": allowed} if any(row is not None for row in allowed) else None
        if rows or self.complete is not None:
            annotate_partially(doc, types=self.complete, allowed=rows)
