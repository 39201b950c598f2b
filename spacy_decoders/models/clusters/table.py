"""Word clusters as a table of hashes: small enough to be kept with every pipeline.

Tables that ship are named by saved pipelines, which have no copies of them.
"""

from __future__ import annotations

import hashlib
import zlib
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
from ..saved import columns_of, damaged, inflated, message_of

__all__ = [
    "FOLDER", "PREFIXES", "ClusterTable", "SharedTable", "gaps_of", "hash_of", "key_of",
    "keys_of", "name_of", "packed", "places_of", "shipped_table",
]  # fmt: skip

Table = TypeVar("Table", bound="SharedTable")

#: Clusters and classes of words are kept in so many bits.
MOST = 1 << 16
#: Files are called by kind and language, and by the hash of their numbers, such as
#: ``clusters-en-0123456789abcdef``. None is ever removed: saved pipelines name them.
FOLDER = Path(__file__).parents[2] / "data" / "tables"

_MARK = b"table:"

#: The bits of a path that features of it look at.
PREFIXES = (15, 63, 1023, 0xFFFFFFFF)


class SharedTable:
    """A table of words, known by 32 bits of their hashes, which parts of a pipeline share."""

    keys: NDArray[np.uint32]
    #: What errors call it.
    part: ClassVar[str]
    #: The tables that were read and are still in use, by their class and the hash of their bytes.
    _read_before: ClassVar[WeakValueDictionary[tuple[type, bytes], Any]] = WeakValueDictionary()

    def __len__(self) -> int:
        return len(self.keys)

    @classmethod
    def from_bytes(cls: type[Table], data: bytes) -> Table:
        """Make a table of bytes; the parts of a pipeline that have the same share it.

        Raises
        ------
        StorageError
            If they are damaged.
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


@dataclass(frozen=True, eq=False)
class ClusterTable(SharedTable):
    """The cluster of each word, and how often and in which case it is written.

    Words are known by 32 bits of their hash: of a hundred thousand unknown words, about four
    are taken for a known one.

    Examples
    --------
    >>> table = ClusterTable.of({"Monday": 0b1011, "Tuesday": 0b1011, "runs": 0b0110})
    >>> [table.lookup(word) for word in ("Monday", "TUESDAY", "unheard")]
    [(11, 0), (11, 0), (0, 0)]
    """

    #: **Shape (words,)**, uint32, increasing.
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
        words = sorted({*clusters, *classes})
        kept: dict[int, str] = {}
        for word in words:
            kept.setdefault(key_of(word), word)  # of two words with one key, the first stands
        keys = np.array(sorted(kept), dtype=np.uint32)
        ordered = [kept[key] for key in keys.tolist()]
        given = [clusters.get(word, 0) for word in ordered]
        paths = sorted({0, *given})
        if len(paths) > MOST or paths[0] < 0 or paths[-1] >= 1 << 32:
            raise ProblemError(
                f"clusters: expected up to {MOST:,} paths of up to 32 bits, got {len(paths):,} "
                f"from {paths[0]} to {paths[-1]}."
            )
        place = {path: number for number, path in enumerate(paths)}
        return cls(
            keys,
            np.array([place[path] for path in given], dtype=np.uint16),
            np.array(paths, dtype=np.uint32),
            np.array([classes.get(word, 0) for word in ordered], dtype=np.uint16),
        )

    def lookup(self, word: str) -> tuple[int, int]:
        """Return a word's path (or that of its lower case, or title case) and class."""
        return self.lookup_all([word])[0]

    def lookup_all(self, words: Sequence[str]) -> list[tuple[int, int]]:
        """Return the paths and classes of words; 0 for none."""
        paths = np.zeros(len(words), dtype=np.uint32)
        for forms in (words, *([getattr(w, case)() for w in words] for case in _CASES)):
            found = self.find(forms)
            path = np.where(found >= 0, self.paths[self.numbers[found]], 0) if len(self) else 0
            paths = np.where(paths == 0, path, paths)
        found = self.find([word.lower() for word in words])
        classes = np.where(found >= 0, self.classes[found], 0) if len(self) else found * 0
        return list(zip(paths.tolist(), classes.tolist(), strict=True))

    def find(self, words: Iterable[str]) -> NDArray[np.int64]:
        """**Shape (words,)**: the place of each word in the table; -1 for none."""
        return places_of(self.keys, words)

    def to_bytes(self) -> bytes:
        """Return the table as bytes, about 4 for each word; a shipped one as its name alone."""
        columns = (gaps_of(self.keys), self.numbers, self.paths, self.classes)
        name = name_of(columns)
        return name or bytes(srsly.msgpack_dumps([packed(column) for column in columns]))

    @classmethod
    def _read(cls, data: bytes) -> ClusterTable:
        columns = message_of(data, "clusters")
        if not isinstance(columns, list) or len(columns) != len(_COLUMNS):
            raise damaged("clusters", f"expected {len(_COLUMNS)} columns")
        gaps, numbers, paths, classes = (
            columns_of(inflated(column, f"clusters, {name}"), kind, f"clusters, {name}")
            for column, (name, kind) in zip(columns, _COLUMNS, strict=True)
        )
        if not len(gaps) == len(numbers) == len(classes):
            raise damaged(
                "clusters",
                f"{len(gaps):,} words, clusters of {len(numbers):,}, classes of {len(classes):,}",
            )
        keys = keys_of(gaps, "clusters, words")
        if len(numbers) and numbers.max() >= len(paths):
            raise damaged("clusters", f"cluster {numbers.max():,} of {len(paths):,}")
        return cls(keys, numbers, paths, classes)


