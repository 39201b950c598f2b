"""Compact tables of words, saved with every pipeline: their clusters and their vectors.

Saved pipelines only name tables that ship, and do not copy them. The scripts of
``projects/english`` make these.
"""

from __future__ import annotations

import hashlib
from abc import ABC, abstractmethod
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from functools import cache
from pathlib import Path
from typing import Any, ClassVar, TypeVar

import numpy as np
import srsly
from numpy.typing import NDArray
from spacy.strings import hash_string  # type: ignore[attr-defined]

from ...errors import ProblemError
from ..saved import array_of, damaged, inflated, packed, reading, unpacked

__all__ = [
    "CENTROIDS", "FOLDER", "PREFIXES", "ClusterTable", "SharedTable", "VectorTable", "shipped",
    "words_by_key",
]  # fmt: skip

Table = TypeVar("Table", bound="SharedTable")

#: Files are named by kind, language and hash, such as ``clusters-en-0123456789abcdef``. None must
#: ever be removed, since saved pipelines name them.
FOLDER = Path(__file__).parents[2] / "data" / "tables"
#: Masks of the prefixes of a path that are features.
PREFIXES = (15, 63, 1023, 0xFFFFFFFF)
#: The number of centroids of each part of a vector, whose numbers fit in a byte.
CENTROIDS = 256
#: The most clusters of a table.
MOST = 1 << 16

#: Precedes the hash that is saved in place of a shipped table.
_MARK = b"table:"
_CASES = ("lower", "title")


@dataclass(frozen=True, eq=False)
class SharedTable(ABC):
    """Data of words, which are identified by 32 bits of their hashes.

    Of a hundred thousand unknown words, about four are mistaken for a known one.
    """

    #: **Shape (words,)**, uint32, increasing.
    keys: NDArray[np.uint32]
    #: Its name in errors.
    part: ClassVar[str]
    #: The hash by which saved pipelines name it, if it ships.
    name = ""

    def __len__(self) -> int:
        return len(self.keys)

    def find(self, words: Iterable[str]) -> NDArray[np.int64]:
        """**Shape (words,)**: the row of each word in the table; -1 if unknown."""
        wanted = np.array([_key_of(word) for word in words], dtype=np.uint32)
        if not len(self):
            return np.full(len(wanted), -1, dtype=np.int64)
        places = np.minimum(np.searchsorted(self.keys, wanted), len(self) - 1)
        return np.where(self.keys[places] == wanted, places, -1)

    @abstractmethod
    def features(self, words: Sequence[str]) -> NDArray[Any]:
        """**Shape (words, columns)**: the features of words for a network."""

    @abstractmethod
    def content(self) -> bytes:
        """Return the table as bytes, the content of its file if it ships."""

    @classmethod
    @abstractmethod
    def _read(cls: type[Table], data: bytes) -> Table:
        """Restore a table from `content`; may raise any error if it is damaged."""

    def digest(self) -> str:
        """Return the hash in the name of the table's file."""
        return hashlib.sha256(self.content()).hexdigest()[:16]

    def to_bytes(self) -> bytes:
        """Return the table as bytes; if it ships, only its name."""
        return _MARK + self.name.encode() if self.name else self.content()

    @classmethod
    def from_bytes(cls: type[Table], data: bytes) -> Table:
        """Restore a table from bytes; tables that ship are shared by all components.

        Raises `StorageError` if they are damaged, or name a table that is not installed.
        """
        with reading(cls.part):
            if not data.startswith(_MARK):
                return cls._read(data)
            return _shipped(cls, data.removeprefix(_MARK).decode("ascii"))


@cache
def _shipped(kind: type[SharedTable], name: str) -> Any:
    for file in FOLDER.glob("*-*-*"):
        if file.name.endswith(f"-{name}"):
            table = kind._read(file.read_bytes())
            object.__setattr__(table, "name", name)
            return table
    raise damaged(kind.part, f"this release of spacy-decoders has no table {name!r:.40}")


