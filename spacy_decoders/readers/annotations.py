"""What annotation tools export: Prodigy's JSON lines, and Label Studio's JSON."""

from __future__ import annotations

import json
from collections.abc import Iterable, Iterator, Mapping, Sequence
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

Task = Mapping[str, Any]
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

    path: Path | None
    _: KW_ONLY
    limit: int = 0

    def __call__(self, nlp: Language) -> Iterator[Example]:
        """Yield an Example for each task that was answered.

        Raises
        ------
        ProblemError
            If a file holds no such tasks, with the line or the number of the task.
        """
        count = 0
        for place, task in self._tasks():
            try:
                reference = _document(nlp, task)
            except (AttributeError, IndexError, KeyError, TypeError, ValueError) as error:
                raise ProblemError(
                    f"{place}: no task of Prodigy or Label Studio, or damaged ({error!r})."
                ) from error
            if reference is None:
                continue
            words, spaces = _words_of(reference)
            yield Example(Doc(nlp.vocab, words=words, spaces=spaces), reference)
            count += 1
            if count == self.limit:
                return

    def _tasks(self) -> Iterator[tuple[str, dict[str, Any]]]:
        for path in matching_files(self.path, (".jsonl", ".json")):
            if path.name.removesuffix(".gz").endswith(".jsonl"):
                yield from json_objects(path)
                continue
            try:
                found = json.loads(decoded(path.read_bytes(), path))
            except (ValueError, RecursionError) as error:
                raise ProblemError(f"{path.name}: no JSON ({error}).") from error
            if not isinstance(found, list) or not all(isinstance(task, dict) for task in found):
                raise ProblemError(f"{path.name}: expected a list of tasks, which are objects.")
            for number, task in enumerate(found, start=1):
                yield f"{path.name}, task {number}", task


def _document(nlp: Language, task: Task) -> Doc | None:
    """Make the document of one task; None if it was not answered, or not accepted."""
    if "data" in task:
        return _of_label_studio(nlp, task)
    if task.get("answer", "accept") != "accept":
        return None
    doc = _tokenized(nlp, task)
    spans = [_characters(span) for span in task.get("spans") or ()]
    relations = task.get("relations")
    stated = (task.get("meta") or {}).get("task")
    layer = stated or ("trees" if relations and "spans" not in task else "entities")
    if layer == "tags":
        _set_tags(doc, spans)
    elif layer == "trees":
        doc = _with_relations(doc, relations or ())
    elif task.keys() & {"spans", "answer"}:  # a bare text says nothing about its entities
        _set_entities(doc, spans)
    return doc


def _of_label_studio(nlp: Language, task: Task) -> Doc | None:
    answers = [of for of in task.get("annotations") or () if not of.get("was_cancelled")]
    if not answers:
        return None
    newest = max(answers, key=lambda of: str(of.get("updated_at") or of.get("created_at") or ""))
    doc = _tokenized(nlp, task["data"])
    entities: list[Labelled] = []
    tags: list[Labelled] = []
    for result in newest["result"]:
        if result.get("type") == "labels":
            for label in result["value"]["labels"]:
                at = _characters({**result["value"], "label": label})
                (tags if result.get("from_name") == "tag" else entities).append(at)
    if entities or not tags:
        _set_entities(doc, entities)
    _set_tags(doc, tags)
    return doc


def _tokenized(nlp: Language, fields: Task) -> Doc:
    """The text, cut as the task says, or else by the pipeline's tokenizer."""
    text, tokens = fields["text"], fields.get("tokens")
    if not tokens:
        return nlp.make_doc(text)
    words = [token["text"] for token in tokens]
    spaces = [text[token["end"] : token["end"] + 1] == " " for token in tokens]
    doc = Doc(nlp.vocab, words=words, spaces=spaces)
    if doc.text.rstrip() != text.rstrip():
        raise ValueError("the tokens are not those of the text")
    return doc


def _words_of(doc: Doc) -> tuple[list[str], list[bool]]:
    return [token.text for token in doc], [bool(token.whitespace_) for token in doc]


def _characters(span: Task) -> Labelled:
    return int(span["start"]), int(span["end"]), str(span["label"])


def _set_entities(doc: Doc, spans: Iterable[Labelled]) -> None:
    # of overlapping ones the longest: an entity has no other place in a Doc
    doc.set_ents(filter_spans([_span(doc, *span) for span in spans]), default="outside")


def _span(doc: Doc, start: int, end: int, label: str) -> Span:
    found = doc.char_span(start, end, label=label, alignment_mode="expand")
    if found is None or not label:
        raise ValueError(f"no span from character {start} to {end}, or no label")
    return found


def _set_tags(doc: Doc, spans: Iterable[Labelled]) -> None:
    for start, end, label in spans:
        for token in _span(doc, start, end, label):
            token.tag_ = label


def _with_relations(doc: Doc, relations: Sequence[Task]) -> Doc:
    """Return the document with heads and labels; a token without a relation is a root."""
    heads, deps = list(range(len(doc))), ["ROOT"] * len(doc)
    for relation in relations:
        child, head = int(relation["child"]), int(relation["head"])
        if not 0 <= head < len(doc):
            raise ValueError(f"a relation's head {head} is no token")
        heads[child], deps[child] = head, str(relation["label"])
    words, spaces = _words_of(doc)
    return Doc(doc.vocab, words=words, spaces=spaces, heads=heads, deps=deps)
