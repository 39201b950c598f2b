"""Lines are found again, every one, and nothing else is."""

import numpy as np
import pytest

from spacy_decoders.knowledge.building.kernels import count_names
from spacy_decoders.knowledge.building.lines import LineIndex, as_lines, lines_of


@pytest.mark.parametrize("size", [0, 1, 2, 3, 100, 5000])
def test_all_are_found_and_no_other(size, rng):
    texts = [f"{rng.integers(10**9)} é {i}" for i in range(size)]
    lines = as_lines(texts)
    assert lines_of(lines) == texts
    index = LineIndex.of(lines, size)
    assert index.find(lines, size).tolist() == list(range(size))
    assert (index.find(as_lines([text + "x" for text in texts]), size) == -1).all()


def test_of_repeated_lines_the_first_is_found():
    lines = as_lines(["a", "", "a", "b", ""])
    assert LineIndex.of(lines, 5).find(lines, 5).tolist() == [0, 1, 0, 3, 1]


def test_newlines_in_a_query_do_not_shift_the_answers():
    index = LineIndex.of(as_lines(["a b", "c"]), 2)
    assert index.find(as_lines(["a\nb", "c", "a\nb"]), 3).tolist() == [0, 1, 0]


@pytest.mark.parametrize("size", [1, 2, 1000])
def test_buckets_lead_to_the_hashes(size):
    index = LineIndex.of(as_lines(map(str, range(size))), size)
    buckets, shift = index.buckets()
    for row, code in enumerate(index.codes.tolist()):
        assert buckets[code >> shift] <= row < buckets[(code >> shift) + 1]


def test_names_are_counted_once_in_each_text():
    names = ["big cat", "cat", "cat.", "a", "ca", "o. k."]
    index = LineIndex.of(as_lines(names), len(names))
    buckets, shift = index.buckets()
    seen, counts = np.zeros((2, len(names)), np.int32)
    texts = as_lines(["the big cat. a cat", "a scat", "o. k. cats"])
    count_names(texts, 6, index.codes, buckets, np.uint64(shift), seen, counts)
    found = dict(zip([names[row] for row in index.rows], counts.tolist(), strict=True))
    assert found == {"big cat": 1, "cat": 1, "cat.": 1, "a": 2, "ca": 0, "o. k.": 1}
