"""The arrays of a concept graph, and the mapping from the caller's ids."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property

import numpy as np
from numpy.typing import NDArray

from .storage import StoredArrays

__all__ = ["GraphArrays"]


@dataclass(frozen=True, eq=False)
class GraphArrays:
    """The arrays of a graph."""

    # int64 (n + 1,) and int32 (2m,): sorted adjacency of the inner numbers, which go by descending
    # degree
    indptr: NDArray[np.int64]
    indices: NDArray[np.int32]
    ids: NDArray[np.int64]  # int64 (n,): the caller's ids, ascending
    inner: NDArray[np.int32]  # int32 (n,): the inner number of each of `ids`

    @classmethod
    def of_stored(cls, stored: StoredArrays) -> GraphArrays:
        """Take the arrays of a folder, and check that all indices are within the graph."""
        size = len(stored["ids"])
        stored.check_ascending("ids", strictly=True)
        stored.check_offsets("indptr", size, len(stored["indices"]))
        stored.check_range("indices", size)
        stored.check_size("inner", size)
        stored.check_range("inner", size)
        present = np.zeros(size, dtype=bool)
        present[stored["inner"]] = True
        if not present.all():
            stored.refuse("inner", "two vertices have one number")
        return cls(stored["indptr"], stored["indices"], stored["ids"], stored["inner"])

    @cached_property
    def outer(self) -> NDArray[np.int64]:
        """**Shape:** (n,): the ids of the inner numbers."""
        outer = np.empty(len(self.ids), dtype=np.int64)
        outer[self.inner] = self.ids
        return outer

    def places(self, wanted: NDArray[np.int64]) -> NDArray[np.int64]:
        """Return the indices of vertices, any valid index for unknown ones."""
        last = len(self.ids) - 1
        if self.ids[-1] - self.ids[0] == last:
            # contiguous ids need no search
            places: NDArray[np.int64] = np.clip(wanted - self.ids[0], 0, last)
            return places
        return np.minimum(np.searchsorted(self.ids, wanted), last)
