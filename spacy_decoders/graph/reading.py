"""Edges from files and from networkx."""

from __future__ import annotations

import csv
import gzip
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from ..errors import ProblemError

__all__ = ["Edges", "networkx_lengths", "read_networkx", "read_parquet", "read_tsv"]

#: Pairs of vertices, **shape** (m, 2), and the names of vertices that were numbered in their
#: order; no names where vertices are whole numbers.
Edges = tuple[NDArray[Any], list[str]]


def read_networkx(graph: Any) -> Edges:
    """Return the edges of a networkx graph, and the names of nodes that are not integers."""
    if not (hasattr(graph, "nodes") and hasattr(graph, "edges")):
        raise ProblemError(f"graph: expected a networkx graph; got {type(graph).__name__}.")
    nodes = list(graph.nodes)
    if all(isinstance(node, int | np.integer) for node in nodes):
        return np.array(list(graph.edges())).reshape(-1, 2), []
    number = {node: i for i, node in enumerate(nodes)}
    edges = np.array([(number[u], number[v]) for u, v in graph.edges()]).reshape(-1, 2)
    return edges, [str(node) for node in nodes]


def networkx_lengths(graph: Any, weight: str) -> list[Any]:
    """Return an attribute of the edges of a networkx graph, 1 where it is missing."""
    given = [length for _, _, length in graph.edges(data=weight)]
    if given and all(length is None for length in given):
        raise ProblemError(f"weight: no edge has the attribute {weight!r}.")
    return [1 if length is None else length for length in given]


def read_parquet(path: str | Path, columns: tuple[str, str] | None) -> NDArray[Any]:
    """Read pairs from two columns of a parquet file, by default its first two."""
    try:
        from pyarrow import parquet
    except ImportError as error:
        raise ImportError(
            "reading parquet needs pyarrow: pip install 'spacy-decoders[parquet]'"
        ) from error
    names = columns or tuple(parquet.read_schema(path).names[:2])
    if len(names) != 2:
        raise ProblemError(f"path: {path} has fewer than two columns.")
    table = parquet.read_table(path, columns=list(names))
    return np.stack([table.column(name).to_numpy() for name in names], axis=1)


def read_tsv(path: str | Path, columns: tuple[int, int]) -> Edges:
    """Read pairs from a tab-separated file, gzipped or not; ``#`` begins a comment.

    Returns the edges, and the labels of the vertices if they are not integers, which are then
    numbered in order of appearance; else no labels.
    """
    pairs = list(_pairs(Path(path), columns))
    try:
        return np.array(pairs, dtype=np.int64).reshape(-1, 2), []
    except (ValueError, OverflowError):
        numbers: dict[str, int] = {}
        edges = [[numbers.setdefault(end, len(numbers)) for end in pair] for pair in pairs]
        return np.array(edges, dtype=np.int64), list(numbers)


def _pairs(path: Path, columns: tuple[int, int]) -> Iterator[tuple[str, str]]:
    opener: Any = gzip.open if path.suffix == ".gz" else open
    with opener(path, "rt", encoding="utf-8-sig", newline="") as lines:
        rows = csv.reader(lines, delimiter="\t", quoting=csv.QUOTE_NONE)
        for row in rows:
            if not row or row[0].startswith("#"):
                continue
            if len(row) <= max(columns):
                raise ProblemError(
                    f"path: line {rows.line_num} of {path} has {len(row)} tab-separated "
                    f"columns, too few for columns {columns}."
                )
            yield row[columns[0]], row[columns[1]]
