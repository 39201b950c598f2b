"""Checksums of files."""

from __future__ import annotations

import hashlib
from pathlib import Path

__all__ = ["file_digest"]


def file_digest(path: Path) -> str:
    """Return the SHA-256 of a file, in hexadecimal digits."""
    digest = hashlib.sha256()
    with path.open("rb") as stream:
        while block := stream.read(1 << 22):
            digest.update(block)
    return digest.hexdigest()
