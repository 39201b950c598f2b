"""Distances by breadth-first search alone: the reference, and the methods without an index."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray

from ..arrays import read_only
from .kernels.searching import breadth_first, first_hits, multi_source

__all__ = ["early_stop_hitting", "plain_distances", "search_distances"]


def plain_distances(
    indptr: NDArray[np.int64], indices: NDArray[np.int32], rows: NDArray[np.int32]
) -> NDArray[np.int32]:
    """**Shape:** (v, v): one whole search from each vertex."""
    return np.array(
        [breadth_first(indptr, indices, source)[rows] for source in rows], dtype=np.int32
    ).reshape(len(rows), len(rows))


def search_distances(
    indptr: NDArray[np.int64],
    indices: NDArray[np.int32],
    rows: NDArray[np.int32],
    columns: Sequence[NDArray[Any]],
    sources: NDArray[np.int64],
) -> NDArray[np.int32]:
    """Search from up to 64 vertices at once.

    Parameters
    ----------
    rows
        **Shape:** (v,): vertices.
    columns
        `b` arrays of positions in `rows`.
    sources
        **Shape:** (a,): positions in `rows`.

    Returns
    -------
    **Shape:** (a, b), int32: from each source to the nearest of each column, or -1.
    """
    far = np.iinfo(np.int32).max
    size = len(indptr) - 1
    flat = np.concatenate([*columns, np.empty(0, dtype=np.int64)]).astype(np.int64)
    starts = np.cumsum([0, *(len(column) for column in columns)])[:-1]
    out = np.empty((len(sources), len(columns)), dtype=np.int32)
    for first in range(0, len(sources), 64):
        batch = sources[first : first + 64]
        found = np.full((len(rows), 64), far, dtype=np.int32)
        multi_source(indptr, indices, read_only(rows[batch]), rows, 0, size, False, found)
        if len(columns):
            nearest = np.minimum.reduceat(found[flat], starts)
            out[first : first + 64] = nearest[:, : len(batch)].T
    out[out == far] = -1
    return out


def early_stop_hitting(
    indptr: NDArray[np.int64],
    indices: NDArray[np.int32],
    rows: NDArray[np.int32],
    columns: Sequence[NDArray[Any]],
    sources: NDArray[np.int32],
) -> NDArray[np.int32]:
    """**Shape:** (a, b): one search from each source, until every column has been hit.

    `rows` and `columns` as of :func:`search_distances`; `sources` are vertices.

    References
    ----------
    Blanco, Boldi, Marino 2014, section 5.2.
    """
    members = np.concatenate([rows[column] for column in columns])
    of_column = np.repeat(np.arange(len(columns)), [len(column) for column in columns])
    order = np.argsort(members, kind="stable")
    unique, member_starts = np.unique(members[order], return_index=True)
    member_starts = np.append(member_starts, len(members))
    out = np.empty((len(sources), len(columns)), dtype=np.int32)
    for source, hits in zip(sources, out, strict=True):
        first_hits(
            indptr, indices, source, unique, member_starts, len(columns), of_column[order], hits
        )
    return out
