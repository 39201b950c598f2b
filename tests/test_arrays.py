"""Bad arrays are refused with the argument's name and the first offending index."""

import numpy as np
import pytest

from spacy_decoders import ProblemError
from spacy_decoders.arrays import checked_indices, checked_scores


def test_the_callers_array_stays_writable_and_as_it_was():
    given = np.array([[0.0, -np.inf], [1.0, 2.0]], dtype=np.float32)
    stored = checked_scores("arcs", given, (2, None))
    assert not stored.flags.writeable
    assert given.flags.writeable
    np.testing.assert_array_equal(stored, given)


@pytest.mark.parametrize(
    ("values", "shape", "message"),
    [
        *(
            ([[0.0, 1.0], [bad, -np.inf]], (2, 2), r"arcs: .* at index \(1, 0\)")
            for bad in (np.nan, np.inf, 1e300)
        ),
        ([-1e300], (1,), "fit float32"),  # an overflow is not taken for forbidden
        *((no, (None,), "arcs: expected") for no in (["a"], [None], [[1], [1, 2]], [1j])),
    ],
)
def test_scores_that_mean_nothing_are_named(values, shape, message):
    with pytest.raises(ProblemError, match=message):
        checked_scores("arcs", values, shape)


@pytest.mark.parametrize(
    ("values", "message"),
    [
        ([0, 3], "classes: every entry must be at least 0"),
        ([-1, 0], "classes: every entry must be at least 0"),
        ([0, 0.5], "whole numbers"),
    ],
)
def test_indices_out_of_range_or_no_whole_numbers_are_named(values, message):
    with pytest.raises(ProblemError, match=message):
        checked_indices("classes", values, (2,), low=0, high=3)


@pytest.mark.parametrize("value", [2**32 + 1, 2**64 - 1, -(2**40)])
def test_indices_never_wrap_round(value):
    dtype = np.uint64 if value > 0 else np.int64
    with pytest.raises(ProblemError, match="arcs: every entry must be"):
        checked_indices("arcs", np.array([0, value], dtype=dtype), (2,))


def test_refuses_what_numpy_would_take_silently():
    masked = np.ma.masked_array([1.0, 2.0], [False, True])
    with pytest.raises(ProblemError, match="scores: a masked array would lose its mask"):
        checked_scores("scores", masked, (2,))
    for value in (1e101, -1e101):
        with pytest.raises(ProblemError, match=r"scores must lie within .* at index \(1,\)"):
            checked_scores("scores", [-np.inf, value], (2,), dtype=np.float64)
