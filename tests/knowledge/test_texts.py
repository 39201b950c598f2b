"""Concepts are found by their words."""

import pytest

from spacy_decoders import ConceptBase

ROWS = [
    ("Jaguar", "panthera onca", "a big cat of the jungle"),
    ("Jaguar Cars", "jaguar", "a maker of luxury cars"),
    ("Leopard", "spots", "a spotted big cat that is no jaguar"),
    ("Köln", "cologne", "a city on the Rhine"),
]


@pytest.fixture
def index():
    base = ConceptBase.build(
        {"id": title, "aliases": [alias], "text": text} for title, alias, text in ROWS
    )
    yield lambda text, limit: (
        [base.id(number) for number in base.text.find(text, limit)[0].tolist()],
        base.text.find(text, limit)[1],
    )


def test_the_title_weighs_more_than_the_body(index):
    concepts, scores = index("jaguar", 10)
    assert set(concepts) == {"Jaguar", "Jaguar Cars", "Leopard"}
    assert concepts[-1] == "Leopard"
    assert (scores[:-1] >= scores[1:]).all()
    assert index("jaguar", 1)[0] == concepts[:1]


@pytest.mark.parametrize("text", ["", "?!", '" OR "', "NEAR(", "unheard"])
def test_any_text_is_a_query(index, text):
    assert index(text, 5)[0] == []


def test_diacritics_make_no_difference(index):
    assert index("koln", 5)[0] == ["Köln"]
