"""The weights of the sparse model: trained by AdaGrad, and saved without those near zero."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, NamedTuple

import numpy as np
import srsly
from numpy.typing import NDArray
from thinc.api import Shim

from ....arrays import Floats32, Integers32
from ....errors import ProblemError
from ...clusters.table import ClusterTable
from ...saved import packed, reading, unpacked, whole_number
from .gazetteer import PhraseTable
from .kernels.learning import Trained, add_rows, descend

__all__ = ["Learning", "Packed", "SparseWeights"]


#: The largest integer that a weight is saved as, in a byte.
_MOST = 127
#: The power of four that stands for the sums of squares of weights that were saved without.
_UNKNOWN = 3
#: The level of compression; higher ones take longer and save little.
_LEVEL = 6
#: The most labels and rows of a table.
MOST_LABELS, MOST_ROWS = 1 << 16, 1 << 26


class Packed(NamedTuple):
    """A sparse table of weights.

    Examples
    --------
    >>> table = Packed.of(np.array([[0, 0.5], [0, 0], [-1, 0.001]], dtype=np.float32), 0.01)
    >>> Packed.from_columns(table.to_columns(), 3, 2).dense(2).round(2).tolist()
    [[0.0, 0.5], [0.0, 0.0], [-1.0, 0.0]]
    """

    #: **Shape (rows + 1,)**, int32: where the weights of each row begin.
    starts: Integers32
    #: **Shape (weights,)**, uint16.
    labels: NDArray[np.uint16]
    #: **Shape (weights,)**, float32.
    values: Floats32

    @classmethod
    def of(cls, weights: Floats32, least: float) -> Packed:
        """Pack the weights whose absolute value is more than `least`."""
        kept = np.abs(weights) > least
        starts = np.append(0, kept.sum(axis=1)).cumsum(dtype=np.int32)
        return cls(starts, np.nonzero(kept)[1].astype(np.uint16), weights[kept])

    def dense(self, size: int) -> Floats32:
        """**Shape (rows, L)**: all weights, with zeros."""
        counts = np.diff(self.starts)
        weights = np.zeros((len(counts), size), dtype=np.float32)
        weights[np.repeat(np.arange(len(counts)), counts), self.labels] = self.values
        return weights

    def sums(self, rows: Integers32, size: int) -> Floats32:
        """**Shape (n, L)**: the sums of the weights of each token's rows; -1 is none."""
        from scipy.sparse import csr_array

        table = csr_array((self.values, self.labels, self.starts), (len(self.starts) - 1, size))
        known = rows >= 0
        ends = np.concatenate([[0], np.cumsum(known.sum(axis=1))])
        ones = np.ones(ends[-1], dtype=np.float32)
        features = csr_array((ones, rows[known], ends), (len(rows), table.shape[0]))
        return (features @ table).toarray()

    def to_columns(self) -> dict[str, Any]:
        """Return the table as compressed bytes, with each weight quantised to eight bits."""
        scale = float(np.abs(self.values).max(initial=0.0)) / _MOST or 1.0
        counts = np.diff(self.starts).astype(np.uint16)
        return {
            "bits": 8,
            "scale": scale,
            "rows": len(counts),
            "counts": packed(counts, _LEVEL),
            "labels": packed(self.labels, _LEVEL),
            "values": packed(np.rint(self.values / scale).astype(np.int8), _LEVEL),
        }

    @classmethod
    def from_columns(cls, columns: Mapping[str, Any], rows: int, size: int) -> Packed:
        """Restore a table of so many rows and labels from :meth:`to_columns`.

        Raises `ValueError` if the columns are inconsistent or out of range, since kernels do not
        check them.
        """
        counts = unpacked(columns["counts"], "<u2", rows)
        total = int(counts.sum(dtype=np.int64))
        labels = unpacked(columns["labels"], "<u2", total)
        whole = unpacked(columns["values"], np.int8, total)
        scale = float(columns["scale"])
        most = float(np.finfo(np.float32).max) / _MOST
        if total >= 1 << 31 or labels.max(initial=0) >= size or not 0.0 < scale <= most:
            raise ValueError(f"{total:,} weights for {size:,} labels, in steps of {scale}")
        starts = np.append(0, counts).cumsum(dtype=np.int32)
        return cls(starts, labels, (whole * scale).astype(np.float32))


class Learning(NamedTuple):
    """How weights are learned and saved."""

    #: The binary logarithm of the number of rows of weights.
    bits: int = 20
    #: The step size of AdaGrad.
    learn_rate: float = 0.1
    #: The weights of both penalties, for each batch.
    l1: float = 1e-4
    l2: float = 1e-3
    #: Weights whose absolute value is at most this are not saved.
    least: float = 0.01

    def check(self) -> None:
        """Raise `ProblemError` if a value is out of range."""
        if not 8 <= self.bits <= 26:
            raise ProblemError(f"bits: expected 8 to 26, got {self.bits}.")
        if not self.learn_rate > 0 or not min(self.l1, self.l2, self.least) >= 0:
            raise ProblemError(
                "learn_rate must be positive, l1, l2 and least not negative; got "
                f"{self.learn_rate}, {self.l1}, {self.l2} and {self.least}."
            )


