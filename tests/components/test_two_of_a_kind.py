"""Two components of one kind in a pipeline: what each says can be told apart."""

import json

import pytest
import spacy

import spacy_decoders

from .test_sourcing import saved_and_read

TEXT = (
    "Binary search halves a sorted array. Each step of binary search compares the middle "
    "element, and one half is left."
)


def of(entries, component):
    return [entry for entry in entries if entry["component"] == component]


def test_two_headline_generators():
    nlp = spacy.blank("en")
    nlp.add_pipe("headline_generator", name="title", config={"length": 2, "n_best": 2})
    nlp.add_pipe("headline_generator", name="teaser", config={"length": 4})
    doc = nlp(TEXT)
    for found in (doc, saved_and_read(doc, doc.vocab)):
        titles, teasers = of(found._.headlines, "title"), of(found._.headlines, "teaser")
        assert [len(headline["tokens"]) for headline in titles] == [2, 2]
        assert [len(headline["tokens"]) >= 4 for headline in teasers] == [True]
        assert found._.headline == teasers[0]["text"]
        assert set(found._.certificates) == {"title", "teaser"}
    before = list(doc._.headlines)
    nlp.get_pipe("title")(doc)  # again: its own are replaced, not repeated
    assert of(doc._.headlines, "title") == of(before, "title")
    assert len(doc._.headlines) == len(before)
    assert doc._.headline == titles[0]["text"]


def test_each_tagger_has_its_own_attributes(shipped):
    names = ("tagger", "morphologizer", "entities")
    for name in names:
        shipped.get_pipe(name).configure(margins=True, k_best=2, probabilities=True)
    shipped.get_pipe("entities").entity_alternatives = 0.001
    doc = shipped("Mary Smith lives in Rome.")
    for found in (doc, saved_and_read(doc, doc.vocab)):
        margins, chances = found._.margins, found._.probabilities
        assert list(margins["tagger"]) != list(margins["entities"])
        assert [of._.tag_margin for of in found] == list(margins["tagger"])
        assert [of._.morph_margin for of in found] == list(margins["morphologizer"])
        assert [of._.ent_margin for of in found] == list(margins["entities"])
        assert [of._.tag_prob for of in found] == list(chances["tagger"]["tokens"])
        assert [of._.morph_prob for of in found] == list(chances["morphologizer"]["tokens"])
        assert {len(of(found._.taggings, name)) for name in names} == {2}
        assert list(found._.entity_alternatives) == doc._.entity_alternatives != []
        assert [ent._.prob for ent in found.ents] == [ent._.prob for ent in doc.ents]
        json.dumps(list(found.user_data.values()), allow_nan=False)


@pytest.mark.filterwarnings("ignore:.*doc.tensor is missing")  # there is no parser before them
def test_tokens_have_what_the_last_of_two_taggers_says_of_its_own_tags(shipped):
    first = shipped.get_pipe("tagger")
    other = spacy_decoders.load().get_pipe("tagger")
    other.name = "other"
    for pipe, options in (
        (first, {}),
        (other, {"constraints": [{"phrases": ["Rome"], "labels": ["NN"]}]}),
    ):
        pipe.configure(margins=True, probabilities=True, **options)
    doc = other(first(shipped.make_doc("Mary Smith lives in Rome.")))
    for found in (doc, saved_and_read(doc, doc.vocab)):
        chances = found._.probabilities
        assert [of._.tag_prob for of in found] == list(chances["other"]["tokens"])
        assert [of._.tag_margin for of in found] == list(found._.margins["other"])
        assert found[4]._.tag_prob != chances["tagger"]["tokens"][4]


def test_two_parsers(shipped):
    first = shipped.get_pipe("parser")
    first.configure(head_margins=True, k_best=2)
    other = spacy_decoders.load().get_pipe("parser")
    other.name = "other"
    other.configure(head_margins=True, k_best=3, factors=[])
    doc = other(first(shipped.make_doc("The dog barks. The cat sees a mouse.")))
    sentences = len(list(doc.sents))
    for found in (doc, saved_and_read(doc, doc.vocab)):
        mine = [len(of(parses, "parser")) for parses in found._.parses]
        theirs = [len(of(parses, "other")) for parses in found._.parses]
        assert mine == [2] * sentences + [0] * sentences
        assert theirs == [0] * sentences + [3] * sentences
        assert set(found._.margins) == {"parser", "other"}