@dataclass(frozen=True, eq=False)
class ClusterTable(SharedTable):
    """The cluster of each word, and its classes of frequency and case.

    Examples
    --------
    >>> table = ClusterTable.of({"Monday": 0b1011, "Tuesday": 0b1011, "runs": 0b0110})
    >>> table.lookup(["Monday", "TUESDAY", "unheard"]).tolist()
    [[11, 0], [11, 0], [0, 0]]
    """

    #: **Shape (words,)**, uint32: the path from the root of the cluster tree, its first bit the
    #: lowest; 0 for none.
    paths: NDArray[np.uint32]
    #: **Shape (words,)**, uint16: 256 times the class of the word's frequency, plus the class
    #: of its case; 0 if unknown.
    classes: NDArray[np.uint16]
    part: ClassVar[str] = "clusters"

    @classmethod
    def of(
        cls, clusters: Mapping[str, int], classes: Mapping[str, int] | None = None
    ) -> ClusterTable:
        """Make a table from the path of each word's cluster, and the class of each word.

        Raises `ProblemError` if there are more than 65,536 clusters.
        """
        classes = classes or {}
        words = words_by_key(sorted({*clusters, *classes}))
        paths = np.array([clusters.get(word, 0) for word in words.values()], dtype=np.uint32)
        if len(np.unique(paths)) > MOST:
            raise ProblemError(f"clusters: expected up to {MOST:,} paths.")
        numbers = [classes.get(word, 0) for word in words.values()]
        return cls(np.array(list(words), dtype=np.uint32), paths, np.array(numbers, np.uint16))

    def lookup(self, words: Sequence[str]) -> NDArray[np.uint64]:
        """**Shape (words, 2)**: the path of each word, or else of its lower or title case, and
        its class; 0 for none."""
        found = np.zeros((len(words), 2), dtype=np.uint64)
        if not len(self):
            return found
        for forms in (words, *([getattr(word, case)() for word in words] for case in _CASES)):
            places = self.find(forms)
            paths = np.where(places >= 0, self.paths[places], 0)
            found[:, 0] = np.where(found[:, 0] == 0, paths, found[:, 0])
        places = self.find([word.lower() for word in words])
        found[:, 1] = np.where(places >= 0, self.classes[places], 0)
        return found

    def features(self, words: Sequence[str]) -> NDArray[np.uint64]:
        """**Shape (words, 6)**: the prefixes of paths, the classes of frequency and of case."""
        paths, classes = self.lookup(words).T
        columns = [paths & np.uint64(bits) for bits in PREFIXES]
        return np.stack([*columns, classes >> np.uint64(8), classes & np.uint64(255)], axis=1)

    def content(self) -> bytes:
        """Return the table as bytes, about 4 a word."""
        paths, numbers = np.unique(self.paths, return_inverse=True)
        columns = (_gaps_of(self.keys), numbers.astype(np.uint16), paths, self.classes)
        return bytes(srsly.msgpack_dumps([packed(column) for column in columns]))

    @classmethod
    def _read(cls, data: bytes) -> ClusterTable:
        gaps, numbers, paths, classes = srsly.msgpack_loads(data)
        keys = _keys_of(gaps)
        given = unpacked(paths, np.uint32)[unpacked(numbers, np.uint16, len(keys))]
        return cls(keys, given, unpacked(classes, np.uint16, len(keys)))


@dataclass(frozen=True, eq=False)
class VectorTable(SharedTable):
    """The vector of each word, in about 35 bytes a word.

    A vector is divided into parts, each of which is stored as a byte, the number of one of 256
    centroids: product quantisation (Jégou, Douze, Schmid 2011, *Product Quantization for Nearest
    Neighbor Search*).
    """

    #: **Shape (words, parts)**, uint8: the number of the centroid.
    codes: NDArray[np.uint8]
    #: **Shape (parts, 256, size)**, float16: part p has the columns p, p + parts, ...
    centroids: NDArray[np.float16]
    part: ClassVar[str] = "word vectors"

    @property
    def width(self) -> int:
        """The length of the vectors."""
        parts, _, size = self.centroids.shape
        return int(parts * size)

    def features(self, words: Sequence[str]) -> NDArray[np.float32]:
        """**Shape (words, width)**: each word's vector, or that of its lower case, or zeros."""
        places = self.find(words)
        places = np.where(places < 0, self.find([word.lower() for word in words]), places)
        found = np.zeros((len(words), self.width), dtype=np.float32)
        known = places >= 0
        chosen = self.centroids[np.arange(len(self.centroids)), self.codes[places[known]]]
        found[known] = chosen.transpose(0, 2, 1).reshape(len(chosen), self.width)
        return found

    def content(self) -> bytes:
        """Return the table as bytes."""
        saved = {
            "words": packed(_gaps_of(self.keys)),
            "codes": packed(self.codes.T.reshape(-1)),
            "centroids": self.centroids,
        }
        return bytes(srsly.msgpack_dumps(saved))

    @classmethod
    def _read(cls, data: bytes) -> VectorTable:
        saved = srsly.msgpack_loads(data)
        shape = (-1, CENTROIDS, -1)
        centroids = array_of(saved["centroids"], np.float16, shape, f"{cls.part}, centroids")
        if not np.isfinite(centroids).all():
            raise ValueError("centroids should be finite")
        keys = _keys_of(saved["words"])
        codes = inflated(saved["codes"], len(keys) * len(centroids))
        columns = np.frombuffer(codes, dtype=np.uint8).reshape(len(centroids), -1)
        return cls(keys, np.ascontiguousarray(columns.T), centroids)


def words_by_key(words: Iterable[str]) -> dict[int, str]:
    """Return words by their keys in tables, ascending; of two words with one key, the first."""
    kept: dict[int, str] = {}
    for word in words:
        kept.setdefault(_key_of(word), word)
    return dict(sorted(kept.items()))


def shipped(kind: str, lang: str) -> bytes:
    """Return the saved form of the table of a kind that ships for a language.

    Raises `ProblemError` if none ships.
    """
    found = [file.name for file in FOLDER.glob("*-*-*") if file.name.startswith(f"{kind}-{lang}-")]
    if not found:
        raise ProblemError(
            f"{kind}: none ship for {lang!r}, only for 'en'. Train without, with `{kind} = null` "
            "in place of the block; or give with `path` a file of your own, made from any text by "
            "projects/danish/scripts/clusters.py or the scripts of projects/english."
        )
    return _MARK + max(found).rpartition("-")[2].encode()


def _key_of(word: str) -> int:
    return hash_string(word) & 0xFFFFFFFF


def _gaps_of(keys: NDArray[np.uint32]) -> NDArray[np.uint32]:
    """The differences of increasing keys, which compress well."""
    return np.diff(keys, prepend=np.uint32(0)).astype(np.uint32)


def _keys_of(gaps: bytes) -> NDArray[np.uint32]:
    keys = np.cumsum(unpacked(gaps, np.uint32), dtype=np.uint64)
    if (np.diff(keys) == 0).any() or (len(keys) and keys[-1] >= 1 << 32):
        raise ValueError("words are not in order")
    return keys.astype(np.uint32)
