"""Labels of several targets: each is worth what its parts are worth."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
from numpy.typing import NDArray

from ....errors import ProblemError

__all__ = ["LabelParts"]

Floats = NDArray[np.float32]


class LabelParts:
    """Adds up the scores of parts to those of labels.

    Parameters
    ----------
    labels
        The parts of each label, one for each target.

    Raises
    ------
    ProblemError
        If labels have different numbers of parts.

    Examples
    --------
    >>> parts = LabelParts([("NN", "O"), ("NNP", "O"), ("NNP", "B-PER")])
    >>> len(parts)
    4
    >>> parts.joined(np.array([[1, 10, 2, 20]], dtype=np.float32)).tolist()
    [[11.0, 12.0, 22.0]]
    """

    def __init__(self, labels: Sequence[Sequence[str]]) -> None:
        if len(set(map(len, labels))) > 1:
            raise ProblemError("labels: each should have one part for each target.")
        # in the order of labels, so that new ones at the end bring new parts at the end
        numbers: dict[tuple[int, str], int] = {}
        columns = [
            [numbers.setdefault((target, part), len(numbers)) for target, part in enumerate(label)]
            for label in labels
        ]
        self._columns = np.array(columns, dtype=np.int64).reshape(len(labels), -1)
        self._size = len(numbers)

    def __len__(self) -> int:
        return self._size

    def joined(self, scores: Floats) -> Floats:
        """**Shape (n, labels)**: from the scores of parts, **shape (n, parts)**."""
        total = np.zeros((len(scores), len(self._columns)), dtype=np.float32)
        for columns in self._columns.T:
            total += scores[:, columns]
        return total

    def divided(self, gradient: Floats) -> Floats:
        """**Shape (n, parts)**: the gradient of parts, from that of labels."""
        of_parts = np.zeros((len(self._columns), len(self)), dtype=np.float32)
        for columns in self._columns.T:
            of_parts[np.arange(len(columns)), columns] = 1.0
        return gradient @ of_parts
