"""DocBin files, with errors that name the file."""

import zlib
from collections.abc import Iterable, Iterator
from pathlib import Path
from typing import Any

from spacy.tokens import Doc, DocBin, Span, Token
from spacy.vocab import Vocab

from ..errors import ProblemError
from .sentences import Sentence
from .words import as_bio

__all__ = ["docbin_docs", "read_docbin", "read_docs"]

#: The largest ratio of compression that is believed; documents have 10 to 20.
MOST_COMPRESSED = 200
#: Up to so many bytes of memory, files are read whatever their ratio.
LEAST_REFUSED = 1 << 28


def read_docbin(path: str | Path) -> DocBin:
    """Read a DocBin; `ProblemError` if the file is none."""
    try:
        data = Path(path).read_bytes()
        _check_size(data)
        return DocBin().from_bytes(data)
    except OSError:
        raise
    except Exception as error:  # zlib, msgpack, srsly or numpy may raise anything on such bytes
        raise ProblemError(f"{path} is not a DocBin ({error}).") from error


def _check_size(data: bytes) -> None:
    """Raise if compressed bytes would expand to far more than documents do, before they do."""
    most = max(LEAST_REFUSED, MOST_COMPRESSED * len(data))
    stream, size = zlib.decompressobj(), 0
    while data and not stream.eof:
        size += len(stream.decompress(data, 1 << 24))
        if size > most:
            raise ValueError(f"it would take more than {most >> 20:,} MB of memory")
        data = stream.unconsumed_tail


def docbin_docs(docbin: DocBin, path: str | Path, vocab: Vocab) -> Iterator[Doc]:
    """Make the documents of a DocBin, one by one.

    Raises `ProblemError` if one is damaged.
    """
    number = 1
    try:
        for doc in docbin.get_docs(vocab):
            yield doc
            number += 1
    except Exception as error:
        raise ProblemError(f"{path}, document {number}: damaged ({error!r}).") from error


def read_docs(path: str | Path) -> Iterator[Sentence]:
    """Read the sentences of a DocBin; a document without boundaries is one sentence."""
    for doc in docbin_docs(read_docbin(path), path, Vocab()):
        yield from map(_sentence, doc.sents if doc.has_annotation("SENT_START") else (doc[:],))


def _sentence(sent: Span) -> Sentence:
    def layer(name: str, values: Iterable[Any]) -> Any:
        return tuple(values) if sent.doc.has_annotation(name) else None

    def head(token: Token) -> int | None:
        inside = token.has_head() and sent.start <= token.head.i < sent.end
        return (token.head.i - sent.start + 1) * (token.head != token) if inside else None

    ents = (f"{t.ent_iob_}-{t.ent_type_}" if t.ent_type_ else t.ent_iob_ and "O" for t in sent)
    return Sentence(
        words=tuple(token.text for token in sent),
        spaces=tuple(bool(token.whitespace_) for token in sent),
        lemmas=layer("LEMMA", (token.lemma_ for token in sent)),
        pos=layer("POS", (token.pos_ for token in sent)),
        tags=layer("TAG", (token.tag_ for token in sent)),
        morphs=layer("MORPH", (str(token.morph) for token in sent)),
        heads=layer("DEP", map(head, sent)),
        deps=layer("DEP", (token.dep_ or None for token in sent)),
        ents=layer("ENT_IOB", as_bio(ents)),
        starts_document=sent.start == 0,
    )
