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
def base():
    return ConceptBase.build(
        {"id": title, "aliases": [alias], "text": text} for title, alias, text in ROWS
    )


def found(base, text, limit):
    return [base.id(number) for number in base.text.find(text, limit)[0].tolist()]


def test_the_title_weighs_more_than_the_body(base):
    concepts, scores = found(base, "jaguar", 10), base.text.find("jaguar", 10)[1]
    assert set(concepts) == {"Jaguar", "Jaguar Cars", "Leopard"}
    assert concepts[-1] == "Leopard"
    assert (scores[:-1] >= scores[1:]).all()
    assert found(base, "jaguar", 1) == concepts[:1]


@pytest.mark.parametrize("text", ["", "?!", '" OR "', "NEAR(", "unheard"])
def test_any_text_is_a_query(base, text):
    assert found(base, text, 5) == []


def test_diacritics_make_no_difference(base):
    assert found(base, "koln", 5) == ["Köln"]