class SparseWeights(Shim):  # type: ignore[misc]
    """The weights as a thinc shim, since they are not trained by thinc's optimizer.

    An update touches only the rows of its batch. AdaGrad's sums of squared gradients are saved,
    the largest of each row: without them, what many examples have taught would be forgotten over
    the first few that a trained pipeline learns from.
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
        self._dense: Floats32 | None = None
        # (rows,): the sums of squares of training before the present state, as powers of four
        self._powers: NDArray[np.uint8] | None = None
        self._state: Trained | None = None
        self._step = 0
        self._met: list[tuple[Integers32, Floats32]] = []
        # the saved form, as long as the weights have not changed
        self._columns: dict[str, Any] | None = None

    def set_size(self, size: int) -> None:
        """Set the number of labels; discards the weights if it differs."""
        if size != self.size:
            self._take(None, None)
            self.size = size

    def replace(self, weights: Floats32, squares: Floats32 | None = None) -> None:
        """Replace the weights, **shape (rows, L)**, and the sums of squares, ones if None."""
        self.size = weights.shape[1]
        self._take(None, None)
        self._dense, self._step = weights, 0
        self._powers = None if squares is None else _powers_of(squares)

    def dense(self) -> Floats32:
        """**Shape (rows, L)**: a dense copy of the weights."""
        return self._trained().copy()

    def squares(self) -> Floats32:
        """**Shape (rows,)**: the largest sum of squared gradients of each row's weights."""
        if self._state is not None:
            return np.asarray(self._state.squares.max(axis=1))
        if self._powers is None:
            return np.ones(1 << self.learning.bits, dtype=np.float32)
        return np.exp2(np.float32(2) * self._powers)

    @property
    def packed(self) -> Packed:
        """The sparse weights, for decoding."""
        if self._packed is None:
            self._packed = Packed.of(self._trained(), 0.0)
        return self._packed

    def emissions(self, rows: Integers32) -> Floats32:
        """**Shape (n, L)**: the sums of the weights of each token's rows."""
        found = np.zeros((len(rows), self.size), dtype=np.float32)
        add_rows(self._trained(), rows, found)
        return found

    def accumulate(self, rows: Integers32, gradient: Floats32) -> None:
        """Store a gradient, **shape (n, L)**, until the next :meth:`finish_update`."""
        self._met.append((rows, np.ascontiguousarray(gradient, dtype=np.float32)))

    def finish_update(self, optimizer: Any) -> None:
        """Update the weights with the gradients since the last call."""
        if not self._met:
            return
        if self._state is None:
            weights = self._trained()
            steps = np.full(len(weights), self._step, dtype=np.int32)
            squares = np.repeat(self.squares()[:, None], self.size, axis=1)
            self._state = Trained(weights, squares, steps)
        self._step += 1
        learning = self.learning
        pace = np.array([learning.learn_rate, learning.l1, learning.l2], dtype=np.float32)
        for rows, gradient in self._met:
            descend(self._state, self._step, rows, gradient, pace)
        self._met.clear()
        self._changed()

    def to_device(self, device_type: str, device_id: int) -> None:
        """Stay on the CPU, whatever the rest of a model does."""

    def to_bytes(self) -> bytes:
        """Return the weights that are not near zero, clusters, groups and phrases, as bytes."""
        columns = self._columns
        if self.size and columns is None:
            columns = Packed.of(self._trained(), self.learning.least).to_columns()
            columns["squares"] = packed(_powers_of(self.squares()), _LEVEL)
        tables = {"clusters": self.clusters, "phrases": self.phrases, "groups": self.groups}
        saved = {
            name: None if table is None else table.to_bytes() for name, table in tables.items()
        }
        return bytes(srsly.msgpack_dumps({"size": self.size, "weights": columns, **saved}))

    def from_bytes(self, data: bytes) -> SparseWeights:
        """Restore the result of :meth:`to_bytes`.

        Raises `StorageError` if it is damaged, and `ProblemError` if the config asks for another
        number of rows; then nothing is changed.
        """
        with reading("weights"):
            saved = srsly.msgpack_loads(data)
            size = whole_number(saved["size"], 0, MOST_LABELS, "weights, size")
            columns, weights, powers = saved["weights"], None, None
            if (columns is None) != (size == 0):
                raise ValueError(f"{size} labels, and {'no' if size else 'a'} table for them")
            if columns is not None:
                rows = whole_number(columns["rows"], 1, MOST_ROWS, "weights, rows")
                asked = 1 << self.learning.bits
                if rows != asked:
                    wrong = ProblemError if rows.bit_count() == 1 else ValueError
                    raise wrong(
                        f"bits: the weights were trained with {rows:,} rows; the config asks for "
                        f"{asked:,}."
                    )
                weights = Packed.from_columns(columns, rows, size)
                powers = np.full(rows, _UNKNOWN, dtype=np.uint8)
                if "squares" in columns:
                    powers = np.minimum(unpacked(columns["squares"], np.uint8, rows), 60)
            clusters, groups = (
                None if saved[name] is None else ClusterTable.from_bytes(saved[name])
                for name in ("clusters", "groups")
            )
            given = saved["phrases"]
            phrases = None if given is None else PhraseTable.from_bytes(given)
        self.size, self.clusters, self.groups, self.phrases = size, clusters, groups, phrases
        self._take(weights, columns)
        self._powers = powers
        return self

    def _take(self, weights: Packed | None, columns: dict[str, Any] | None) -> None:
        """Replace the weights, and discard all state of the previous ones."""
        self._dense = self._powers = self._state = None
        self._met.clear()
        self._changed()
        self._packed, self._columns = weights, columns

    def _changed(self) -> None:
        """Discard what was derived from the weights before they changed."""
        self._packed = self._columns = None
        self.version += 1

    def _trained(self) -> Floats32:
        """The dense weights, made on first use."""
        if self._dense is None:
            if self._packed is not None:
                self._dense = self._packed.dense(self.size)
            else:
                self._dense = np.zeros((1 << self.learning.bits, self.size), dtype=np.float32)
        return self._dense


def _powers_of(squares: Floats32) -> NDArray[np.uint8]:
    """Round numbers of at least 1 to powers of four."""
    return np.rint(np.log2(squares) / 2).astype(np.uint8)
