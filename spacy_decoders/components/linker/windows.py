"""Cutting a document with very many mentions into overlapping windows."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np
from numpy.typing import NDArray

if TYPE_CHECKING:
    from ...knowledge.candidates import CandidateTable

__all__ = ["LinkWindow", "link_windows"]


@dataclass(frozen=True, eq=False)
class LinkWindow:
    """Mentions that are decoded together."""

    #: Their places in the whole table.
    mentions: Sequence[int]
    #: For which of them this window decides: those that it has most context for.
    keeps: Sequence[bool]
    #: Their candidates.
    table: CandidateTable
    #: Rows of the candidates in the whole table.
    rows: NDArray[np.int64]


def link_windows(table: CandidateTable, size: int) -> list[LinkWindow]:
    """Cut into windows of at most `size` mentions that overlap by half; none without mentions.

    Each mention is decided in exactly one window, the one whose middle it is nearest to.
    """
    count = len(table.mentions)
    if not count:
        return []
    if count <= size:
        rows = np.arange(len(table))
        return [LinkWindow(range(count), [True] * count, table, rows)]
    step = max(1, size // 2)
    starts = [*range(0, count - size, step), count - size]
    middles = np.array([start + (size - 1) / 2 for start in starts])
    decided_by = [int(np.argmin(np.abs(middles - mention))) for mention in range(count)]
    windows = []
    for number, start in enumerate(starts):
        mentions = range(start, start + size)
        windows.append(
            LinkWindow(
                mentions,
                [decided_by[mention] == number for mention in mentions],
                table.of(mentions),
                np.arange(table.offsets[start], table.offsets[start + size]),
            )
        )
    return windows
