"""DocBin files, with errors that name the file."""

import zlib
from collections.abc import Iterator
from pathlib import Path

from spacy.tokens import Doc, DocBin
from spacy.vocab import Vocab

from ..errors import ProblemError

__all__ = ["docbin_docs", "read_docbin"]

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
