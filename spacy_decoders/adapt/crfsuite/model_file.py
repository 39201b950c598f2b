"""Reading the binary model files of CRFsuite (first-order Markov CRFs with dyad features).

A file has a header; the list of features, each with its weight; labels and attributes, as
constant databases (CQDB) from strings to numbers, which also list their strings in order; and two
lists of references to features, which are not needed here. All numbers are little-endian.
"""

from __future__ import annotations

import struct
from dataclasses import dataclass
from os import PathLike
from pathlib import Path

import numpy as np
from numpy.typing import NDArray

from ...arrays import read_only
from ...errors import ProblemError

__all__ = ["ModelFile", "read_model_file"]

HEADER = struct.Struct("<4sI4sIIIIIIIII")
CHUNK = struct.Struct("<4sII")
DATABASE = struct.Struct("<4sIIIII")
FEATURE = np.dtype([("kind", "<u4"), ("source", "<u4"), ("target", "<u4"), ("weight", "<f8")])

#: What stands in every database, so that a reader knows the order of bytes.
BYTE_ORDER = 0x62445371
VERSION = 100
STATE, TRANSITION = 0, 1


@dataclass(frozen=True, eq=False)
class ModelFile:
    """What a model file says.

    Attributes
    ----------
    labels
        The labels in the order of their numbers.
    attributes
        The number of each attribute.
    transitions
        **Shape (L, L)**, float64: from-row to column; 0 where there is no feature.
    offsets
        **Shape (attributes + 1,)**, int64: attribute a has the features
        ``offsets[a]:offsets[a + 1]``.
    feature_labels, feature_weights
        **Shape (features,)**, int32 and float64: a label, and what it gains by the attribute.
    """

    labels: tuple[str, ...]
    attributes: dict[str, int]
    transitions: NDArray[np.float64]
    offsets: NDArray[np.int64]
    feature_labels: NDArray[np.int32]
    feature_weights: NDArray[np.float64]


def read_model_file(source: str | PathLike[str] | bytes) -> ModelFile:
    """Read a model file, and check all of it that is used.

    Parameters
    ----------
    source
        Its path, or its content.

    Raises
    ------
    ProblemError
        If it is no model of CRFsuite's, is damaged, or of a kind that is not known.
    OSError
        If it can't be read.

    References
    ----------
    Okazaki 2007, *CRFsuite: a fast implementation of Conditional Random Fields*.
    """
    content = source if isinstance(source, bytes) else Path(source).read_bytes()
    if len(content) < HEADER.size:
        raise _damaged("it is shorter than a header")
    magic, size, kind, version, _, label_count, attribute_count, *offsets = HEADER.unpack_from(
        content
    )
    if magic != b"lCRF" or kind != b"FOMC" or version != VERSION:
        raise ProblemError(
            "model file: expected a first-order model of CRFsuite 0.12 (lCRF, FOMC, version "
            f"{VERSION}); got {magic!r}, {kind!r}, {version}."
        )
    if size != len(content):
        raise _damaged(f"it should have {size} bytes and has {len(content)}")
    feature_offset, label_offset, attribute_offset = offsets[:3]
    labels = _strings(content, label_offset, label_count, "labels")
    attributes = _strings(content, attribute_offset, attribute_count, "attributes")
    features = _features(content, feature_offset)
    states = features[features["kind"] == STATE]
    links = features[features["kind"] == TRANSITION]
    if len(states) + len(links) < len(features):
        raise _damaged("a feature is neither of a state nor of a transition")
    _check_range(states["source"], len(attributes), "attribute")
    for part in (states["target"], links["source"], links["target"]):
        _check_range(part, len(labels), "label")
    transitions = np.zeros((len(labels), len(labels)))
    transitions[links["source"], links["target"]] = links["weight"]
    states = states[np.argsort(states["source"], kind="stable")]
    starts = np.searchsorted(states["source"], np.arange(len(attributes) + 1))
    return ModelFile(
        tuple(labels),
        {attribute: number for number, attribute in enumerate(attributes)},
        read_only(transitions),
        read_only(starts.astype(np.int64)),
        read_only(states["target"].astype(np.int32)),
        read_only(states["weight"].astype(np.float64)),
    )


def _features(content: bytes, offset: int) -> NDArray[np.void]:
    """Read the chunk of all features."""
    if offset + CHUNK.size > len(content):
        raise _damaged("the features lie outside")
    chunk, _, count = CHUNK.unpack_from(content, offset)
    begin = offset + CHUNK.size
    if chunk != b"FEAT" or begin + count * FEATURE.itemsize > len(content):
        raise _damaged("the features are cut off")
    features = np.frombuffer(content, FEATURE, count, begin)
    if not np.isfinite(features["weight"]).all():
        raise _damaged("a weight is no finite number")
    return features


def _strings(content: bytes, offset: int, count: int, what: str) -> list[str]:
    """Read a database of strings, in the order of their numbers."""
    if offset + DATABASE.size > len(content):
        raise _damaged(f"the {what} lie outside")
    magic, size, _, order, listed, list_offset = DATABASE.unpack_from(content, offset)
    fits = DATABASE.size <= size <= len(content) - offset
    if magic != b"CQDB" or order != BYTE_ORDER or not fits:
        raise _damaged(f"the {what} are no database")
    data = memoryview(content)[offset : offset + size]
    if listed != count or list_offset + 4 * count > size:
        raise _damaged(f"expected a list of {count} {what}")
    records = np.frombuffer(data, "<u4", count, list_offset).tolist()
    found = [_record(data, record, what) for record in records]
    if [number for number, _ in found] != list(range(count)):
        raise _damaged(f"the {what} are not in order")
    strings = [string for _, string in found]
    if len(set(strings)) < count:
        raise _damaged(f"one of the {what} is there twice")
    return strings


def _record(data: memoryview, offset: int, what: str) -> tuple[int, str]:
    """Read the number and the string of one record; the string ends with a zero byte."""
    if offset + 8 > len(data):
        raise _damaged(f"one of the {what} lies outside")
    number, length = struct.unpack_from("<II", data, offset)
    string = bytes(data[offset + 8 : offset + 8 + length])
    if not length or len(string) < length or string[-1]:
        raise _damaged(f"one of the {what} is cut off")
    try:
        return number, string[:-1].decode("utf8")
    except UnicodeDecodeError as error:
        raise _damaged(f"one of the {what} is no UTF-8") from error


def _check_range(numbers: NDArray[np.uint32], count: int, what: str) -> None:
    if len(numbers) and int(numbers.max()) >= count:
        raise _damaged(f"a feature has the {what} {int(numbers.max())} of {count}")


def _damaged(why: str) -> ProblemError:
    return ProblemError(f"model file: it is no model of CRFsuite, or damaged: {why}.")
