"""Loops along rows give what numpy gives, for rows of any length."""

import numpy as np
import pytest

from spacy_decoders.decoders.tree.kernels import rows
from spacy_decoders.jit import jit

highest_row_sum, raise_row = rows.highest_row_sum, rows.raise_row
add_row, raise_row_to_sum = rows.add_row, rows.raise_row_to_sum
highest_sums, highest_shifted = rows.highest_sums, rows.highest_shifted


@jit()
def of_any_length(x, y, shift, length):
    """The two loops over rows that begin at 3 and at 5."""
    raised = x.copy()
    raise_row(raised, 3, y, 5, shift, length)
    return raised, highest_row_sum(x, 3, y, 5, length)


@jit()
def of_padded_length(x, y, count, least):
    """The loops over `count` rows of 16, the shifts of the last being every second entry of y."""
    added, raised = x.copy(), x.copy()
    add_row(added, 0, y, 0, 16)
    raise_row_to_sum(raised, 0, x, 16, y, 0, 16)
    sums, shifted = np.empty(16), np.empty(16)
    highest_sums(sums, 0, x, 0, y, 0, 16, count, 16)
    highest_shifted(shifted, 0, x, 0, 16, y, 1, 2, count, least, 16)
    return added, raised, sums, shifted


@pytest.mark.parametrize("length", [0, 1, 7, 8, 9, 16, 23])
def test_rows_of_any_length(rng, length):
    x, y = rng.normal(size=(2, 40))
    x[4], y[6] = -np.inf, -np.inf
    raised, highest = of_any_length(x, y, 0.25, length)
    here, there = slice(3, 3 + length), slice(5, 5 + length)
    assert highest == (x[here] + y[there]).max(initial=-np.inf)
    expected = x.copy()
    expected[here] = np.maximum(x[here], y[there] + 0.25)
    assert np.array_equal(raised, expected)


@pytest.mark.parametrize("count", [0, 1, 3])
def test_rows_of_padded_length(rng, count):
    x, y = rng.normal(size=(2, 48))
    x[2] = -np.inf
    added, raised, sums, shifted = of_padded_length(x, y, count, -0.5)
    assert np.array_equal(added, np.concatenate([x[:16] + y[:16], x[16:]]))
    assert np.array_equal(raised[:16], np.maximum(x[:16], x[16:32] + y[:16]))
    grid = x.reshape(3, 16)[:count]
    expected = (grid + y.reshape(3, 16)[:count]).max(axis=0, initial=-np.inf)
    assert np.array_equal(sums, expected)
    shifts = y[1 : 1 + 2 * count : 2, None]
    assert np.array_equal(shifted, (grid + shifts).max(axis=0, initial=-0.5))
