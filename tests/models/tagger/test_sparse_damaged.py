"""Damaged weights, gazetteers and clusters are refused before a compiled loop reads them."""

import gc
import zlib

import numpy as np
import pytest
import spacy
import srsly

from spacy_decoders.errors import StorageError
from spacy_decoders.models.tagger.sparse.features import DocBatch, FeatureReader
from spacy_decoders.models.tagger.sparse.weights import Learning, SparseWeights

from .test_sparse_parts import lists

BITS, SIZE = 8, 5
TEMPLATES = ["lower[-1..1]", "cluster[0]", "listed[0]", "gazetteer[0]", "lower[-1] | lower[0]"]
DAMAGED = "the saved model is damaged"


def trained() -> SparseWeights:
    weights = lists(SIZE, BITS)
    weights._trained()[np.random.default_rng(0).random((1 << BITS, SIZE)) < 0.5] = 0
    return weights


SAVED = trained().to_bytes()


def fresh() -> SparseWeights:
    return SparseWeights(Learning(bits=BITS))


def emissions(weights: SparseWeights) -> np.ndarray:
    doc = spacy.blank("en")("The old man sees New York " + " ".join(f"w{i}" for i in range(50)))
    return FeatureReader(TEMPLATES).emissions(DocBatch.of([doc]), weights)


def planes(numbers: np.ndarray) -> bytes:
    """Numbers of two bytes, as a table of weights has them."""
    return zlib.compress(numbers.astype("<u2").view(np.uint8).reshape(-1, 2).T.tobytes())


def plain(*numbers: int, kind: str = "<u4") -> bytes:
    return zlib.compress(np.array(numbers, dtype=kind).tobytes())


def with_part(part: str | None, **changes) -> bytes:
    """What was saved, with other fields in one of its parts; itself, if no part is named."""
    saved = srsly.msgpack_loads(SAVED)
    if part is None:
        saved.update(changes)
    elif part == "weights":
        saved["weights"].update(changes)
    else:
        fields = srsly.msgpack_loads(saved[part])
        saved[part] = srsly.msgpack_dumps({**fields, **changes})
    return srsly.msgpack_dumps(saved)


ENTRIES = 659  # how many weights are saved
ROWS = 1 << BITS


def table_of(cells: int, used: int = 0) -> dict:
    """A gazetteer with so many cells, of which the first are used."""
    return {
        "kinds": ["a"],
        "cells": cells,
        "used": plain(*[0, *[1] * (used - 1)][:used]),
        "keys": plain(*[3] * used),
        "entries": plain(*[1] * used, kind="<u2"),
    }


def test_what_is_whole_is_loaded():
    weights = fresh().from_bytes(SAVED)
    assert weights.packed.starts[-1] == len(weights.packed.labels) == ENTRIES
    np.testing.assert_allclose(emissions(weights), emissions(trained()), atol=0.2)
    nearly_full = fresh().from_bytes(with_part("phrases", **table_of(16, 15)))
    assert np.isfinite(emissions(nearly_full)).all()


@pytest.mark.parametrize(
    ("part", "changes"),
    [
        *(("weights", {"labels": planes(np.full(ENTRIES, label))}) for label in (SIZE, 65535)),
        *(("weights", {"labels": planes(np.zeros(size))}) for size in (5, ENTRIES + 1)),
        *(("weights", {"labels": junk}) for junk in (b"junk", None)),
        *(("weights", {"counts": planes(np.full(ROWS, count))}) for count in (SIZE, 60000)),
        ("weights", {"counts": planes(np.zeros(ROWS - 1))}),
        ("weights", {"counts": zlib.compress(bytes(100_000_000), 1)}),
        ("weights", {"values": zlib.compress(b"\1" * 3)}),
        ("weights", {"values": zlib.compress(bytes(ENTRIES))[:-2]}),
        ("weights", {"values": zlib.compress(bytes(ENTRIES)) + b"x"}),
        *(("weights", {"rows": rows}) for rows in (ROWS - 1, 0, -1, 1 << 40, "x")),
        *(("weights", {"scale": s}) for s in (float("nan"), float("inf"), 1e300, -1.0, "x")),
        *(("phrases", table_of(cells)) for cells in (0, 17, -16, 1 << 40)),
        *(("phrases", table_of(16, used)) for used in (16, 17)),
        ("phrases", {"cells": None}),
        ("phrases", {**table_of(16, 1), "used": plain(99)}),
        *(("phrases", {**table_of(16, 2), "used": plain(3, gap)}) for gap in (0, 2**32 - 1)),
        ("phrases", {**table_of(16, 2), "used": zlib.compress(b"12345")}),
        ("phrases", {**table_of(16, 2), "keys": plain(3)}),
        ("phrases", {**table_of(16, 2), "keys": plain(3, 0)}),
        *(
            ("phrases", {**table_of(16, 2), "entries": plain(*of, kind="<u2")})
            for of in ([1], [1, 2])
        ),
        *(("phrases", {"kinds": kinds}) for kinds in ([str(i) for i in range(16)], 3)),
        *((None, {"size": size}) for size in (0, 1, -1, 1 << 17, 5.0, "x", None, True)),
        *((None, {"weights": value}) for value in (5, {}, None)),
        *((None, {"phrases": value}) for value in (b"junk", 5, b"")),
        *((None, {"clusters": value}) for value in (b"junk", b"", [])),
    ],
)
def test_what_is_damaged_is_refused(part, changes):
    with pytest.raises(StorageError, match=DAMAGED):
        fresh().from_bytes(with_part(part, **changes))


def test_a_refused_model_changes_nothing():
    weights = trained()
    before = emissions(weights)
    collects = gc.isenabled()
    for data in (SAVED[:-3], with_part("phrases", **table_of(17)), b""):
        with pytest.raises(StorageError):
            weights.from_bytes(data)
    np.testing.assert_array_equal(emissions(weights), before)
    assert gc.isenabled() == collects
