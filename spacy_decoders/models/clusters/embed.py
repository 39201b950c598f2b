"""Word clusters and vectors for networks, beside another embedding."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from typing import Any, Generic, TypeAlias, TypeVar, cast

import numpy as np
from spacy.attrs import ORTH
from spacy.tokens import Doc
from thinc.api import (
    HashEmbed,
    Linear,
    Maxout,
    Model,
    Shim,
    chain,
    concatenate,
    list2ragged,
    ragged2list,
    with_array,
)
from thinc.types import Floats2d, Ints2d

from .sources import WordClusters
from .table import PREFIXES, ClusterTable
from .vectors import VectorTable, WordVectors

__all__ = ["COLUMNS", "ClusterMemory", "VectorMemory", "WordMemory", "build_cluster_embed"]

Embed: TypeAlias = "Model[list[Doc], list[Floats2d]]"
Table = TypeVar("Table", ClusterTable, VectorTable)
Found = TypeVar("Found")

#: Columns: the prefixes, and the classes of frequency and case.
COLUMNS = len(PREFIXES) + 2

#: Words of which what was found is kept.
MOST_KNOWN = 200_000


class WordMemory(Shim, Generic[Table, Found]):  # type: ignore[misc]
    """A table of words as part of a thinc model: saved with it, trained by nobody."""

    def __init__(self, table: Table) -> None:
        super().__init__(None)
        self.replace(table)

    def replace(self, table: Table) -> None:
        """Take another table."""
        self.table: Any = table
        self._known: dict[int, Found] = {}

    def look_up(self, words: list[str]) -> Iterable[Found]:
        """Return what the table has of words."""
        raise NotImplementedError(f"{type(self).__name__} must implement look_up().")

    def of_tokens(self, doc: Doc) -> list[Found]:
        """Return what is known of each token's word."""
        # not token by token: making a token costs more than the look-up
        orths: list[int] = cast(Any, doc.to_array(ORTH)).tolist()
        known = self._known
        if len(known) > MOST_KNOWN:  # of texts without end; other threads keep the one they have
            known = self._known = {}
        new = [orth for orth in set(orths) if orth not in known]
        strings = doc.vocab.strings
        found = self.look_up([strings[orth] for orth in new])
        known.update(zip(new, found, strict=True))
        return [known[orth] for orth in orths]

    def finish_update(self, optimizer: Any) -> None:
        """Do nothing."""

    def to_device(self, device_type: str, device_id: int) -> None:
        """Stay on the processor."""

    def to_bytes(self) -> bytes:
        """Save the table."""
        return cast(bytes, self.table.to_bytes())

    def from_bytes(self, data: bytes) -> WordMemory[Table, Found]:
        """Load a table."""
        self.replace(type(self.table).from_bytes(data))
        return self


class ClusterMemory(WordMemory[ClusterTable, "tuple[int, ...]"]):
    """The clusters of words, and their classes of frequency and case."""

    def __init__(self) -> None:
        super().__init__(ClusterTable.of({}))

    def look_up(self, words: list[str]) -> Iterable[tuple[int, ...]]:
        """Return the columns of words."""
        for path, classes in self.table.lookup_all(words):
            yield (*(path & bits for bits in PREFIXES), classes >> 8, classes & 255)


class VectorMemory(WordMemory[VectorTable, int]):
    """The vectors of words."""

    def __init__(self) -> None:
        super().__init__(VectorTable.of({}))

    def look_up(self, words: list[str]) -> Iterable[int]:
        """Return the places of words in the table."""
        found: list[int] = self.table.find(words).tolist()
        return found


def build_cluster_embed(
    embed: Embed,
    clusters: WordClusters,
    width: int,
    rows: int = 1000,
    cluster_width: int = 32,
    vectors: WordVectors | None = None,
) -> Embed:
    """Build an embedding layer that knows word clusters, and vectors, beside what another knows.

    Parameters
    ----------
    embed
        The other layer, such as ``spacy.MultiHashEmbed.v2``.
    clusters
        Where the clusters are read from, when the model is initialised.
    width
        The width of the vectors.
    rows
        Rows of each table of embeddings.
    cluster_width
        The width of the embedding of each of the prefixes of 4, 6, 10 and all turns of the path
        to the cluster, and of the classes of frequency and case.
    vectors
        Where word vectors are read from, when the model is initialised; None for none.

    Notes
    -----
    Prefixes of paths as features are those of Koo, Carreras, Collins 2008, *Simple
    Semi-supervised Dependency Parsing*.
    """
    tables: list[Any] = [
        HashEmbed(cluster_width, rows, column=column, seed=80 + column, dropout=0.0)
        for column in range(COLUMNS)
    ]
    parts = [embed, _of_table(clusters, ClusterMemory(), concatenate(*tables))]
    if vectors is not None:
        parts.append(_of_table(vectors, VectorMemory(), Linear(width)))
    mixed: Any = with_array(cast(Any, Maxout(width, nP=3, dropout=0.0, normalize=True)))
    return cast(Embed, chain(cast(Any, concatenate(*cast(Any, parts))), mixed))


def _of_table(source: WordClusters | WordVectors, memory: Any, layer: Any) -> Any:
    """A layer over what a table has of each token."""
    is_vectors = isinstance(memory, VectorMemory)
    looked_up: Model[Any, Any] = Model(
        "word_vectors" if is_vectors else "word_clusters",
        _vectors_of if is_vectors else _columns_of,
        init=_read,
        shims=[memory],
        attrs={"source": source},
    )
    return chain(looked_up, list2ragged(), with_array(layer), ragged2list())


def _columns_of(
    model: Model[Any, Any], docs: list[Doc], is_train: bool
) -> tuple[list[Ints2d], Callable[[Any], list[Doc]]]:
    memory = cast(ClusterMemory, model.shims[0])
    columns = [
        np.array(memory.of_tokens(doc), dtype=np.uint64).reshape(len(doc), COLUMNS) for doc in docs
    ]
    asarray: Any = model.ops.asarray
    return [asarray(of_doc, dtype="uint64") for of_doc in columns], lambda gradient: []


def _vectors_of(
    model: Model[Any, Any], docs: list[Doc], is_train: bool
) -> tuple[list[Floats2d], Callable[[Any], list[Doc]]]:
    memory = cast(VectorMemory, model.shims[0])
    places = [np.array(memory.of_tokens(doc), dtype=np.int64) for doc in docs]
    asarray: Any = model.ops.asarray
    return [asarray(memory.table.rows(of_doc)) for of_doc in places], lambda gradient: []


def _read(model: Model[Any, Any], X: Any = None, Y: Any = None) -> None:
    cast(WordMemory[Any, Any], model.shims[0]).replace(model.attrs["source"].read())
