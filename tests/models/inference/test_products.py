"""Products of matrices, by the matrix unit, by integers and by BLAS."""

import gc
from types import SimpleNamespace

import numba
import numpy as np
import pytest
from numpy.testing import assert_allclose
from thinc.api import Linear, Model, Relu

from spacy_decoders.models import bilstm
from spacy_decoders.models.bilstm import BiLSTM
from spacy_decoders.models.inference import products
from spacy_decoders.models.inference.kernels import panels
from tests.processes import python

SIZES = [(256, 16, 16), (300, 65, 101), (257, 17, 33), (512, 96, 832), (1000, 208, 49)]


def prepared(matrix):
    layer = Model("weights", None, params={"W": matrix})
    return products.Multiplier.of(layer, "W")


def multiplied(rows, matrix):
    return prepared(matrix).product(rows)


@pytest.fixture(params=["tiles", "pairs", "blas"])
def unit(request, monkeypatch):
    """What multiplies: each way, where this machine has it."""
    for name, has in (("tiles", products.has_tiles), ("pairs", products.has_pairs)):
        if request.param == name and not has():
            pytest.skip("this processor has no such products, or the system does not allow them")
        monkeypatch.setattr(products, f"has_{name}", lambda name=name: request.param == name)
    return request.param


@pytest.mark.parametrize("rows, inner, columns", SIZES)
def test_products_are_those_of_float64(unit, rows, inner, columns):
    rng = np.random.default_rng(rows)
    given = rng.normal(size=(rows, inner)).astype("f") * 10.0 ** rng.integers(-6, 6, (rows, 1))
    matrix = rng.normal(size=(inner, columns)).astype("f")
    given = given.astype("f")
    found = multiplied(given, matrix)
    right = given.astype("d") @ matrix
    scale = np.abs(given).astype("d") @ np.abs(matrix)
    assert found.shape == right.shape and found.dtype == np.float32
    assert (np.abs(found - right) <= (2e-4 if unit == "pairs" else 2e-5) * scale).all()
    assert products.Multiplier(matrix, rows).tiles is None or unit == "tiles"


def test_weights_of_eight_bits_take_one_part(unit):
    rng = np.random.default_rng(5)
    given, matrix = rng.normal(size=(300, 40)).astype("f"), rng.normal(size=(40, 50)).astype("f")
    matrix = (matrix.view(np.uint32) & np.uint32(0xFFFF0000)).view("f")
    assert_allclose(multiplied(given, matrix), given @ matrix, atol=5e-4)
    tiles = products.Multiplier(matrix, 300).tiles
    assert tiles is None or tiles.shape[2] == 1


def test_tiles_are_taken_where_they_are_there_and_worth_it(unit):
    matrix = np.ones((32, 32), "f")
    for found in (products.Multiplier(matrix, 256), prepared(matrix)):
        assert (found.tiles is not None) == (unit == "tiles")
    assert products.Multiplier(matrix, 255).tiles is None
    assert products.Multiplier(matrix[:, :15], 4000).tiles is None


def test_rows_are_given_in_parts_and_written_to_a_room(unit):
    rng = np.random.default_rng(1)
    given, matrix = rng.normal(size=(300, 40)).astype("f"), rng.normal(size=(40, 96)).astype("f")
    weights, room = prepared(matrix), np.full((96, 96), np.nan, "f")
    for part in (given[:1], given[1:8], given[3:5], given[8:72], given[72:100], given[:0]):
        found = weights.product(part, room)
        assert len(found) == 0 or np.shares_memory(found, room)
        assert_allclose(found, part @ matrix, atol=5e-3)


def test_views_are_multiplied_as_their_copies(unit):
    rng = np.random.default_rng(2)
    given, matrix = rng.normal(size=(64, 600)).astype("f"), rng.normal(size=(99, 200)).astype("f")
    found = multiplied(given.T, matrix[:64, ::2])
    assert_allclose(found, given.T.copy() @ matrix[:64, ::2].copy(), atol=5e-3)
    assert_allclose(
        multiplied(given.T, matrix.T[:64, :97]), given.T @ matrix.T[:64, :97], atol=5e-3
    )


#: NaN of several kinds, the last two as graphics cards and as signals write them.
NOT_A_NUMBER = [0x7FC00000, 0xFFC00000, 0x7FFFFFFF, 0xFFFFFFFF, 0x7F800001]


@pytest.mark.parametrize("bits", [*NOT_A_NUMBER, 0x7F800000, 0xFF800000])
@pytest.mark.parametrize("among", ["rows", "weights"])
def test_what_is_no_number_stays_none(unit, among, bits):
    given, matrix = np.ones((256, 32), "f"), np.ones((32, 96), "f")
    (given if among == "rows" else matrix.T).view(np.uint32)[7, 3] = bits
    with np.errstate(all="ignore"):
        found = multiplied(given, matrix)
    found = found if among == "rows" else found.T
    assert not np.isfinite(found[7]).any()
    if bits == 0x7F800000 and among == "rows" and unit != "pairs":
        assert (found[7] == np.inf).all()
    assert_allclose(np.delete(found, 7, axis=0), 32.0, rtol=1e-3)


