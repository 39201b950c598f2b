"""The width of a text, which can only be estimated without fonts."""

from __future__ import annotations

import unicodedata

__all__ = ["text_width"]


def text_width(text: str) -> float:
    """Estimate the width of a text at 14 pixels, on the safe side."""
    return sum(14.5 if unicodedata.east_asian_width(c) in "WF" else 8.3 for c in text)
