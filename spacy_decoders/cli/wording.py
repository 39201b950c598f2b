"""Counts in sentences."""

from __future__ import annotations

__all__ = ["counted"]


def counted(count: int, noun: str, plural: str = "") -> str:
    """A number and its noun.

    Examples
    --------
    >>> counted(1, "file"), counted(1000, "file"), counted(0, "alias", "aliases")
    ('1 file', '1,000 files', '0 aliases')
    """
    return f"{count:,} {noun if count == 1 else plural or noun + 's'}"
