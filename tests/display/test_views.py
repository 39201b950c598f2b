"""What the page is given of a Doc."""

from __future__ import annotations

import spacy

from spacy_decoders.components.extensions import install
from spacy_decoders.display.views import (
    DocumentView,
    Name,
    Piece,
    headlines_by_component,
    names_in,
)


def test_pieces_are_the_text(doc):
    view = DocumentView.of(doc, 1)
    assert "".join(piece.text for piece in view.pieces) == doc.text
    entities = [(piece.text, piece.note) for piece in view.pieces if piece.is_entity]
    assert entities == [("<Jaguar>", "ORG → Jaguar"), ("Kent", "LOC")]


def test_names_and_how_probable_they_are(doc):
    doc.ents[1]._.prob = 0.9
    doc.ents[1].kb_id_ = "kent"
    jaguar, kent = names_in(doc)
    assert jaguar == Name("<Jaguar>", "ORG", None, "Jaguar", None, ["Jaguar Cars"])
    assert kent == Name("Kent", "LOC", 0.9, None, None, [])


def test_a_concept_of_the_same_name_is_no_news():
    assert Piece("Kent", True, "LOC", "kent").note == "LOC"
    assert Piece("Kent", True, "", "Kent (county)").note == "Kent (county)"


def test_choices_have_headings_and_a_closest_one(doc):
    (sentence,) = DocumentView.of(doc, 1).sentences
    assert [heading for heading, _ in sentence.choices] == [
        "Heads", "Tags (tagger)", "Entities (entities)",
    ]  # fmt: skip
    assert sentence.closest.options[0].loss == 0.25


def test_headlines_go_by_component():
    install()
    doc = spacy.blank("en")("A b c.")
    doc._.headlines = [
        {"component": "title", "text": "A"},
        {"text": "of the first release"},
        {"component": "title", "text": "B"},
    ]
    found = headlines_by_component(doc)
    assert [h["text"] for h in found["title"]] == ["A", "B"]
    assert [h["text"] for h in found["headline"]] == ["of the first release"]
    assert DocumentView.of(doc, 1).heading == "A"


def test_a_doc_of_nothing_has_a_number_for_a_heading():
    install()
    view = DocumentView.of(spacy.blank("en")(""), 7)
    assert (view.heading, view.sentences, view.links) == ("Document 7", [], [])
