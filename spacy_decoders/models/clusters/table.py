"""Tables of words, small enough to be kept with every pipeline: their clusters, their vectors.

Tables that ship are named by saved pipelines, which have no copies of them. The scripts of
``projects/english`` make them.
"""

from __future__ import annotations

import hashlib
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any, ClassVar, TypeVar, cast
from weakref import WeakValueDictionary

import numpy as np
import srsly
from numpy.typing import NDArray
from spacy import strings

from ...errors import ProblemError
from ..saved import array_of, columns_of, damaged, fields_of, inflated, message_of, packed

__all__ = [
    "CENTROIDS", "FOLDER", "PREFIXES", "ClusterTable", "SharedTable", "VectorTable",
    "shipped_table", "words_by_key",
]  # fmt: skip

Table = TypeVar("Table", bound="SharedTable")

#: Files are called by kind and language, and by the hash of their numbers, such as
#: ``clusters-en-0123456789abcdef``. None is ever removed: saved pipelines name them.
FOLDER = Path(__file__).parents[2] / "data" / "tables"
#: The bits of a path that features of it look at.
PREFIXES = (15, 63, 1023, 0xFFFFFFFF)
#: Centroids of each part of a vector: what a byte can number.
CENTROIDS = 256
#: Clusters and classes of words are kept in so many bits.
MOST = 1 << 16

_MARK = b"table:"
_CASES = ("lower", "title")
_hash = cast(Any, strings).hash_string


class SharedTable:
    """What is known of words, by 32 bits of their hashes; parts of a pipeline share it.

    Of a hundred thousand unknown words, about four are taken for a known one.
    """

    #: **Shape (words,)**, uint32, increasing.
    keys: NDArray[np.uint32]
    #: What errors call it.
    part: ClassVar[str]
    #: The tables that were read and are still in use, by their class and the hash of their bytes.
    _read_before: ClassVar[WeakValueDictionary[tuple[type, bytes], Any]] = WeakValueDictionary()

    def __len__(self) -> int:
        return len(self.keys)

    def find(self, words: Iterable[str]) -> NDArray[np.int64]:
        """**Shape (words,)**: the place of each word in the table; -1 for none."""
        wanted = np.array([_key_of(word) for word in words], dtype=np.uint32)
        if not len(self) or not len(wanted):
            return np.full(len(wanted), -1, dtype=np.int64)
        places = np.minimum(np.searchsorted(self.keys, wanted), len(self) - 1)
        return np.where(self.keys[places] == wanted, places, -1)

    def features(self, words: Sequence[str]) -> NDArray[Any]:
        """**Shape (words, columns)**: what a network is told of words."""
        raise NotImplementedError(f"{type(self).__name__} must implement features().")

    def name(self) -> str:
        """Return the hash of the table's numbers, which no compression changes."""
        hashed = hashlib.sha256()
        for column in self._columns():
            hashed.update(f"{column.dtype.str} {column.shape}".encode())
            hashed.update(column.tobytes())
        return hashed.hexdigest()[:16]

    def to_bytes(self) -> bytes:
        """Return the table as bytes; a shipped one as its name alone."""
        name = self.name()
        return _MARK + name.encode() if any(FOLDER.glob(f"*-{name}")) else self.content()

    def content(self) -> bytes:
        """Return the table as bytes, as it ships."""
        raise NotImplementedError(f"{type(self).__name__} must implement content().")

    @classmethod
    def from_bytes(cls: type[Table], data: bytes) -> Table:
        """Make a table of bytes; the parts of a pipeline that have the same share it.

        Raises
        ------
        StorageError
            If they are damaged, or name a table that this installation does not have.
        """
        if not isinstance(data, bytes):
            raise damaged(cls.part, f"expected bytes, got {data!r:.40}")
        name = cls, hashlib.sha256(data).digest()
        known = cls._read_before.get(name)
        if known is None:
            known = cls._read_before[name] = cls._read(_resolved(data, cls.part))
        found: Table = known
        return found

    @classmethod
    def _read(cls: type[Table], data: bytes) -> Table:
        raise NotImplementedError(f"{cls.__name__} must implement _read().")

    def _columns(self) -> Sequence[NDArray[Any]]:
        raise NotImplementedError(f"{type(self).__name__} must implement _columns().")


