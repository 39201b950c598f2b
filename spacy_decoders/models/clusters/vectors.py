"""Word vectors in a few bytes a word: what they come from, and the table kept with a pipeline."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import ClassVar

import numpy as np
import srsly
from numpy.typing import NDArray

from ...errors import ProblemError
from ..saved import array_of, columns_of, damaged, fields_of, inflated, message_of
from .quantise import CENTROIDS, Quantised, quantise
from .shipped import name_of, shipped_table
from .table import SharedTable, gaps_of, key_of, keys_of, packed, places_of
from .vector_files import read_vectors

__all__ = ["VectorTable", "WordVectors"]

#: What half precision holds.
LARGEST = 60_000.0

_PART = "word vectors"


@dataclass(frozen=True, eq=False)
class VectorTable(SharedTable):
    """The vector of each word, in about 35 bytes a word.

    Attributes
    ----------
    keys
        **Shape (words,)**, uint32, increasing: 32 bits of each word's hash.
    vectors
        Their vectors.

    Examples
    --------
    >>> table = VectorTable.of({"Rome": [1.0, 0.0], "oslo": [0.0, 1.0]}, parts=2)
    >>> table.lookup(["Rome", "Oslo", "unheard"]).tolist()
    [[1.0, 0.0], [0.0, 1.0], [0.0, 0.0]]
    """

    keys: NDArray[np.uint32]
    vectors: Quantised
    part: ClassVar[str] = _PART

    @classmethod
    def of(
        cls, vectors: Mapping[str, Sequence[float] | NDArray[np.float32]], parts: int = 32
    ) -> VectorTable:
        """Make a table.

        Parameters
        ----------
        vectors
            The vector of each word.
        parts
            Bytes of each vector.

        Raises
        ------
        ProblemError
            If vectors differ in length, or a number is not finite.
        """
        kept: dict[int, str] = {}
        for word in vectors:
            kept.setdefault(key_of(word), word)  # of two words with one key, the first stands
        keys = sorted(kept)
        lengths = {len(vector) for vector in vectors.values()}
        if len(lengths) > 1:
            raise ProblemError(
                f"vectors: all must have the same length; got {min(lengths)} to {max(lengths)}."
            )
        rows = np.zeros((len(keys), max(lengths, default=0)), dtype=np.float32)
        for row, key in zip(rows, keys, strict=True):
            row[:] = vectors[kept[key]]
        if not np.abs(rows).max(initial=0.0) <= LARGEST:
            raise ProblemError(f"vectors: expected finite numbers up to {LARGEST:,.0f}.")
        if parts < 1:
            raise ProblemError(f"parts: expected at least 1; got {parts}.")
        return cls(np.array(keys, dtype=np.uint32), quantise(rows, parts))

    @property
    def width(self) -> int:
        """The length of the vectors."""
        parts, _, size = self.vectors.centroids.shape
        return int(parts * size)

    def lookup(self, words: Sequence[str]) -> NDArray[np.float32]:
        """**Shape (words, width)**: the vectors of words; zeros for none."""
        return self.rows(self.find(words))

    def find(self, words: Sequence[str]) -> NDArray[np.int64]:
        """**Shape (words,)**: the place of each word, or of its lower case; -1 for none."""
        places = places_of(self.keys, words)
        lower = places_of(self.keys, [word.lower() for word in words])
        return np.where(places < 0, lower, places)

    def rows(self, places: NDArray[np.int64]) -> NDArray[np.float32]:
        """**Shape (places, width)**: the vectors at places; zeros below 0."""
        if not len(self):
            return np.zeros((len(places), self.width), dtype=np.float32)
        return self.vectors.rows(places)

    def to_bytes(self) -> bytes:
        """Return the table as bytes; a shipped one as its name alone."""
        codes, centroids = self.vectors
        name = name_of((self.keys, codes, centroids))
        if name is not None:
            return name
        saved = {
            "words": packed(gaps_of(self.keys)),
            "codes": packed(codes.T.reshape(-1)),
            "centroids": centroids,
        }
        return bytes(srsly.msgpack_dumps(saved))

    @classmethod
    def _read(cls, data: bytes) -> VectorTable:
        saved = fields_of(message_of(data, _PART), ("words", "codes", "centroids"), _PART)
        centroids = array_of(saved[2], np.float16, (-1, CENTROIDS, -1), f"{_PART}, centroids")
        if not np.isfinite(centroids).all():
            raise damaged(f"{_PART}, centroids", "expected finite numbers")
        name = f"{_PART}, words"
        keys = keys_of(columns_of(inflated(saved[0], name), np.uint32, name), name)
        parts = len(centroids)
        size = len(keys) * parts
        codes = np.frombuffer(inflated(saved[1], f"{_PART}, codes", size), dtype=np.uint8)
        return cls(keys, Quantised(np.ascontiguousarray(codes.reshape(parts, -1).T), centroids))


class WordVectors:
    """Word vectors that a model is to have, read when it is initialised.

    A trained model keeps them, in a few bytes a word: whoever loads it needs no file.

    Parameters
    ----------
    lang
        A language whose vectors the package ships: "en". None to read a file.
    path
        A file in the format of word2vec and GloVe: a word and its numbers on a line, apart by
        blanks, frequent words first, perhaps below a line with their count and length.
    words
        So many words of the file are kept.
    parts
        Bytes of each vector.

    Raises
    ------
    ProblemError
        If both sources are given, or neither.
    """

    def __init__(
        self,
        lang: str | None = None,
        path: str | Path | None = None,
        words: int = 50_000,
        parts: int = 32,
    ) -> None:
        if (lang is None) == (path is None):
            raise ProblemError("vectors: name either a language or a file.")
        if words < 1 or parts < 1:
            raise ProblemError(
                f"vectors: expected words >= 1 and parts >= 1; got {words}, {parts}."
            )
        self.lang = lang
        self.path = path
        self.words = words
        self.parts = parts

    def read(self) -> VectorTable:
        """Read them.

        Raises
        ------
        ProblemError
            If no vectors of the language ship, or the file is none of vectors.
        """
        if self.lang is None:
            found = read_vectors(Path(str(self.path)), self.words)
            return VectorTable.of(dict(zip(*found, strict=True)), self.parts)
        data = shipped_table("vectors", self.lang)
        if data is None:
            raise ProblemError(
                f"vectors: none of {self.lang!r} ship with the package, only those of 'en'; name "
                "a file in the format of word2vec, such as those of fasttext.cc."
            )
        return VectorTable.from_bytes(data)
