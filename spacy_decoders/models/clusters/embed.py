"""Word clusters and vectors as network layers, in addition to another embedding."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any, TypeAlias, cast

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
from thinc.types import Floats2d

from ..vocabularies import vocab_of
from .sources import WordClusters, WordVectors
from .table import PREFIXES, ClusterTable, SharedTable, VectorTable

__all__ = ["WordMemory", "build_cluster_embed"]

Embed: TypeAlias = Model[list[Doc], list[Floats2d]]


class WordMemory(Shim):  # type: ignore[misc]
    """A table of words as part of a thinc model: saved with it, but not trained."""

    def __init__(self, kind: type[SharedTable]) -> None:
        super().__init__(None)
        self.kind = kind
        self.table: SharedTable | None = None

    def features(self, docs: Sequence[Doc]) -> list[Any]:
        """Return the features of the words of each document, a row for each token."""
        if not docs or self.table is None:
            return [np.zeros((len(doc), 0)) for doc in docs]
        given: list[Any] = [cast(Any, doc.to_array(ORTH)) for doc in docs]
        orths, back = np.unique(np.concatenate(given), return_inverse=True)
        strings = vocab_of(docs, orths).strings
        rows = self.table.features([strings[orth] for orth in orths.tolist()])[back]
        return np.split(rows, np.cumsum([len(of_doc) for of_doc in given])[:-1])

    def finish_update(self, optimizer: Any) -> None:
        """Do nothing."""

    def to_device(self, device_type: str, device_id: int) -> None:
        """Stay on the processor."""

    def to_bytes(self) -> bytes:
        """Save the table."""
        return b"" if self.table is None else self.table.to_bytes()

    def from_bytes(self, data: bytes) -> WordMemory:
        """Load a table."""
        self.table = None if data == b"" else self.kind.from_bytes(data)
        return self


def build_cluster_embed(
    embed: Embed,
    clusters: WordClusters | None,
    width: int,
    rows: int = 1000,
    cluster_width: int = 32,
    vectors: WordVectors | None = None,
) -> Embed:
    """Build an embedding layer that adds word clusters, and vectors, to another embedding.

    Parameters
    ----------
    embed
        The other layer, such as ``spacy.MultiHashEmbed.v2``.
    clusters
        The source of clusters, read when the model is initialised; None for none.
    width
        The width of the output vectors.
    rows
        The number of rows of each embedding table.
    cluster_width
        The width of the embeddings of each prefix of the cluster's path, of 4, 6, 10 and all
        bits, and of the classes of frequency and case.
    vectors
        The source of word vectors, read when the model is initialised; None for none.

    References
    ----------
    Koo, Carreras, Collins 2008, *Simple Semi-supervised Dependency Parsing*: prefixes of paths.
    """
    parts: list[Any] = [embed]
    if clusters is not None:
        tables: list[Any] = [
            HashEmbed(cluster_width, rows, column=column, seed=80 + column, dropout=0.0)
            for column in range(len(PREFIXES) + 2)
        ]
        parts.append(_looked_up("word_clusters", clusters, ClusterTable, concatenate(*tables)))
    if vectors is not None:
        parts.append(_looked_up("word_vectors", vectors, VectorTable, Linear(width)))
    mixed: Any = with_array(cast(Any, Maxout(width, nP=3, dropout=0.0, normalize=True)))
    return cast(Embed, chain(cast(Any, concatenate(*parts)), mixed))


def _looked_up(
    name: str, source: WordClusters | WordVectors, kind: type[SharedTable], layer: Any
) -> Any:
    """A layer over a table's features of each token."""
    looked_up: Model[Any, Any] = Model(
        name, _look_up, init=_read, shims=[WordMemory(kind)], attrs={"source": source}
    )
    return chain(looked_up, list2ragged(), with_array(layer), ragged2list())


def _look_up(
    model: Model[Any, Any], docs: list[Doc], is_train: bool
) -> tuple[list[Any], Callable[[Any], list[Doc]]]:
    memory = cast(WordMemory, model.shims[0])
    asarray: Any = model.ops.asarray
    return [asarray(rows) for rows in memory.features(docs)], lambda gradient: []


def _read(model: Model[Any, Any], X: Any = None, Y: Any = None) -> None:
    cast(WordMemory, model.shims[0]).table = model.attrs["source"].read()