def test_the_largest_numbers_are_multiplied(unit):
    given, matrix = np.full((256, 32), 3.4028e38, "f"), np.full((32, 96), 1e-7, "f")
    assert_allclose(multiplied(given, matrix), 32 * 3.4028e31, rtol=1e-3)
    assert_allclose(multiplied(matrix.T, np.ones((96, 96), "f")[:32]), 32e-7, rtol=1e-3)


def test_a_network_has_the_same_states_either_way(unit):
    layer = BiLSTM(20, 24)
    layer.initialize()
    rng = np.random.default_rng(3)
    lengths = [1, 40, 0, 7, 90, 90, 3, 60, 120]
    texts = [rng.normal(size=(length, 20)).astype("f") for length in lengths]
    trained, _ = layer(texts, is_train=True)
    for mine, other in zip(layer.predict(texts), trained, strict=True):
        assert_allclose(mine, other, atol=2e-4 if unit == "pairs" else 5e-5)


@pytest.mark.parametrize("width", [3, 8, 13])
def test_states_depend_neither_on_other_texts_nor_on_blocks_of_steps(monkeypatch, width):
    monkeypatch.setattr(products, "has_tiles", lambda: False)
    layer = BiLSTM(5, width)
    layer.initialize()
    rng = np.random.default_rng(width)
    texts = [rng.normal(size=(n, 5)).astype("f") for n in (9, 2, 30, 17, 17)]
    together = np.concatenate(layer.predict(texts))
    alone = np.concatenate([layer.predict([text])[0] for text in texts])
    assert_allclose(alone, together, atol=1e-6)
    for block in (1, 2, 7):
        monkeypatch.setattr(bilstm, "_BLOCK", block)
        assert_allclose(np.concatenate(layer.predict(texts)), together, atol=1e-6)
    trained, _ = layer(texts, is_train=True)
    assert_allclose(together, np.concatenate(trained), atol=5e-5)


def test_no_sum_of_integers_overflows():
    for inner in (16, 17, 3000):
        given, matrix = np.full((256, inner), 7.0, "f"), np.full((inner, 96), -0.3, "f")
        matrix[:, ::2] = 0.0
        matrix[5, ::2] = 1e5
        assert_allclose(multiplied(given, matrix), given @ matrix, rtol=1e-3)


#: Products and states by float32 in registers of eight, as on processors of other makers, and in
#: code that is compiled for all of them.
BY_FLOATS = """
import numpy as np
from spacy_decoders.models.bilstm import BiLSTM
from spacy_decoders.models.inference.kernels import panels
from spacy_decoders.models.inference.products import has_pairs
assert not has_pairs()
rng = np.random.default_rng(0)
rows, matrix = rng.normal(size=(70, 33)).astype("f"), rng.normal(size=(33, 40)).astype("f")
out = np.empty((70, 48), "f")
panels.multiply_panels(rows, *panels.pack(matrix, 0, 40), out)
assert np.allclose(out[:, :40], rows @ matrix, atol=1e-5)
layer = BiLSTM(33, 5)
layer.initialize()
trained, _ = layer([rows], is_train=True)
assert np.allclose(layer.predict([rows])[0], trained[0], atol=1e-5)
"""


def test_processors_without_pairs_multiply_floats(tmp_path):
    python("-c", BY_FLOATS, NUMBA_CACHE_DIR=str(tmp_path), NUMBA_CPU_FEATURES="")


@pytest.mark.parametrize(
    ("place", "name", "value"),
    [
        (products.ctypes, "CDLL", lambda name: SimpleNamespace(syscall=lambda *given: -1)),
        (panels, "FEATURES", {""}),
        (panels, "FEATURES", {"+avx2"}),
        (numba.config, "DISABLE_JIT", 1),
    ],
    ids=["no permission", "an old processor", "no unit", "not compiled"],
)
def test_where_there_are_no_tiles(monkeypatch, place, name, value):
    monkeypatch.setattr(place, name, value)
    assert not products.has_tiles.__wrapped__()


@pytest.mark.parametrize("build", [Linear, Relu])
def test_layers_predict_what_they_compute_in_training(unit, build):
    layer = products.with_own_products(build(nO=101, nI=40).initialize())
    rows = np.random.default_rng(6).normal(size=(300, 40)).astype("f")
    for given in (rows, rows[:1], rows[:0]):
        trained, backprop = layer(given, is_train=True)
        assert_allclose(layer.predict(given), trained, atol=5e-3)
        assert backprop(trained).shape == given.shape


def test_what_was_prepared_is_of_the_present_parameters(unit):
    layer = products.with_own_products(Linear(nO=96, nI=32).initialize())
    rows, known = np.ones((9, 32), "f"), set(products._PACKED)
    found = layer.predict(rows)
    packed = [products._PACKED[key] for key in set(products._PACKED) - known]
    assert len(packed) == (unit != "blas")
    layer.predict(rows)
    assert [products._PACKED[key] for key in set(products._PACKED) - known] == packed
    layer.set_param("W", 2 * layer.get_param("W"))
    assert_allclose(layer.predict(rows), 2 * found, atol=1e-3)
    _, backprop = layer(rows, is_train=True)
    backprop(found)
    layer.get_param("W")[:] *= 2  # as an optimizer does
    assert_allclose(layer.predict(rows), 4 * found, atol=1e-3)
    del layer, backprop
    gc.collect()
    assert set(products._PACKED) <= known
