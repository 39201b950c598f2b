"""Writing annotated documents: DocBin, JSON lines, parquet."""

from collections.abc import Callable, Iterable, Sequence
from pathlib import Path
from typing import Any, Literal

from spacy.tokens import Doc, DocBin, Span
from spacy.vocab import Vocab

from ..extras import needed
from .records import as_json

__all__ = ["WRITERS", "Format"]

Format = Literal["spacy", "jsonl", "parquet"]


def _annotations(doc: Doc) -> dict[str, Any]:
    """Return the annotations of a document, in plain JSON types.

    Per token: text, tag, part of speech, morphology, lemma, head, dependency; per entity, and span
    of a group: start and end in characters, label, ``kb_id`` and link; sentences, headlines,
    certificates and conflicts of demands. Places in all but entities and spans are tokens.
    """
    return {
        "id": doc.user_data.get("id", ""),
        "text": doc.text,
        "tokens": [token.text for token in doc],
        "tags": [token.tag_ for token in doc],
        "pos": [token.pos_ for token in doc],
        "morphs": [str(token.morph) for token in doc],
        "lemmas": [token.lemma_ for token in doc],
        "heads": [token.head.i for token in doc],
        "deps": [token.dep_ for token in doc],
        "sentences": [[sent.start, sent.end] for sent in doc.sents]
        if doc.has_annotation("SENT_START")
        else [],
        "ents": _rows_of(doc.ents),
        "spans": {name: _rows_of(group) for name, group in doc.spans.items()},
        # documents that were read may have foreign values in these
        "headline": doc._.headline if isinstance(doc._.headline, str) else "",
        "headlines": doc._.headlines,
        "certificates": doc._.certificates,
        "conflicts": doc._.conflicts,
    }


def _rows_of(spans: Iterable[Span]) -> list[dict[str, Any]]:
    return [
        {
            "start": span.start_char,
            "end": span.end_char,
            "label": span.label_,
            "kb_id": span.kb_id_,
            "link": span._.link,
        }
        for span in spans
    ]


def _other_fields(doc: Doc, annotations: dict[str, Any]) -> dict[str, Any]:
    """Return the other fields of the input; ``input_...`` if named like an annotation."""
    return {
        f"input_{name}" if name in annotations else name: value
        for name, value in doc.user_data.items()
        if isinstance(name, str) and name != "id"
    }


def _write_docbin(docs: Sequence[Doc], path: Path) -> None:
    DocBin(docs=docs, store_user_data=True).to_disk(path)


def _write_lines(docs: Sequence[Doc], path: Path) -> None:
    with path.open("w", encoding="utf8") as lines:
        for doc in docs:
            row = _annotations(doc)
            lines.write(as_json(row | _other_fields(doc, row)) + "\n")


def _write_parquet(docs: Sequence[Doc], path: Path) -> None:
    parquet = needed("pyarrow.parquet", "parquet", "format")
    pyarrow = needed("pyarrow", "parquet", "format")
    rows = [_columns(doc) for doc in docs]
    are_numbers = rows and all(type(row["id"]) is int for row in rows)
    if not are_numbers:
        rows = [{**row, "id": str(row["id"])} for row in rows]
    ids = pyarrow.int64() if are_numbers else pyarrow.string()
    parquet.write_table(pyarrow.Table.from_pylist(rows, schema=_schema(pyarrow, ids)), path)


def _columns(doc: Doc) -> dict[str, Any]:
    """Return the annotations, and the other fields in one column, so that all parts agree."""
    columns = _annotations(doc)
    columns["fields"] = _other_fields(doc, columns)
    # these have no fixed schema, so columns hold JSON
    for name in ("ents", "spans", "headlines", "certificates", "conflicts", "fields"):
        columns[name] = as_json(columns[name])
    return columns


def _schema(pyarrow: Any, ids: Any) -> Any:
    """The schema, the same for all shards with ids of one type."""
    strings, numbers = pyarrow.list_(pyarrow.string()), pyarrow.list_(pyarrow.int64())
    lists = dict.fromkeys(("tokens", "tags", "pos", "morphs", "lemmas", "deps"), strings)
    kinds = {**lists, "id": ids, "heads": numbers, "sentences": pyarrow.list_(numbers)}
    columns = _columns(Doc(Vocab()))
    return pyarrow.schema([(name, kinds.get(name, pyarrow.string())) for name in columns])


#: How to write documents in each format, which is the file's suffix, too.
WRITERS: dict[Format, Callable[[Sequence[Doc], Path], None]] = {
    "spacy": _write_docbin,
    "jsonl": _write_lines,
    "parquet": _write_parquet,
}
