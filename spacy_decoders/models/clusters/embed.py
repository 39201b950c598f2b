"""Word clusters and vectors for networks, beside another embedding."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, TypeAlias, cast

import numpy as np
from spacy.tokens import Doc
from thinc.api import (
    HashEmbed,
    Linear,
    Maxout,
    Model,
    chain,
    concatenate,
    list2ragged,
    ragged2list,
    with_array,
)
from thinc.types import Floats2d, Ints2d

from .memory import COLUMNS, ClusterMemory, VectorMemory, WordMemory
from .sources import WordClusters
from .vectors import WordVectors

__all__ = ["build_cluster_embed"]

Embed: TypeAlias = "Model[list[Doc], list[Floats2d]]"


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
