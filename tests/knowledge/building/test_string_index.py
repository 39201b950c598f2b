"""Strings are found again, every one, and nothing else is."""

import numpy as np
import pytest

from spacy_decoders.knowledge.building.string_index import StringIndex


@pytest.mark.parametrize("size", [0, 1, 2, 3, 100, 5000])
def test_all_are_found_and_no_other(size, rng):
    texts = [f"{rng.integers(10**9)} é {i}" for i in range(size)]
    index, rows, collisions = StringIndex.build(texts)
    assert collisions == 0
    assert len(index) == size
    np.testing.assert_array_equal(index.find(texts), rows)
    assert sorted(rows.tolist()) == list(range(size))
    assert [index.table[int(row)] for row in rows] == texts
    assert (index.find([text + "x" for text in texts]) == -1).all()


def test_repeated_strings_share_a_row():
    index, rows, _ = StringIndex.build(["a", "", "a", "b", ""])
    assert len(index) == 3
    assert rows[0] == rows[2]
    assert rows[1] == rows[4]


def test_hashes_are_verified(monkeypatch):
    """Two strings of one hash: the second is reported, and never taken for the first."""
    from spacy_decoders.knowledge.building import string_index

    real = string_index.hash_lines

    def colliding(data, count):
        codes, offsets = real(data, count)
        return np.full_like(codes, 7), offsets

    monkeypatch.setattr(string_index, "hash_lines", colliding)
    _, rows, collisions = StringIndex.build(["a", "b"])
    assert rows.tolist() == [0, -1]
    assert collisions == 1


def test_newlines_in_a_query_do_not_shift_the_answers():
    index, rows, _ = StringIndex.build(["a b", "c"])
    assert index.find(["a\nb", "c", "a\nb"]).tolist() == [rows[0], rows[1], rows[0]]
