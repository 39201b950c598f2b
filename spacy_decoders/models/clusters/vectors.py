"""Word vectors in a few bytes a word: what they come from, and the table kept with a pipeline.

A vector is cut into parts, each of which is a byte, the number of one of 256 centroids: product
quantisation (Jégou, Douze, Schmid 2011, *Product Quantization for Nearest Neighbor Search*).
"""

from __future__ import annotations

import warnings
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import ClassVar, NamedTuple

import numpy as np
import srsly
from numpy.typing import NDArray

from ...errors import ProblemError
from ...readers.text_lines import text_lines
from ..saved import array_of, columns_of, damaged, fields_of, inflated, message_of
from .table import (
    SharedTable,
    gaps_of,
    key_of,
    keys_of,
    name_of,
    packed,
    places_of,
    shipped_table,
)

__all__ = ["Quantised", "VectorTable", "WordVectors", "quantise", "read_vectors"]

#: What half precision holds.
LARGEST = 60_000.0

_PART = "word vectors"

#: Centroids of each part: what a byte can number.
CENTROIDS = 256

#: Passes of k-means; later ones change little.
_PASSES = 12


class Quantised(NamedTuple):
    """Vectors of which each part is the nearest of 256 centroids."""

    #: **Shape (vectors, parts)**, uint8: which centroid.
    codes: NDArray[np.uint8]
    #: **Shape (parts, 256, size)**, float16: part p has the columns p, p + parts, ...
    centroids: NDArray[np.float16]

    def rows(self, places: NDArray[np.int64]) -> NDArray[np.float32]:
        """**Shape (places, size * parts)**: vectors, zeros at places below 0."""
        parts = np.arange(self.codes.shape[1])
        found = self.centroids[parts, self.codes[places]].astype(np.float32)
        found[places < 0] = 0.0
        width = found.shape[1] * found.shape[2]
        return np.ascontiguousarray(found.transpose(0, 2, 1)).reshape(len(places), width)


@dataclass(frozen=True, eq=False)
class VectorTable(SharedTable):
    """The vector of each word, in about 35 bytes a word.

    Examples
    --------
    >>> table = VectorTable.of({"Rome": [1.0, 0.0], "oslo": [0.0, 1.0]}, parts=2)
    >>> table.lookup(["Rome", "Oslo", "unheard"]).tolist()
    [[1.0, 0.0], [0.0, 1.0], [0.0, 0.0]]
    """

    #: **Shape (words,)**, uint32, increasing: 32 bits of each word's hash.
    keys: NDArray[np.uint32]
    #: Their vectors.
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


def quantise(vectors: NDArray[np.float32], parts: int, seed: int = 0) -> Quantised:
    """Quantise vectors by k-means on each part of their columns.

    Parameters
    ----------
    vectors
        **Shape (vectors, columns)**.
    parts
        Bytes a vector; columns are filled with zeros to a multiple of it.
    seed
        Of the first centroids.

    Notes
    -----
    Columns of principal components fall in variance: every part takes some of all.

    Examples
    --------
    >>> vectors = np.eye(4, dtype=np.float32)
    >>> bool((quantise(vectors, parts=2).rows(np.arange(4)) == vectors).all())
    True
    """
    from scipy.cluster.vq import vq

    rng = np.random.default_rng(seed)
    columns = -(-vectors.shape[1] // parts) * parts
    filled = np.zeros((len(vectors), columns), dtype=np.float32)
    filled[:, : vectors.shape[1]] = vectors
    codes = np.empty((len(vectors), parts), dtype=np.uint8)
    centroids = np.zeros((parts, CENTROIDS, columns // parts), dtype=np.float16)
    for part in range(parts):
        points = np.ascontiguousarray(filled[:, part::parts])
        means = _means(points, rng)
        centroids[part, : len(means)] = means
        codes[:, part] = vq(points, means, check_finite=False)[0]
    return Quantised(codes, centroids)


def _means(points: NDArray[np.float32], rng: np.random.Generator) -> NDArray[np.float32]:
    """The means of k-means, from points drawn at random; one of no point stays where it is."""
    from scipy.cluster.vq import kmeans2

    distinct = np.unique(points, axis=0)
    if len(distinct) <= CENTROIDS:
        return distinct
    first = distinct[rng.choice(len(distinct), CENTROIDS, replace=False)]
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # that a mean has no point
        means: NDArray[np.float32] = kmeans2(points, first, _PASSES, minit="matrix")[0]
    return means


def read_vectors(path: Path, most: int | None = None) -> tuple[list[str], NDArray[np.float32]]:
    """Read words and their vectors: on each line a word and its numbers, apart by blanks.

    A first line of two numbers, as word2vec writes it, is left out. Of a word that stands twice
    the first vector counts.

    Parameters
    ----------
    path
        The file, plain or gzipped.
    most
        So many words at most, from the beginning; None for all.

    Returns
    -------
    words, vectors
        The latter of **shape (words, width)**.

    Raises
    ------
    ProblemError
        If a line has no word and as many finite numbers as the first one, or there is no line.
    """
    found: dict[str, NDArray[np.float32]] = {}
    width = 0
    for number, line in enumerate(text_lines(path), start=1):
        word, *numbers = line.rstrip().split(" ")
        if number == 1 and len(numbers) == 1:
            continue
        if len(found) == most:
            break
        try:
            vector = np.array(numbers, dtype=np.float32)
        except ValueError:
            vector = np.zeros(0, dtype=np.float32)
        width = width or len(vector)
        if not len(vector) or len(vector) != width or not np.isfinite(vector).all():
            raise ProblemError(
                f"{path.name}, line {number}: expected a word and {width or 'its'} "
                f"numbers, all finite and apart by blanks; got {line.strip()!r:.60}."
            )
        found.setdefault(word, vector)
    if not found:
        raise ProblemError(f"{path.name}: there are no vectors in it.")
    return list(found), np.array(list(found.values()))
