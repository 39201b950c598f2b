"""Tables of words that ship: saved pipelines name them instead of having copies."""

from __future__ import annotations

import hashlib
from collections.abc import Sequence
from pathlib import Path
from typing import Any

from numpy.typing import NDArray

from ..saved import damaged

__all__ = ["FOLDER", "hash_of", "name_of", "resolved", "shipped_table"]

#: Files are called by kind and language, and by the hash of their numbers, such as
#: ``clusters-en-0123456789abcdef``. None is ever removed: saved pipelines name them.
FOLDER = Path(__file__).parents[2] / "data" / "tables"

_MARK = b"table:"


def shipped_table(kind: str, lang: str) -> bytes | None:
    """Return the table of a kind for a language; None if there is none."""
    found = [file for file in FOLDER.glob("*-*-*") if file.name.startswith(f"{kind}-{lang}-")]
    return max(found).read_bytes() if found else None


def hash_of(columns: Sequence[NDArray[Any]]) -> str:
    """Return the hash of a table's numbers, which no compression changes."""
    hashed = hashlib.sha256()
    for column in columns:
        hashed.update(f"{column.dtype.str} {column.shape}".encode())
        hashed.update(column.tobytes())
    return hashed.hexdigest()[:16]


def name_of(columns: Sequence[NDArray[Any]]) -> bytes | None:
    """Return what stands for a table in saved pipelines if it ships; else None."""
    name = hash_of(columns)
    return _MARK + name.encode() if any(FOLDER.glob(f"*-{name}")) else None


def resolved(data: bytes, part: str) -> bytes:
    """Return the table that a name stands for; other content as it is.

    Raises
    ------
    StorageError
        If this installation does not have the table.
    """
    if not data.startswith(_MARK):
        return data
    name = data.removeprefix(_MARK).decode("ascii", "replace")
    for file in FOLDER.glob("*-*-*"):
        if file.name.endswith(f"-{name}"):
            return file.read_bytes()
    raise damaged(part, f"this release of spacy-decoders has no table {name!r:.40}")
