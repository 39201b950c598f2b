"""String tables and indexes that grow part by part in the files of a stage."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

from ...graph.strings import StringTable
from .stages import Stage
from .string_index import StringIndex, buckets_of

__all__ = [
    "append_index",
    "append_offsets",
    "append_strings",
    "finish_index",
    "index_of",
    "strings_of",
]


def append_offsets(stage: Stage, name: str, offsets: NDArray[Any], before: int) -> None:
    """Append the offsets of a part, of which `before` entries come before; the first is 0."""
    if not stage.size(name):
        stage.append(name, np.zeros(1, np.int64))
    stage.append(name, before + offsets[1:])


def append_strings(stage: Stage, name: str, table: StringTable) -> None:
    """Append strings to the table of that name."""
    append_offsets(stage, f"{name}.offsets", table.offsets, stage.size(f"{name}.data"))
    stage.append(f"{name}.data", table.data)


def append_index(stage: Stage, name: str, codes: NDArray[np.uint64], table: StringTable) -> None:
    """Append strings with larger hashes than all before, and these hashes, to an index."""
    append_strings(stage, name, table)
    stage.append(f"{name}.codes", codes)


def finish_index(stage: Stage, name: str) -> None:
    """Add the buckets once all strings are there."""
    stage.append(f"{name}.buckets", buckets_of(stage.read(f"{name}.codes", np.uint64)))


def strings_of(stage: Stage, name: str) -> StringTable:
    """The table of that name that a finished stage has."""
    return StringTable(
        stage.read(f"{name}.data", np.uint8), stage.read(f"{name}.offsets", np.int64)
    )


def index_of(stage: Stage, name: str) -> StringIndex:
    """The index of that name that a finished stage has."""
    codes, buckets = (
        stage.read(f"{name}.{part}", dtype)
        for part, dtype in (("codes", np.uint64), ("buckets", np.int64))
    )
    return StringIndex(codes, buckets, strings_of(stage, name))