@dataclass(frozen=True, eq=False)
class ClusterTable(SharedTable):
    """The cluster of each word, and how often and in which case it is written.

    Examples
    --------
    >>> table = ClusterTable.of({"Monday": 0b1011, "Tuesday": 0b1011, "runs": 0b0110})
    >>> table.lookup(["Monday", "TUESDAY", "unheard"]).tolist()
    [[11, 0], [11, 0], [0, 0]]
    """

    keys: NDArray[np.uint32]
    #: **Shape (words,)**, uint16: which of the clusters.
    numbers: NDArray[np.uint16]
    #: **Shape (clusters,)**, uint32: the path from the root of the tree of clusters, the first
    #: turn in the lowest bit; 0 for none.
    paths: NDArray[np.uint32]
    #: **Shape (words,)**, uint16: 256 times the class of the word's frequency, plus the class
    #: of its case; 0 for unknown.
    classes: NDArray[np.uint16]
    part: ClassVar[str] = "clusters"

    @classmethod
    def of(
        cls, clusters: Mapping[str, int], classes: Mapping[str, int] | None = None
    ) -> ClusterTable:
        """Make a table.

        Parameters
        ----------
        clusters
            The path of each word's cluster, the first turn in the lowest bit.
        classes
            The class of each word; words without one have 0.

        Raises
        ------
        ProblemError
            If there are more than 65,536 clusters, or a number is out of range.
        """
        classes = classes or {}
        words = words_by_key(sorted({*clusters, *classes}))
        given = [clusters.get(word, 0) for word in words.values()]
        paths = sorted({0, *given})
        if len(paths) > MOST or paths[0] < 0 or paths[-1] >= 1 << 32:
            raise ProblemError(
                f"clusters: expected up to {MOST:,} paths of up to 32 bits, got {len(paths):,} "
                f"from {paths[0]} to {paths[-1]}."
            )
        place = {path: number for number, path in enumerate(paths)}
        return cls(
            np.array(list(words), dtype=np.uint32),
            np.array([place[path] for path in given], dtype=np.uint16),
            np.array(paths, dtype=np.uint32),
            np.array([classes.get(word, 0) for word in words.values()], dtype=np.uint16),
        )

    def lookup(self, words: Sequence[str]) -> NDArray[np.uint64]:
        """**Shape (words, 2)**: the path of each word (or of its lower case, or title case), and
        its class; 0 for none."""
        found = np.zeros((len(words), 2), dtype=np.uint64)
        if not len(self):
            return found
        for forms in (words, *([getattr(word, case)() for word in words] for case in _CASES)):
            places = self.find(forms)
            paths = np.where(places >= 0, self.paths[self.numbers[places]], 0)
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
        """Return the table as bytes, about 4 for each word."""
        return bytes(srsly.msgpack_dumps([packed(column) for column in self._columns()]))

    def _columns(self) -> Sequence[NDArray[Any]]:
        return _gaps_of(self.keys), self.numbers, self.paths, self.classes

    @classmethod
    def _read(cls, data: bytes) -> ClusterTable:
        columns = message_of(data, cls.part)
        if not isinstance(columns, list) or len(columns) != len(_COLUMNS):
            raise damaged(cls.part, f"expected {len(_COLUMNS)} columns")
        gaps, numbers, paths, classes = (
            columns_of(inflated(column, f"clusters, {name}"), kind, f"clusters, {name}")
            for column, (name, kind) in zip(columns, _COLUMNS, strict=True)
        )
        if not len(gaps) == len(numbers) == len(classes):
            raise damaged(
                cls.part,
                f"{len(gaps):,} words, clusters of {len(numbers):,}, classes of {len(classes):,}",
            )
        keys = _keys_of(gaps, f"{cls.part}, words")
        if len(numbers) and numbers.max() >= len(paths):
            raise damaged(cls.part, f"cluster {numbers.max():,} of {len(paths):,}")
        return cls(keys, numbers, paths, classes)


