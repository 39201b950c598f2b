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
from typing import Any

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
    """What a model file says."""

    #: The labels in the order of their numbers.
    labels: tuple[str, ...]
    #: The number of each attribute.
    attributes: dict[str, int]
    #: **Shape (L, L)**, float64: from-row to column; 0 where there is no feature.
    transitions: NDArray[np.float64]
    #: A sparse array, **shape (attributes, L)**, float64: what each label gains by an attribute.
    weights: Any


def read_model_file(source: str | PathLike[str] | bytes) -> ModelFile:
    """Read a model file, and check all of it that is used.

    ``pycrfsuite.Tagger.info()`` is no way to do it: it prints weights to six digits, and fails on
    attributes with line breaks, as the model of usaddress has them.

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
    try:
        return _parsed(content)
    except (ValueError, struct.error) as error:
        raise ProblemError(
            "model file: it is no first-order model of CRFsuite 0.12 (lCRF, FOMC, version "
            f"{VERSION}), or damaged: {error}."
        ) from error


def _parsed(content: bytes) -> ModelFile:
    """Read the content of a file; what is damaged raises, as numpy, struct or the checks say."""
    from scipy.sparse import csr_array

    magic, size, kind, version, _, label_count, attribute_count, *offsets = HEADER.unpack_from(
        content
    )
    _check(magic == b"lCRF" and kind == b"FOMC" and version == VERSION, "another header")
    _check(size == len(content), f"it should have {size} bytes and has {len(content)}")
    feature_offset, label_offset, attribute_offset = offsets[:3]
    labels = _strings(content[label_offset:], label_count)
    attributes = _strings(content[attribute_offset:], attribute_count)
    chunk, _, count = CHUNK.unpack_from(content, feature_offset)
    _check(chunk == b"FEAT", "no features")
    features = np.frombuffer(content, FEATURE, count, feature_offset + CHUNK.size)
    states = features[features["kind"] == STATE]
    links = features[features["kind"] == TRANSITION]
    _check(len(states) + len(links) == count, "a feature is of neither a state nor a transition")
    _check(bool(np.isfinite(features["weight"]).all()), "a weight is no finite number")
    for numbers, names in (
        (states["source"], attributes),
        (states["target"], labels),
        (links["source"], labels),
        (links["target"], labels),
    ):
        _check(int(numbers.max(initial=0)) < max(1, len(names)), "a feature has no such name")
    transitions = np.zeros((len(labels), len(labels)))
    transitions[links["source"], links["target"]] = links["weight"]
    shape = len(attributes), len(labels)
    return ModelFile(
        tuple(labels),
        {attribute: number for number, attribute in enumerate(attributes)},
        read_only(transitions),
        csr_array((states["weight"], (states["source"], states["target"])), shape=shape),
    )


def _strings(content: bytes, count: int) -> list[str]:
    """Read the database of strings that content begins with, in the order of their numbers."""
    magic, size, _, order, listed, list_offset = DATABASE.unpack_from(content)
    _check(magic == b"CQDB" and order == BYTE_ORDER and listed == count, "no list of names")
    _check(size <= len(content), "the names are cut off")
    content = content[:size]
    strings = []
    for number, offset in enumerate(np.frombuffer(content, "<u4", count, list_offset).tolist()):
        own, length = struct.unpack_from("<II", content, offset)
        string = content[offset + 8 : offset + 8 + length]
        _check(own == number and len(string) == length, "a name is cut off, or not in order")
        _check(string.endswith(b"\0"), "a name without its end")
        strings.append(string[:-1].decode("utf8"))
    _check(len(set(strings)) == count, "a name is there twice")
    return strings


def _check(holds: bool, fault: str) -> None:
    if not holds:
        raise ValueError(fault)
