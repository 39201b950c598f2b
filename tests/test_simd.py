"""Vector intrinsics, against numpy."""

import numpy as np
import pytest

from spacy_decoders import simd
from spacy_decoders.jit import jit


@jit()
def largest_of_8(x, y):
    return simd.largest(simd.add(simd.load8(x, 0), simd.load8(y, 0)))


@jit()
def largest_of_16(x, y):
    return simd.largest(simd.add(simd.load16(x, 0), simd.load16(y, 0)))


@jit()
def of_64(x, out, count, bits, bar):
    part = simd.load64_part(x, 0, count)
    simd.store(out, 0, simd.keep_lanes(bits, part))
    return simd.at_least(part, simd.fill64(bar)), simd.largest(simd.fold_largest(part))


@pytest.mark.parametrize("dtype", [np.float32, np.float64])
@pytest.mark.parametrize(("lanes", "largest"), [(8, largest_of_8), (16, largest_of_16)])
def test_sums_and_their_largest(rng, dtype, lanes, largest):
    x, y = rng.normal(size=(2, lanes)).astype(dtype)
    x[lanes // 2] = -np.inf
    assert largest(x, y) == (x + y).max()


def test_blocks_of_64(rng):
    x, out = rng.normal(size=64).astype(np.float32), np.empty(64, np.float32)
    bits, top = of_64(x, out, 40, 0b1011, np.float32(0))
    assert top == x[:40].max()
    assert [bits >> lane & 1 for lane in range(64)] == [*(x[:40] >= 0), *[0] * 24]
    assert out[[0, 1, 3]].tolist() == x[[0, 1, 3]].tolist()
    assert np.isneginf(np.delete(out, [0, 1, 3])).all()
