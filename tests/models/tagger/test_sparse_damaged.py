"""Damaged weights, gazetteers and clusters are refused before a compiled loop reads them."""

from __future__ import annotations

import gc
import zlib

import numpy as np
import pytest
import spacy
import srsly

from spacy_decoders.errors import StorageError
from spacy_decoders.models.clusters.table import ClusterTable
from spacy_decoders.models.tagger.sparse.features import DocBatch, FeatureReader
from spacy_decoders.models.tagger.sparse.gazetteer import PhraseTable
from spacy_decoders.models.tagger.sparse.weights import Learning, SparseWeights

BITS, SIZE = 8, 5
TEMPLATES = ["lower[-1..1]", "cluster[0]", "listed[0]", "gazetteer[0]", "lower[-1] | lower[0]"]
DAMAGED = "the saved model is damaged"


def trained() -> SparseWeights:
    weights = SparseWeights(Learning(bits=BITS))
    weights.clusters = ClusterTable.of({"man": 0b101, "New": 0b111, "old": 0b1}, {"man": 258})
    strings = spacy.blank("en").vocab.strings
    york = [strings.add(word) for word in ("new", "york")]
    weights.phrases = PhraseTable.of({"city": [york], "word": [york[:1]]})
    weights.set_size(SIZE)
    random = np.random.default_rng(0)
    weights._trained()[:] = random.normal(size=(1 << BITS, SIZE))
    weights._trained()[random.random((1 << BITS, SIZE)) < 0.5] = 0
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


def with_part(part: str, **changes) -> bytes:
    """What was saved, with other fields in one of its parts."""
    saved = srsly.msgpack_loads(SAVED)
    if part == "weights":
        saved["weights"].update(changes)
    else:
        fields = srsly.msgpack_loads(saved[part])
        saved[part] = srsly.msgpack_dumps({**fields, **changes})
    return srsly.msgpack_dumps(saved)


ENTRIES = 584  # how many weights are saved
ROWS = 1 << BITS


def test_what_is_whole_is_loaded():
    weights = fresh().from_bytes(SAVED)
    assert weights.packed.starts[-1] == len(weights.packed.labels) == ENTRIES
    np.testing.assert_allclose(emissions(weights), emissions(trained()), atol=0.2)


@pytest.mark.parametrize(
    ("changes", "part"),
    [
        ({"labels": planes(np.full(ENTRIES, 65535))}, "labels"),
        ({"labels": planes(np.full(ENTRIES, SIZE))}, "labels"),
        ({"labels": planes(np.zeros(5))}, "labels"),
        ({"labels": planes(np.zeros(ENTRIES + 1))}, "labels"),
        ({"labels": b"junk"}, "labels"),
        ({"labels": None}, "labels"),
        ({"counts": planes(np.full(ROWS, 60000))}, "counts"),
        ({"counts": planes(np.full(ROWS, SIZE))}, "labels"),
        ({"counts": planes(np.zeros(ROWS - 1))}, "counts"),
        ({"counts": zlib.compress(bytes(100_000_000), 1)}, "counts"),
        ({"values": zlib.compress(b"\1" * 3)}, "values"),
        ({"values": zlib.compress(bytes(ENTRIES))[:-2]}, "values"),
        ({"values": zlib.compress(bytes(ENTRIES)) + b"x"}, "values"),
        ({"rows": ROWS - 1}, "counts"),
        ({"rows": 0}, "rows"),
        ({"rows": -1}, "rows"),
        ({"rows": 1 << 40}, "rows"),
        ({"rows": "x"}, "rows"),
        ({"rows": 255, "counts": planes(np.append(np.full(116, 5), [4, *[0] * 138]))}, "rows"),
        ({"bits": 3}, "bits"),
        ({"bits": 8.0}, "bits"),
        ({"scale": float("nan")}, "scale"),
        ({"scale": float("inf")}, "scale"),
        ({"scale": 1e300}, "scale"),
        ({"scale": -1.0}, "scale"),
        ({"scale": "x"}, "scale"),
    ],
)
def test_damaged_weights_are_refused(changes, part):
    with pytest.raises(StorageError, match=f"weights, {part}: {DAMAGED}"):
        fresh().from_bytes(with_part("weights", **changes))


