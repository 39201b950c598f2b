"""Files as they arrive when something went wrong, or when somebody wants it to."""

from __future__ import annotations

import numpy as np

__all__ = ["HOSTILE", "damaged"]

#: What is inserted: separators out of place, numbers out of range, bytes that are no text.
HOSTILE = (
    b"\x00",
    b"\xff\xfe",
    b"\t",
    b"\n\n",
    b'"',
    b"\\",
    b"{" * 2000,
    b"[" * 2000,
    b"-1",
    b"99999999999999999999",
    b"1e999",
    b"NaN",
    b"../../x",
    b"null",
    b"\xe2\x80\xa8",
    b"\xf0\x9f\x8e\x89",
)


def damaged(content: bytes, rng: np.random.Generator) -> bytes:
    """A copy of a file that is cut, has bits flipped, bytes inserted, or a part taken out."""
    place = int(rng.integers(0, len(content) + 1))
    kind = int(rng.integers(0, 4))
    if kind == 0:
        return content[:place]
    if kind == 1:
        flipped = bytearray(content)
        for at in rng.integers(0, len(content), int(rng.integers(1, 8))):
            flipped[at] ^= 1 << int(rng.integers(0, 8))
        return bytes(flipped)
    if kind == 2:
        what = HOSTILE[int(rng.integers(0, len(HOSTILE)))]
        return content[:place] + what + content[place:]
    return content[:place] + content[place + int(rng.integers(1, 40)) :]
