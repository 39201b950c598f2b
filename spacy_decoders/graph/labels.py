"""The names of the vertices, in two arrays that can be mapped into memory."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any, overload

import numpy as np
from numpy.typing import NDArray

from ..arrays import read_only

__all__ = ["Labels"]


class Labels(Sequence[str]):
    """Strings laid end to end as UTF-8.

    Examples
    --------
    >>> labels = Labels.build(np.array([3, 5]), {5: "Zürich"})
    >>> list(labels)
    ['', 'Zürich']
    """

    def __init__(self, starts: NDArray[np.int64], text: NDArray[np.uint8]) -> None:
        self.starts = starts
        self.text = text

    @classmethod
    def build(cls, ids: NDArray[np.int64], names: Mapping[int, str]) -> Labels:
        """Lay out the names of `ids`, empty where there is none."""
        encoded = [names.get(int(i), "").encode() for i in ids]
        starts = np.cumsum([0, *(len(name) for name in encoded)], dtype=np.int64)
        text = np.frombuffer(b"".join(encoded), dtype=np.uint8)
        return cls(read_only(starts), read_only(text))

    def __len__(self) -> int:
        return len(self.starts) - 1

    @overload
    def __getitem__(self, at: int) -> str: ...
    @overload
    def __getitem__(self, at: slice) -> list[str]: ...
    def __getitem__(self, at: Any) -> Any:
        if isinstance(at, slice):
            return [self[i] for i in range(*at.indices(len(self)))]
        at = range(len(self))[at]
        return self.text[self.starts[at] : self.starts[at + 1]].tobytes().decode()