#: The columns of a saved table of clusters.
_COLUMNS: tuple[tuple[str, Any], ...] = (
    ("words", np.uint32), ("numbers", np.uint16), ("paths", np.uint32), ("classes", np.uint16)
)  # fmt: skip


@dataclass(frozen=True, eq=False)
class VectorTable(SharedTable):
    """The vector of each word, in about 35 bytes a word.

    A vector is cut into parts, each of which is a byte, the number of one of 256 centroids:
    product quantisation (Jégou, Douze, Schmid 2011, *Product Quantization for Nearest Neighbor
    Search*).
    """

    keys: NDArray[np.uint32]
    #: **Shape (words, parts)**, uint8: which centroid.
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
        """**Shape (words, width)**: the vector of each word, or of its lower case; zeros for
        none."""
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

    def _columns(self) -> Sequence[NDArray[Any]]:
        return self.keys, self.codes, self.centroids

    @classmethod
    def _read(cls, data: bytes) -> VectorTable:
        saved = fields_of(message_of(data, cls.part), ("words", "codes", "centroids"), cls.part)
        name = f"{cls.part}, centroids"
        centroids = array_of(saved[2], np.float16, (-1, CENTROIDS, -1), name)
        if not np.isfinite(centroids).all():
            raise damaged(name, "expected finite numbers")
        name = f"{cls.part}, words"
        keys = _keys_of(columns_of(inflated(saved[0], name), np.uint32, name), name)
        size = len(keys) * len(centroids)
        codes = np.frombuffer(inflated(saved[1], f"{cls.part}, codes", size), dtype=np.uint8)
        return cls(keys, np.ascontiguousarray(codes.reshape(len(centroids), -1).T), centroids)


def words_by_key(words: Iterable[str]) -> dict[int, str]:
    """Return words by the keys of tables, in their order; of two with one key, the first."""
    kept: dict[int, str] = {}
    for word in words:
        kept.setdefault(_key_of(word), word)
    return dict(sorted(kept.items()))


def shipped_table(kind: str, lang: str) -> bytes:
    """Return the table of a kind for a language.

    Raises
    ------
    ProblemError
        If none ships.
    """
    found = [file for file in FOLDER.glob("*-*-*") if file.name.startswith(f"{kind}-{lang}-")]
    if not found:
        raise ProblemError(
            f"{kind}: none ship for {lang!r}, only for 'en'. Make them by the scripts of "
            "projects/english, word_clusters.py, word_groups.py or word_vectors.py, or clusters "
            "of your own text by projects/danish/scripts/clusters.py, and name the file by `path`."
        )
    return max(found).read_bytes()


def _key_of(word: str) -> int:
    hashed: int = _hash(word)
    return hashed & 0xFFFFFFFF


def _gaps_of(keys: NDArray[np.uint32]) -> NDArray[np.uint32]:
    """The differences of increasing keys, which compress well."""
    return np.diff(keys, prepend=np.uint32(0)).astype(np.uint32)


def _keys_of(gaps: NDArray[np.uint32], part: str) -> NDArray[np.uint32]:
    keys = np.cumsum(gaps, dtype=np.uint64)
    if len(keys) and (not gaps[1:].all() or keys[-1] >= 1 << 32):
        raise damaged(part, "they are not in order")
    return keys.astype(np.uint32)


def _resolved(data: bytes, part: str) -> bytes:
    """Return the table that a name stands for; other content as it is."""
    if not data.startswith(_MARK):
        return data
    name = data.removeprefix(_MARK).decode("ascii", "replace")
    for file in FOLDER.glob("*-*-*"):
        if file.name.endswith(f"-{name}"):
            return file.read_bytes()
    raise damaged(part, f"this release of spacy-decoders has no table {name!r:.40}")
