"""Writing annotated documents: DocBin, JSON lines, parquet."""

from __future__ import annotations

import json
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any, Literal

from spacy.tokens import Doc, DocBin

from ..errors import ProblemError

__all__ = ["ENDINGS", "Format", "as_row", "writer"]

Format = Literal["spacy", "jsonl", "parquet"]

ENDINGS: dict[str, str] = {"spacy": ".spacy", "jsonl": ".jsonl", "parquet": ".parquet"}


def writer(format: Format) -> Callable[[Sequence[Doc], Path], None]:
    """Return the function that writes documents to a file in the format."""
    writers = {"spacy": _write_docbin, "jsonl": _write_lines, "parquet": _write_parquet}
    if format not in writers:
        raise ProblemError(f"format: expected one of {sorted(writers)}, got {format!r}.")
    return writers[format]


def as_row(doc: Doc) -> dict[str, Any]:
    """Return a document's annotations as plain JSON types.

    Per token: text, whitespace, tag, part of speech, head (index in the document),
    dependency; per entity: characters, label, ``kb_id`` and link; the headlines; the
    certificates.
    """
    return {
        "id": str(doc.user_data.get("id", "")),
        "text": doc.text,
        "tokens": [token.text for token in doc],
        "tags": [token.tag_ for token in doc],
        "pos": [token.pos_ for token in doc],
        "heads": [token.head.i for token in doc],
        "deps": [token.dep_ for token in doc],
        "sentences": [[sent.start, sent.end] for sent in doc.sents]
        if doc.has_annotation("SENT_START")
        else [],
        "ents": [
            {
                "start": ent.start_char,
                "end": ent.end_char,
                "label": ent.label_,
                "kb_id": ent.kb_id_,
                "link": dict(ent._.link),
            }
            for ent in doc.ents
        ],
        "headline": doc._.headline,
        "headlines": list(doc._.headlines),
        "certificates": dict(doc._.certificates),
    }


def _write_docbin(docs: Sequence[Doc], path: Path) -> None:
    DocBin(docs=docs, store_user_data=True).to_disk(path)


def _write_lines(docs: Sequence[Doc], path: Path) -> None:
    with path.open("w", encoding="utf8") as lines:
        for doc in docs:
            lines.write(json.dumps(as_row(doc), ensure_ascii=False) + "\n")


def _write_parquet(docs: Sequence[Doc], path: Path) -> None:
    try:
        import pyarrow
        import pyarrow.parquet
    except ImportError as error:
        raise ProblemError(
            "format: parquet needs pyarrow: pip install 'spacy-decoders[parquet]'."
        ) from error
    rows = [as_row(doc) for doc in docs]
    for row in rows:
        # of no fixed shape, so JSON inside a column
        for name in ("ents", "headlines", "certificates"):
            row[name] = json.dumps(row[name], ensure_ascii=False)
    pyarrow.parquet.write_table(pyarrow.Table.from_pylist(rows, schema=_schema(pyarrow)), path)


def _schema(pyarrow: Any) -> Any:
    """The same for every shard, also for one without documents."""
    strings, numbers = pyarrow.list_(pyarrow.string()), pyarrow.list_(pyarrow.int64())
    return pyarrow.schema(
        {
            "id": pyarrow.string(),
            "text": pyarrow.string(),
            "tokens": strings,
            "tags": strings,
            "pos": strings,
            "heads": numbers,
            "deps": strings,
            "sentences": pyarrow.list_(numbers),
            "ents": pyarrow.string(),
            "headline": pyarrow.string(),
            "headlines": pyarrow.string(),
            "certificates": pyarrow.string(),
        }
    )
