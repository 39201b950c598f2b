"""Concepts are found by their words; a damaged index says so."""

import pickle

import pytest

from spacy_decoders import ProblemError
from spacy_decoders.knowledge.text_index import TextIndex

ROWS = [
    (0, "Jaguar", "panthera onca", "a big cat of the jungle"),
    (1, "Jaguar Cars", "jaguar", "a maker of luxury cars"),
    (2, "Leopard", "", "a spotted big cat that is no jaguar"),
    (3, "Köln", "cologne", "a city on the Rhine"),
]


@pytest.fixture
def index(tmp_path):
    return TextIndex.build(tmp_path / "text.sqlite", ROWS)


def test_the_title_weighs_more_than_the_body(index):
    concepts, scores = index.find("jaguar", 10)
    assert set(concepts.tolist()) == {0, 1, 2}
    assert concepts[-1] == 2
    assert (scores[:-1] >= scores[1:]).all()
    assert index.find("jaguar", 1)[0].size == 1


@pytest.mark.parametrize("text", ["", "?!", '" OR "', "NEAR(", "unheard"])
def test_any_text_is_a_query(index, text):
    assert index.find(text, 5)[0].size == 0


def test_diacritics_make_no_difference(index):
    assert index.find("koln", 5)[0].tolist() == [3]


def test_it_travels_to_other_processes(index):
    assert pickle.loads(pickle.dumps(index)).find("rhine", 5)[0].tolist() == [3]


def test_what_is_no_index_is_refused(tmp_path):
    with pytest.raises(ProblemError, match="missing"):
        TextIndex(tmp_path / "none")
    (tmp_path / "broken").write_bytes(b"not a database, certainly" * 100)
    with pytest.raises(ProblemError, match="damaged"):
        TextIndex(tmp_path / "broken")