@pytest.mark.parametrize("size", [0, 1, -1, 1 << 17, 5.0, "x", None, True])
def test_other_numbers_of_labels_are_refused(size):
    saved = srsly.msgpack_loads(SAVED) | {"size": size}
    with pytest.raises(StorageError, match=rf"weights.*: {DAMAGED}"):
        fresh().from_bytes(srsly.msgpack_dumps(saved))


@pytest.mark.parametrize("name", ["size", "weights", "clusters", "phrases"])
def test_missing_fields_are_refused(name):
    saved = srsly.msgpack_loads(SAVED)
    del saved[name]
    with pytest.raises(StorageError, match=f"{DAMAGED}: {name} missing"):
        fresh().from_bytes(srsly.msgpack_dumps(saved))


@pytest.mark.parametrize(
    "part",
    [("weights", 5), ("weights", {}), ("weights", None), ("phrases", b"junk"), ("phrases", 5),
     ("phrases", b""), ("clusters", b"junk"), ("clusters", b""), ("clusters", [])],
)  # fmt: skip
def test_junk_is_refused(part):
    saved = srsly.msgpack_loads(SAVED) | dict([part])
    with pytest.raises(StorageError, match=DAMAGED):
        fresh().from_bytes(srsly.msgpack_dumps(saved))


def table_of(cells: int, used: int = 0) -> dict:
    """A gazetteer with so many cells, of which the first are used."""
    return {
        "kinds": ["a"],
        "cells": cells,
        "used": plain(*[0, *[1] * (used - 1)][:used]),
        "keys": plain(*[3] * used),
        "entries": plain(*[1] * used, kind="<u2"),
    }


def test_a_nearly_full_gazetteer_is_read():
    weights = fresh().from_bytes(with_part("phrases", **table_of(16, 15)))
    assert np.isfinite(emissions(weights)).all()


@pytest.mark.parametrize(
    ("changes", "part"),
    [
        (table_of(0), "cells"),
        (table_of(17), "cells"),
        (table_of(-16), "cells"),
        (table_of(1 << 40), "cells"),
        (table_of(16, 16), "used"),
        (table_of(16, 17), "used"),
        ({"cells": None}, "cells"),
        ({**table_of(16, 1), "used": plain(99)}, "used"),
        ({**table_of(16, 2), "used": plain(3, 0)}, "used"),
        ({**table_of(16, 2), "used": plain(3, 2**32 - 1)}, "used"),
        ({**table_of(16, 2), "used": zlib.compress(b"12345")}, "used"),
        ({**table_of(16, 2), "keys": plain(3)}, "keys"),
        ({**table_of(16, 2), "keys": plain(3, 0)}, "keys"),
        ({**table_of(16, 2), "entries": plain(1, kind="<u2")}, "entries"),
        ({**table_of(16, 2), "entries": plain(1, 2, kind="<u2")}, "entries"),
        ({"kinds": [str(i) for i in range(16)]}, "kinds"),
        ({"kinds": 3}, "kinds"),
        ({"kinds": [3]}, "kinds"),
    ],
)
def test_damaged_gazetteers_are_refused(changes, part):
    with pytest.raises(StorageError, match=f"gazetteer, {part}: {DAMAGED}"):
        fresh().from_bytes(with_part("phrases", **changes))


def test_a_refused_model_changes_nothing():
    weights = trained()
    before = emissions(weights)
    collects = gc.isenabled()
    for data in (SAVED[:-3], with_part("phrases", **table_of(17)), b""):
        with pytest.raises(StorageError):
            weights.from_bytes(data)
    np.testing.assert_array_equal(emissions(weights), before)
    assert gc.isenabled() == collects


def test_what_is_cut_short_is_refused():
    for length in range(0, len(SAVED), 7):
        with pytest.raises(StorageError, match=DAMAGED):
            fresh().from_bytes(SAVED[:length])


def test_flipped_bits_are_refused_or_harmless():
    random = np.random.default_rng(1)
    refused = 0
    for _ in range(600):
        data = bytearray(SAVED)
        data[random.integers(len(data))] ^= 1 << int(random.integers(8))
        try:
            found = emissions(fresh().from_bytes(bytes(data)))
        except StorageError:
            refused += 1
        except ValueError as error:  # another number of rows than the config's
            assert str(error).startswith("bits: ")
        else:
            assert found.shape[1] >= SIZE
    assert refused > 500


def test_empty_clusters_are_saved():
    weights = trained()
    weights.clusters = ClusterTable.of({})
    loaded = fresh().from_bytes(weights.to_bytes())
    assert loaded.clusters is not None and not len(loaded.clusters)
