"""The weights of the sparse model, trained by AdaGrad on the rows that a batch has met."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any, NamedTuple

import numpy as np
import srsly
from numpy.typing import NDArray
from thinc.api import Shim

from ....errors import ProblemError
from ...clusters.table import ClusterTable
from ...saved import damaged, fields_of, message_of, whole_number
from .gazetteer import PhraseTable
from .kernels.learning import Pace, Trained, add_rows, descend
from .packing import MOST_LABELS, Packed, from_columns, pack, to_columns

__all__ = ["Learning", "SparseWeights"]

Rows = NDArray[np.int32]
Floats = NDArray[np.float32]


class Learning(NamedTuple):
    """How weights are learned and saved."""

    #: There are 2 to the power of this rows of weights.
    bits: int = 20
    #: The step size of AdaGrad.
    learn_rate: float = 0.1
    #: The weights of both penalties, for each batch.
    l1: float = 1e-4
    l2: float = 1e-3
    #: Weights whose absolute value is not more than this are not saved.
    least: float = 0.01

    def check(self) -> None:
        """Refuse what is out of range."""
        if not 8 <= self.bits <= 26:
            raise ProblemError(f"bits: expected 8 to 26, got {self.bits}.")
        if not self.learn_rate > 0 or not min(self.l1, self.l2, self.least) >= 0:
            raise ProblemError(
                "learn_rate must be positive, l1, l2 and least not negative; got "
                f"{self.learn_rate}, {self.l1}, {self.l2} and {self.least}."
            )


class SparseWeights(Shim):  # type: ignore[misc]
    """Weights by rows, as thinc knows what it does not train itself.

    thinc's optimizer is not asked: what a batch has not met is not even looked at.
    """

    def __init__(self, learning: Learning) -> None:
        learning.check()
        super().__init__(None)
        self.learning = learning
        self.clusters: ClusterTable | None = None
        self.groups: ClusterTable | None = None
        self.phrases: PhraseTable | None = None
        self.size = 0
        self.version = 0
        self._packed: Packed | None = None
        self._dense: Floats | None = None
        self._state: Trained | None = None
        self._step = 0
        self._met: list[tuple[Rows, Floats]] = []
        # what was loaded, as long as the weights are those
        self._columns: dict[str, Any] | None = None

    def set_size(self, size: int) -> None:
        """Make room for so many labels; present weights stay as they are."""
        if size != self.size:
            present = self._dense
            if present is None and self._packed is not None:
                present = self._packed.dense(self.size)
            self._replace(None, None)
            if present is not None:
                self._dense = np.zeros((len(present), size), dtype=np.float32)
                self._dense[:, : present.shape[1]] = present
            self.size = size

    def _replace(self, packed: Packed | None, columns: dict[str, Any] | None) -> None:
        """Take other weights, and forget what belongs to the present ones."""
        self._packed, self._columns = packed, columns
        self._dense = self._state = None
        self._met.clear()
        self.version += 1

    def replace(self, weights: Floats) -> None:
        """Take other weights, **shape (rows, L)**, as if they were not trained yet."""
        self.size = weights.shape[1]
        self._replace(None, None)
        self._dense, self._step = weights, 0

    def dense(self) -> Floats:
        """**Shape (rows, L)**: a copy of the weights, with zeros."""
        return self._trained().copy()

    @property
    def packed(self) -> Packed:
        """The weights without zeros, for decoding."""
        if self._packed is None:
            self._packed = pack(self._trained(), 0.0)
        return self._packed

    def emissions(self, rows: Rows) -> Floats:
        """**Shape (n, L)**: the sums of the weights of each token's rows."""
        found = np.zeros((len(rows), self.size), dtype=np.float32)
        add_rows(self._trained(), rows, found)
        return found

    def accumulate(self, rows: Rows, gradient: Floats) -> None:
        """Keep a gradient, **shape (n, L)**, until the next :meth:`finish_update`."""
        self._met.append((rows, np.ascontiguousarray(gradient, dtype=np.float32)))

    def finish_update(self, optimizer: Any) -> None:
        """Move the weights that were met since the last call.

        Where the optimizer keeps averages, these weights have one too: over all steps, later
        ones counting more, in proportion to their number.
        """
        if not self._met:
            return
        if self._state is None:
            weights = self._trained()
            averaged = getattr(optimizer, "averages", None) is not None
            self._state = Trained(
                weights,
                np.ones_like(weights),
                np.full(len(weights), self._step, dtype=np.int32),
                np.zeros_like(weights) if averaged else np.zeros((0, 0), dtype=np.float32),
            )
        self._step += 1
        learning = self.learning
        pace = Pace(*(np.float32(x) for x in (learning.learn_rate, learning.l1, learning.l2)))
        share = np.float32(_share(self._step - 1))
        for rows, gradient in self._met:
            descend(self._state, self._step, share, rows, gradient, pace)
        self._met.clear()
        self._changed()

    def _changed(self) -> None:
        """Forget what was made of the weights before they moved."""
        self._packed = self._columns = None
        self.version += 1

    @contextmanager
    def use_params(self, params: Any) -> Iterator[None]:
        """Use the average of the weights for a while, where the optimizer has averages."""
        state = self._state
        if not params or state is None or not len(state.lags):
            yield
            return
        self._dense = state.weights - state.lags / np.float32(_share(self._step))
        self._changed()
        try:
            yield
        finally:
            self._dense = state.weights
            self._changed()

    def to_device(self, device_type: str, device_id: int) -> None:
        """Stay on the processor, whatever the rest of a model does."""

    def to_bytes(self) -> bytes:
        """Save the weights that are not near zero, clusters, groups and phrases."""
        columns = self._columns
        if self.size and columns is None:
            columns = to_columns(pack(self._trained(), self.learning.least))
        saved = {
            "size": self.size,
            "weights": columns,
            "clusters": None if self.clusters is None else self.clusters.to_bytes(),
            "phrases": None if self.phrases is None else self.phrases.to_bytes(),
            "groups": None if self.groups is None else self.groups.to_bytes(),
        }
        return bytes(srsly.msgpack_dumps(saved))

    def from_bytes(self, data: bytes) -> SparseWeights:
        """Load what was saved.

        Raises
        ------
        StorageError
            If it is damaged: then all stays as it was.
        ProblemError
            If the config asks for another number of rows.
        """
        saved = message_of(data, "weights")
        names = ("size", "weights", "clusters", "groups", "phrases")
        size, weights, clusters, groups, phrases = fields_of(saved, names, "weights")
        size = whole_number(size, 0, MOST_LABELS, "weights, size")
        if (weights is None) != (size == 0):
            raise damaged("weights", f"{size} labels, and {'no' if size else 'a'} table for them")
        packed = None if weights is None else from_columns(weights, size)
        if packed is not None and weights["rows"] != 1 << self.learning.bits:
            if weights["rows"].bit_count() != 1:
                raise damaged("weights, rows", f"{weights['rows']:,} is no power of two")
            raise ProblemError(
                f"bits: the weights were trained with {weights['rows']:,} rows; the config asks "
                f"for {1 << self.learning.bits:,}."
            )
        tables = [
            None if data is None else ClusterTable.from_bytes(data) for data in (clusters, groups)
        ]
        self.phrases = None if phrases is None else PhraseTable.from_bytes(phrases)
        self.size, (self.clusters, self.groups) = size, tables
        self._replace(packed, weights)
        return self

    def _trained(self) -> Floats:
        """The weights with zeros, made when they are first trained."""
        if self._dense is None:
            if self._packed is not None:
                self._dense = self._packed.dense(self.size)
            else:
                self._dense = np.zeros((1 << self.learning.bits, self.size), dtype=np.float32)
        return self._dense


def _share(step: int) -> float:
    """Return the sum of the numbers of the steps before the next one, in units of a million."""
    return 0.5e-6 * step * (step + 1)