#: The columns of a saved table.
_COLUMNS: tuple[tuple[str, Any], ...] = (
    ("words", np.uint32), ("numbers", np.uint16), ("paths", np.uint32), ("classes", np.uint16)
)  # fmt: skip
_CASES = ("lower", "title")
_hash = cast(Any, strings).hash_string


def key_of(word: str) -> int:
    """The 32 bits by which tables know a word."""
    hashed: int = _hash(word)
    return hashed & 0xFFFFFFFF


def places_of(keys: NDArray[np.uint32], words: Iterable[str]) -> NDArray[np.int64]:
    """**Shape (words,)**: the place of each word among increasing keys; -1 for none."""
    wanted = np.array([key_of(word) for word in words], dtype=np.uint32)
    if not len(keys) or not len(wanted):
        return np.full(len(wanted), -1, dtype=np.int64)
    places = np.minimum(np.searchsorted(keys, wanted), len(keys) - 1)
    return np.where(keys[places] == wanted, places, -1)


def gaps_of(keys: NDArray[np.uint32]) -> NDArray[np.uint32]:
    """Return the differences of increasing keys, which compress well."""
    return np.diff(keys, prepend=np.uint32(0)).astype(np.uint32)


def keys_of(gaps: NDArray[np.uint32], part: str) -> NDArray[np.uint32]:
    """Return the keys of saved differences.

    Raises
    ------
    StorageError
        If they do not increase, or leave their range.
    """
    keys = np.cumsum(gaps, dtype=np.uint64)
    if len(keys) and (not gaps[1:].all() or keys[-1] >= 1 << 32):
        raise damaged(part, "they are not in order")
    return keys.astype(np.uint32)


def packed(column: NDArray[np.generic]) -> bytes:
    """Compress a column with the lowest bytes of all its numbers first, then the higher ones."""
    planes = column.reshape(-1, 1).view(np.uint8).T
    return zlib.compress(np.ascontiguousarray(planes).tobytes(), 9)


def shipped_table(kind: str, lang: str) -> bytes | None:
    """Return the table of a kind for a language; None if there is none."""
    found = [file for file in FOLDER.glob("*-*-*") if file.name.startswith(f"{kind}-{lang}-")]
    return max(found).read_bytes() if found else None


def hash_of(columns: Sequence[NDArray[Any]]) -> str:
    """Return the hash of a table's numbers, which no compression changes."""
    hashed = hashlib.sha256()
    for column in columns:
        hashed.update(f"{column.dtype.str} {column.shape}".encode())
        hashed.update(column.tobytes())
    return hashed.hexdigest()[:16]


def name_of(columns: Sequence[NDArray[Any]]) -> bytes | None:
    """Return what stands for a table in saved pipelines if it ships; else None."""
    name = hash_of(columns)
    return _MARK + name.encode() if any(FOLDER.glob(f"*-{name}")) else None


def _resolved(data: bytes, part: str) -> bytes:
    """Return the table that a name stands for; other content as it is.

    Raises
    ------
    StorageError
        If this installation does not have the table.
    """
    if not data.startswith(_MARK):
        return data
    name = data.removeprefix(_MARK).decode("ascii", "replace")
    for file in FOLDER.glob("*-*-*"):
        if file.name.endswith(f"-{name}"):
            return file.read_bytes()
    raise damaged(part, f"this release of spacy-decoders has no table {name!r:.40}")
