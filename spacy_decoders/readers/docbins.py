"""DocBin files, with errors that name the file."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

from spacy.tokens import Doc, DocBin
from spacy.vocab import Vocab

from ..errors import ProblemError

__all__ = ["docbin_docs", "read_docbin"]


def read_docbin(path: str | Path) -> DocBin:
    """Read a file of documents.

    Raises
    ------
    ProblemError
        If it is none.
    """
    try:
        return DocBin().from_disk(path)
    except OSError:
        raise
    except Exception as error:  # of zlib, msgpack, srsly, numpy: whatever the bytes set off
        raise ProblemError(f"{path} is not a DocBin ({error}).") from error


def docbin_docs(docbin: DocBin, path: str | Path, vocab: Vocab) -> Iterator[Doc]:
    """Make the documents of a DocBin, one by one.

    Raises
    ------
    ProblemError
        If what is stored of one makes no document.
    """
    docs = docbin.get_docs(vocab)
    for number in range(1, len(docbin) + 1):
        try:
            yield next(docs)
        except StopIteration:
            return
        except Exception as error:
            raise ProblemError(f"{path}, document {number}: damaged ({error!r}).") from error
