"""What annotation tools export: Prodigy's JSON lines, and Label Studio's JSON."""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import KW_ONLY, dataclass
from pathlib import Path
from typing import Any

from spacy.language import Language
from spacy.tokens import Doc, Span
from spacy.training import Example
from spacy.util import filter_spans

from ..errors import ProblemError
from .text_lines import decoded, json_objects, matching_files

__all__ = ["AnnotationCorpus"]

#: A span of characters and its label.
Labelled = tuple[int, int, str]


@dataclass(eq=False)
class AnnotationCorpus:
    """Examples from what people annotated in Prodigy or Label Studio.

    Of Prodigy's lines those count that were accepted, with their ``tokens``, ``spans`` and
    ``relations``; of Label Studio's tasks the newest annotation that was not cancelled. Spans are
    entities; those of a Prodigy task with ``meta.task`` "tags", and of Label Studio's control
    ``tag``, are tags.

    Parameters
    ----------
    path
        A file or a folder of ``.jsonl`` and ``.json`` files, gzipped or not.
    limit
        The most documents; 0 for all.
    """

    path: str | Path
    _: KW_ONLY
    limit: int = 0

    def __call__(self, nlp: Language) -> Iterator[Example]:
        """Yield an Example for each task that was answered."""
        count = 0
        for place, task in self._tasks():
            reference = _document(nlp, place, task)
            if reference is None:
                continue
            words, spaces = [t.text for t in reference], [bool(t.whitespace_) for t in reference]
            yield Example(Doc(nlp.vocab, words=words, spaces=spaces), reference)
            count += 1
            if count == self.limit:
                return

    def _tasks(self) -> Iterator[tuple[str, dict[str, Any]]]:
        for path in matching_files(Path(self.path), (".jsonl", ".json")):
            if path.name.removesuffix(".gz").endswith(".jsonl"):
                yield from json_objects(path)
                continue
            try:
                found = json.loads(decoded(path.read_bytes(), path))
            except (ValueError, RecursionError) as error:
                raise ProblemError(f"{path.name}: no JSON ({error}).") from error
            if not isinstance(found, list):
                raise ProblemError(f"{path.name}: expected a list of tasks.")
            for number, task in enumerate(found, start=1):
                place = f"{path.name}, task {number}"
                if not isinstance(task, dict):
                    raise ProblemError(f"{place}: expected a JSON object.")
                yield place, task


def _document(nlp: Language, place: str, task: Mapping[str, Any]) -> Doc | None:
    """Make the document of one task; None if it was not answered, or not accepted."""
    if "data" in task:
        return _of_label_studio(nlp, place, task)
    if task.get("answer", "accept") != "accept":
        return None
    text = _text(place, task)
    doc = _tokenized(nlp, text, task.get("tokens"), place)
    layer = _layer(task)
    spans = [_characters(place, span) for span in _dicts(place, task, "spans")]
    if layer == "tags":
        _set_tags(doc, place, spans)
    elif layer == "trees":
        doc = _with_relations(doc, place, _dicts(place, task, "relations"))
    elif task.keys() & {"spans", "answer"}:  # a bare text says nothing about its entities
        _set_entities(doc, place, spans)
    return doc


def _layer(task: Mapping[str, Any]) -> str:
    """What a Prodigy task is about; spans are entities unless it says otherwise."""
    meta = task.get("meta")
    stated = meta.get("task") if isinstance(meta, dict) else None
    return stated or ("trees" if task.get("relations") and "spans" not in task else "entities")


def _of_label_studio(nlp: Language, place: str, task: Mapping[str, Any]) -> Doc | None:
    answers = [of for of in _dicts(place, task, "annotations") if not of.get("was_cancelled")]
    if not answers:
        return None
    newest = max(answers, key=lambda of: str(of.get("updated_at") or of.get("created_at") or ""))
    data = task["data"]
    text = _text(place, data if isinstance(data, dict) else {})
    doc = _tokenized(nlp, text, data.get("tokens"), place)
    entities: list[Labelled] = []
    tags: list[Labelled] = []
    for result in _dicts(place, newest, "result"):
        value = result.get("value")
        if result.get("type") == "labels" and isinstance(value, dict):
            for label in value.get("labels") or ():
                at = _characters(place, {**value, "label": label})
                (tags if result.get("from_name") == "tag" else entities).append(at)
    if entities or not tags:
        _set_entities(doc, place, entities)
    _set_tags(doc, place, tags)
    return doc


def _text(place: str, fields: Mapping[str, Any]) -> str:
    text = fields.get("text")
    if not isinstance(text, str):
        raise ProblemError(f"{place}: expected a string in 'text', got {text!r}.")
    return text


def _dicts(place: str, fields: Mapping[str, Any], key: str) -> list[dict[str, Any]]:
    found = fields.get(key)
    if found is None:
        return []
    if not isinstance(found, list) or not all(isinstance(item, dict) for item in found):
        raise ProblemError(f"{place}: expected a list of objects in {key!r}.")
    return found


def _tokenized(nlp: Language, text: str, tokens: Any, place: str) -> Doc:
    """The text, cut as the task says, or else by the pipeline's tokenizer."""
    if not tokens:
        return nlp.make_doc(text)
    try:
        words = [token["text"] for token in tokens]
        ends = [int(token["end"]) for token in tokens]
    except (TypeError, KeyError, ValueError) as error:
        raise ProblemError(f"{place}: tokens need 'text', 'start' and 'end'.") from error
    spaces = [text[end : end + 1] == " " for end in ends]
    doc = Doc(nlp.vocab, words=words, spaces=spaces)
    if doc.text.rstrip() != text.rstrip():
        raise ProblemError(f"{place}: the tokens are not those of the text.")
    return doc


def _characters(place: str, span: Mapping[str, Any]) -> Labelled:
    try:
        return int(span["start"]), int(span["end"]), str(span["label"])
    except (TypeError, KeyError, ValueError) as error:
        raise ProblemError(f"{place}: a span needs 'start', 'end' and 'label'.") from error


def _set_entities(doc: Doc, place: str, spans: Sequence[Labelled]) -> None:
    found = [_span(doc, place, *span) for span in spans]
    # of overlapping ones the longest: an entity has no other place in a Doc
    doc.set_ents(filter_spans(found), default="outside")


def _span(doc: Doc, place: str, start: int, end: int, label: str) -> Span:
    found = doc.char_span(start, end, label=label, alignment_mode="expand")
    if found is None or not label:
        raise ProblemError(f"{place}: no span from character {start} to {end}.")
    return found


def _set_tags(doc: Doc, place: str, spans: Sequence[Labelled]) -> None:
    for start, end, label in spans:
        for token in _span(doc, place, start, end, label):
            token.tag_ = label


def _with_relations(doc: Doc, place: str, relations: Sequence[Mapping[str, Any]]) -> Doc:
    """Return the document with heads and labels; a token without a relation is a root."""
    heads, deps = list(range(len(doc))), ["ROOT"] * len(doc)
    try:
        for relation in relations:
            child = int(relation["child"])
            heads[child] = int(relation["head"])
            deps[child] = str(relation["label"])
    except (TypeError, KeyError, ValueError, IndexError) as error:
        raise ProblemError(
            f"{place}: a relation needs 'head', 'child' (tokens' numbers) and 'label'."
        ) from error
    if any(not 0 <= head < len(doc) for head in heads):
        raise ProblemError(f"{place}: a relation's head is no token.")
    words, spaces = [token.text for token in doc], [bool(token.whitespace_) for token in doc]
    return Doc(doc.vocab, words=words, spaces=spaces, heads=heads, deps=deps)
