"""Word clusters for networks: embeddings of the paths to a word's cluster."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, TypeAlias, cast

import numpy as np
from spacy.attrs import ORTH
from spacy.tokens import Doc
from thinc.api import (
    HashEmbed,
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
from .table import ClusterTable

__all__ = ["ClusterMemory", "build_cluster_embed"]

Embed: TypeAlias = "Model[list[Doc], list[Floats2d]]"

#: The bits of a path that each column shows.
PREFIXES = (15, 63, 1023, 0xFFFFFFFF)
#: Columns: the prefixes, and the classes of frequency and case.
COLUMNS = len(PREFIXES) + 2


#: Words whose columns are kept.
MOST_KNOWN = 200_000


class ClusterMemory(Shim):  # type: ignore[misc]
    """Word clusters as part of a thinc model: saved with it, trained by nobody."""

    def __init__(self) -> None:
        super().__init__(None)
        self.table = ClusterTable.of({})
        self._known: dict[int, tuple[int, ...]] = {}

    def columns(self, doc: Doc) -> list[tuple[int, ...]]:
        """Return what is known of each token's word."""
        # not token by token: making a token costs more than the look-up
        orths: list[int] = cast(Any, doc.to_array(ORTH)).tolist()
        new = [orth for orth in set(orths) if orth not in self._known]
        if len(self._known) > MOST_KNOWN:  # of texts without end
            self._known.clear()
            new = list(set(orths))
        strings = doc.vocab.strings
        found = self.table.lookup_all([strings[orth] for orth in new])
        for orth, (path, classes) in zip(new, found, strict=True):
            prefixes = tuple(path & bits for bits in PREFIXES)
            self._known[orth] = (*prefixes, classes >> 8, classes & 255)
        return [self._known[orth] for orth in orths]

    def finish_update(self, optimizer: Any) -> None:
        """Do nothing."""

    def to_device(self, device_type: str, device_id: int) -> None:
        """Stay on the processor."""

    def to_bytes(self) -> bytes:
        """Save the table."""
        return self.table.to_bytes()

    def from_bytes(self, data: bytes) -> ClusterMemory:
        """Load a table."""
        self.table = ClusterTable.from_bytes(data)
        self._known.clear()
        return self


def build_cluster_embed(
    embed: Embed, clusters: WordClusters, width: int, rows: int = 1000, cluster_width: int = 32
) -> Embed:
    """Build an embedding layer that knows word clusters beside what another layer knows.

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

    Notes
    -----
    Prefixes of paths as features are those of Koo, Carreras, Collins 2008, *Simple
    Semi-supervised Dependency Parsing*.
    """
    tables: list[Any] = [
        HashEmbed(cluster_width, rows, column=column, seed=80 + column, dropout=0.0)
        for column in range(COLUMNS)
    ]
    looked_up: Model[Any, Any] = Model(
        "word_clusters", _look_up, init=_read, shims=[ClusterMemory()], attrs={"source": clusters}
    )
    embedded: Any = chain(
        looked_up, list2ragged(), with_array(cast(Any, concatenate(*tables))), ragged2list()
    )
    mixed: Any = with_array(cast(Any, Maxout(width, nP=3, dropout=0.0, normalize=True)))
    return cast(Embed, chain(cast(Any, concatenate(embed, embedded)), mixed))


def _look_up(
    model: Model[Any, Any], docs: list[Doc], is_train: bool
) -> tuple[list[Ints2d], Callable[[Any], list[Doc]]]:
    memory = cast(ClusterMemory, model.shims[0])
    columns = [
        np.array(memory.columns(doc), dtype=np.uint64).reshape(len(doc), COLUMNS) for doc in docs
    ]
    asarray: Any = model.ops.asarray
    return [asarray(of_doc, dtype="uint64") for of_doc in columns], lambda gradient: []


def _read(model: Model[Any, Any], X: Any = None, Y: Any = None) -> None:
    cast(ClusterMemory, model.shims[0]).table = model.attrs["source"].read()
