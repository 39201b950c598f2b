"""Where word clusters come from: spaCy's lookups, or a file of paths."""

from __future__ import annotations

import math
from collections.abc import Mapping
from functools import lru_cache
from importlib.resources import files
from pathlib import Path
from typing import Any, Literal

from ...errors import ProblemError
from ...readers.text_lines import text_lines
from .table import ClusterTable, shipped_table

__all__ = ["WordClusters", "clusters_of_language", "clusters_of_paths", "path_number"]

#: What may ship for a language.
Kind = Literal["clusters", "groups"]
#: Classes of frequency are this wide, in natural logarithms.
_STEP = 1.5
#: Log-probability of a word that the lookups do not have.
_UNSEEN = -20.0


class WordClusters:
    """Word clusters that a model is to have, read when it is initialised.

    A trained model keeps them: whoever loads it needs neither the file nor the package.

    Parameters
    ----------
    lang
        "en", or a language whose clusters ``spacy-lookups-data`` has, such as "de" or "es"; None
        to read a file.
    path
        A file of paths, as ``python -m spacy decoders clusters`` and wcluster [1]_ write it:
        bits, word and perhaps count, separated by tabs.
    kind
        Of a language: "clusters" by the company that words keep, or "groups" of words with like
        vectors, which ship for "en".

    Raises
    ------
    ProblemError
        If both a language and a file are given, or neither.

    References
    ----------
    .. [1] Liang (2005), Semi-Supervised Learning for Natural Language.
    """

    def __init__(
        self, lang: str | None = None, path: str | Path | None = None, kind: Kind = "clusters"
    ) -> None:
        if (lang is None) == (path is None):
            raise ProblemError("clusters: name either a language or a file of paths.")
        if kind not in ("clusters", "groups"):
            raise ProblemError(f'kind: expected "clusters" or "groups"; got {kind!r}.')
        self.lang = lang
        self.path = path
        self.kind = kind

    def read(self) -> ClusterTable:
        """Read them."""
        if self.lang is None:
            return clusters_of_paths(Path(str(self.path)))
        if self.kind == "clusters":
            return clusters_of_language(self.lang)
        shipped = shipped_table("groups", self.lang)
        if shipped is None:
            raise ProblemError(
                f"groups: none ship for {self.lang!r}, only for 'en'. Make them of word vectors "
                "by projects/english/scripts/word_groups.py, and name the file that it writes."
            )
        return ClusterTable.from_bytes(shipped)


@lru_cache(maxsize=4)
def clusters_of_language(lang: str) -> ClusterTable:
    """Read the clusters that ship, or those of ``spacy-lookups-data``, and its frequencies.

    They are kept: reading a million words takes seconds.

    Raises
    ------
    ProblemError
        If the package is not installed, or has no clusters of the language.
    """
    shipped = shipped_table("clusters", lang)
    return _of_lookups(lang) if shipped is None else ClusterTable.from_bytes(shipped)


def _of_lookups(lang: str) -> ClusterTable:
    try:
        # read directly: spaCy's own tables of a million words take a minute to fill
        folder = Path(str(files("spacy_lookups_data"))) / "data"
    except ModuleNotFoundError:
        folder = Path()
    file = folder / f"{lang}_lexeme_cluster.json.gz"
    if not file.is_file():
        raise ProblemError(
            f"clusters: there are none for {lang!r}. English ones ship; German and Spanish ones "
            "come with `pip install spacy-decoders[clusters]`; for another language name a file "
            "of paths."
        )
    clusters = {word: cluster for word, cluster in _words(file).items() if cluster}
    logs = folder / f"{lang}_lexeme_prob.json.gz"
    return ClusterTable.of(clusters, _classes(clusters, _words(logs) if logs.exists() else {}))


def _words(path: Path) -> dict[str, Any]:
    import srsly

    words: dict[str, Any] = srsly.read_gzip_json(path)
    return words


def _classes(clusters: Mapping[str, int], logs: Mapping[str, float]) -> dict[str, int]:
    """The class of frequency and of case of each word that has a cluster, in lower case."""
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


def clusters_of_paths(path: Path) -> ClusterTable:
    """Read a file of paths.

    Raises
    ------
    ProblemError
        If a line is no path, word and perhaps count, or a path has more than 31 turns.
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
                f"{path.name}, line {number}: expected bits (31 at most), a word and perhaps its "
                f"count, separated by tabs; got {line.strip()!r}."
            )
        clusters[fields[1]] = path_number(bits)
        if len(fields) == 3:
            counts[fields[1]] = float(count[0])
    total = sum(counts.values())
    logs = {word: math.log(count / total) for word, count in counts.items() if count > 0}
    return ClusterTable.of(clusters, _classes(clusters, logs))


def path_number(bits: str) -> int:
    """Return a path as a number: the first turn in the lowest bit, a bit set behind the last.

    >>> bin(path_number("0010"))
    '0b10100'
    """
    return int("1" + bits[::-1], 2)
