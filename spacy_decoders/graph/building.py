"""Turning edge lists into the arrays of a concept graph."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray
from tqdm import tqdm

from ..arrays import checked_indices, read_only
from ..errors import ProblemError
from .adjacency import GraphArrays
from .kernels.building import components, deduplicated, ordered, symmetrised

__all__ = ["build"]


def build(
    edges: ArrayLike, vertices: ArrayLike | None, largest_component: bool, progress: bool
) -> GraphArrays:
    """Symmetrise, drop loops and repeats, and order by degree; ties by the caller's id."""
    given = np.asarray(edges)
    if given.size == 0:
        given = np.empty((0, 2), dtype=np.int64)
    if given.dtype != np.int32:
        given = checked_indices("edges", given, (None, 2), dtype=np.int64)
    elif given.ndim != 2 or given.shape[1] != 2:
        raise ProblemError(f"edges: expected shape (any, 2), got {given.shape}.")
    given = np.ascontiguousarray(given)
    with tqdm(total=5, desc="building the graph", disable=not progress) as bar:
        ids, numbered = _numbered(given, vertices)
        if len(ids) >= 2**31 - 1:
            raise ProblemError(f"edges: at most 2**31 - 2 vertices fit; got {len(ids)}.")
        bar.update()
        indptr, indices = symmetrised(read_only(numbered), len(ids))
        del numbered, given
        bar.update()
        indices, degrees = deduplicated(indptr, indices)
        bar.update()
        kept = np.arange(len(ids))
        if largest_component and len(ids):
            component = components(indptr, indices, degrees)
            kept = np.flatnonzero(component == np.argmax(np.bincount(component)))
        bar.update()
        order = kept[np.argsort(-degrees[kept], kind="stable")]
        indptr, indices = ordered(indptr, indices, degrees, order)
        inner = np.empty(len(order), dtype=np.int32)
        inner[np.searchsorted(kept, order)] = np.arange(len(order), dtype=np.int32)
        bar.update()
    return GraphArrays(*map(read_only, (indptr, indices, ids[kept], inner)))


def _numbered(
    edges: NDArray[Any], vertices: ArrayLike | None
) -> tuple[NDArray[np.int64], NDArray[Any]]:
    """Return the sorted ids and the edges by their ranks."""
    extra = np.empty(0, dtype=np.int64)
    if vertices is not None:
        extra = checked_indices("vertices", vertices, (None,), dtype=np.int64)
    low = min(int(edges.min(initial=0)), int(extra.min(initial=0)))
    high = max(int(edges.max(initial=-1)), int(extra.max(initial=-1)))
    if low >= 0 and high < 4 * (edges.size + extra.size) + 64:
        # dense ids: a table instead of a sort
        present = np.zeros(high + 1, dtype=bool)
        present[edges.ravel()] = True
        present[extra] = True
        ids = np.flatnonzero(present).astype(np.int64)
        if len(ids) == high + 1:
            return ids, edges
        rank = np.cumsum(present, dtype=np.int64) - 1
        return ids, rank.astype(np.int32)[edges]
    ids = np.unique(np.concatenate([edges.ravel(), extra])).astype(np.int64)
    return ids, np.searchsorted(ids, edges).astype(np.int32)
