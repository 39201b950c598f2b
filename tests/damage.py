"""Files as they arrive when something went wrong, or when somebody wants it to."""

from typing import Any

import numpy as np
import srsly

__all__ = ["HOSTILE", "damaged", "mutated"]

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


#: What stands in the place of a value: other types, and numbers out of range.
STRANGE = (None, -1, 0, 3, 2**31, 2**62, 1e300, float("nan"), "x", "../../x", [], {}, True)


def mutated(tree: Any, rng: np.random.Generator) -> Any:
    """A copy of nested values in which one is missing, repeated, or another one.

    Bytes that are msgpack themselves are entered, too.
    """
    if isinstance(tree, bytes) and len(tree) > 8 and rng.random() < 0.9:
        try:
            inner = srsly.msgpack_loads(tree)
        except Exception:  # of any kind, as damaged bytes may stand for anything
            return damaged(tree, rng)
        if isinstance(inner, dict | list):
            return srsly.msgpack_dumps(mutated(inner, rng))
        return damaged(tree, rng)
    if isinstance(tree, np.ndarray):
        return _mutated_array(tree, rng)
    if not isinstance(tree, dict | list) or not tree or rng.random() < 0.05:
        return STRANGE[int(rng.integers(len(STRANGE)))]
    keys = list(tree) if isinstance(tree, dict) else list(range(len(tree)))
    key = keys[int(rng.integers(len(keys)))]
    copied = tree.copy()
    kind = rng.random()
    if kind < 0.08:
        del copied[key]
    elif kind < 0.12 and isinstance(copied, list):
        copied.append(tree[key])
    else:
        copied[key] = mutated(tree[key], rng)
    return copied


def _mutated_array(array: np.ndarray, rng: np.random.Generator) -> np.ndarray:
    """Another shape, kind of numbers, or some numbers that are none."""
    kind = int(rng.integers(6))
    if kind == 0:
        return array[: len(array) // 2] if array.ndim else array
    if kind == 1:
        return array.reshape(-1)
    if kind == 2:
        return array.astype(np.float64 if array.dtype.kind == "f" else np.int8)
    if kind == 3:
        return np.concatenate([array, array]) if array.ndim else array
    changed = array.copy()
    if not changed.size:
        return changed
    values = [np.nan, np.inf, 3e38] if array.dtype.kind == "f" else [-1, 0, 120]
    share = rng.integers(changed.size, size=1 + changed.size // 50)
    changed.reshape(-1)[share] = np.array(values[int(rng.integers(3))]).astype(array.dtype)
    return changed
