"""The sources of word clusters and vectors: tables that ship, or files."""

import math
from collections.abc import Mapping
from pathlib import Path
from typing import Literal

from ...errors import ProblemError
from ...readers.text_lines import text_lines
from .table import ClusterTable, VectorTable, shipped

__all__ = ["WordClusters", "WordVectors", "classes_of", "clusters_of_paths", "path_number"]

#: The width of a class of frequency, in natural logarithms.
_STEP = 1.5
#: The log-probability of a word that was not counted.
_UNSEEN = -20.0


class WordClusters:
    """The source of a model's word clusters, read when it is initialised.

    A trained model contains them, so that loading it needs no file.

    Parameters
    ----------
    lang
        A language whose clusters ship: "en". None to read a file.
    path
        A file of paths, as written by ``projects/danish/scripts/clusters.py`` and wcluster [1]_:
        bits, word and optionally count, separated by tabs.
    kind
        For a language: "clusters" by neighbouring words, or "groups" of words with similar
        vectors.

    References
    ----------
    .. [1] Liang (2005), Semi-Supervised Learning for Natural Language.
    """

    def __init__(
        self,
        lang: str | None = None,
        path: str | Path | None = None,
        kind: Literal["clusters", "groups"] = "clusters",
    ) -> None:
        self.lang, self.path = _one_of(lang, path)
        self.kind = kind

    def read(self) -> ClusterTable:
        """Read the clusters."""
        if self.lang is None:
            return clusters_of_paths(self.path)
        return ClusterTable.from_bytes(shipped(self.kind, self.lang))


class WordVectors:
    """The source of a model's word vectors, read when it is initialised.

    A trained model contains them, in a few bytes a word, so that loading it needs no file. They
    ship for the language "en"; ``projects/english/scripts/word_vectors.py`` makes other files.
    """

    def __init__(self, lang: str | None = None, path: str | Path | None = None) -> None:
        self.lang, self.path = _one_of(lang, path)

    def read(self) -> VectorTable:
        """Read the vectors."""
        if self.lang is None:
            return VectorTable.from_bytes(self.path.read_bytes())
        return VectorTable.from_bytes(shipped("vectors", self.lang))


def _one_of(lang: str | None, path: str | Path | None) -> tuple[str | None, Path]:
    """Return a source; raises `ProblemError` if not exactly one of the two is given."""
    if (lang is None) == (path is None):
        raise ProblemError("lang, path: give exactly one, a language or a file.")
    return lang, Path(path or "")


def clusters_of_paths(path: Path) -> ClusterTable:
    """Read a file of paths.

    Raises `ProblemError` if a line is not a path, a word and optionally a count, or a path has
    more than 31 bits.
    """
    clusters: dict[str, int] = {}
    counts: dict[str, float] = {}
    for number, line in enumerate(text_lines(path), start=1):
        fields = line.rstrip("\r\n").split("\t")
        if not line.strip():
            continue
        bits, *count = fields[0], *fields[2:]
        no_path = not bits or set(bits) - {"0", "1"} or len(bits) > 31
        if no_path or len(fields) not in (2, 3) or not all(c.isdecimal() for c in count):
            raise ProblemError(
                f"{path.name}, line {number}: expected bits (31 at most), a word and optionally "
                f"its count, separated by tabs; got {line.strip()!r}."
            )
        clusters[fields[1]] = path_number(bits)
        if len(fields) == 3:
            counts[fields[1]] = float(count[0])
    total = sum(counts.values())
    logs = {word: math.log(count / total) for word, count in counts.items() if count > 0}
    return ClusterTable.of(clusters, classes_of(clusters, logs))


def path_number(bits: str) -> int:
    """Return a path as a number: its first bit is the lowest, and a set bit follows the last.

    >>> bin(path_number("0010"))
    '0b10100'
    """
    return int("1" + bits[::-1], 2)


def classes_of(clusters: Mapping[str, int], logs: Mapping[str, float]) -> dict[str, int]:
    """Return the class of frequency and case of each word, in lower case, that has a cluster.

    `logs` are the log-probabilities of words.
    """
    classes = {}
    for word in {word.lower() for word in clusters}:
        lower, title, upper = (
            logs.get(form, _UNSEEN) for form in (word, word.title(), word.upper())
        )
        most = max(lower, title, upper)
        if most == _UNSEEN:
            continue
        case = 8 + min(max(round(title - lower), -6), 6) + (16 if upper == most else 0)
        classes[word] = 256 * (1 + int(-most / _STEP)) + case
    return classes
