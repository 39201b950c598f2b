"""Texts as they are read."""

import spacy

from tests.components.headline.titled import blank


def test_texts_without_headlines():
    nlp = blank()
    for text in ("", "   ", "... !!", "the of and"):
        doc = nlp(text)
        assert doc._.headline == ""
        assert doc._.headlines == []
        # without a word there is nothing to decode, so nothing to certify
        statuses = [found["status"] for found in doc._.certificates["headline_generator"]]
        assert statuses == (["infeasible"] if "the" in text else [])
    assert nlp("Heap")._.headline == "Heap"


def test_an_unknown_language_and_no_sentences():
    nlp = spacy.blank("xx")
    nlp.add_pipe("headline_generator", config={"length": 2})
    assert nlp("суматра остров суматра остров большой остров суматра")._.headline
