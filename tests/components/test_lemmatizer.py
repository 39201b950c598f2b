"""``listed_lemmatizer``: listed words, capitals of names, numbers."""

from pathlib import Path

import pytest
import spacy
from spacy.lookups import Lookups
from spacy.tokens import Doc

from spacy_decoders.components.lemmatizer import WORDS
from tests.tables import rows


@pytest.fixture(scope="module")
def nlp():
    nlp = spacy.blank("en")
    lookups = Lookups()
    verbs = [[ending, new] for ending in ("ed", "ing") for new in ("", "e")]
    lookups.add_table("lemma_rules", {"noun": [["s", ""], ["ies", "y"]], "verb": verbs})
    known = {"noun": ["fish", "diabetes"], "verb": ["fish", "vote", "log", "wait"]}
    lookups.add_table("lemma_index", known)
    lookups.add_table("lemma_exc", {"noun": {"mice": ["mouse"]}, "adj": {"greater": ["great"]}})
    lookups.add_table(
        WORDS, {"PRP$": {"her": "her"}, "JJ": {"french": "French"}, "NN": {"HR": "HR"}}
    )
    nlp.add_pipe("listed_lemmatizer").initialize(lookups=lookups)
    return nlp


@pytest.mark.parametrize(
    ("word", "tag", "pos", "morph", "lemma"),
    rows(Path(__file__).parent / "lemmas.tsv"),
)
def test_lemmas(nlp, word, tag, pos, morph, lemma):
    doc = Doc(nlp.vocab, words=[word], tags=[tag], pos=[pos], morphs=[morph])
    assert nlp.get_pipe("listed_lemmatizer")(doc)[0].lemma_ == lemma


@pytest.mark.parametrize(
    ("words", "lemma"),
    [
        ("$ 5 m", "million"),
        ("5 M of it", "million"),
        ("5 m tall", "m"),
        ("10 k away", "thousand"),
        ("m hash functions", "m"),
        ("use k functions", "k"),
    ],
)
def test_abbreviated_numbers_stand_behind_numbers(nlp, words, lemma):
    pipe = nlp.get_pipe("listed_lemmatizer")
    pipe.lookups.get_table(WORDS).set("CD", {"m": "million", "k": "thousand"})
    words = words.split()
    doc = Doc(nlp.vocab, words=words, tags=["CD"] * len(words), pos=["NUM"] * len(words))
    assert lemma in [token.lemma_ for token in pipe(doc)]


def test_lists_are_saved_and_the_cache_is_bounded(nlp, tmp_path, monkeypatch):
    nlp.to_disk(tmp_path)
    pipe = spacy.load(tmp_path).get_pipe("listed_lemmatizer")
    monkeypatch.setattr("spacy_decoders.components.lemmatizer.CACHE_SIZE", 5)
    words = [f"w{i}" for i in range(50)]
    doc = Doc(pipe.vocab, words=[*words, "french"], pos=["ADJ"] * 51, tags=["JJ"] * 51)
    assert [token.lemma_ for token in pipe(doc)] == [*words, "French"]
    assert len(pipe.cache) <= 6


def test_lemmas_that_are_set_are_kept_where_the_word_was_met_before(nlp):
    pipe = nlp.get_pipe("listed_lemmatizer")

    def tagged():
        tags, pos = ["NNS", "VBP", "NNS"], ["NOUN", "VERB", "NOUN"]
        return Doc(pipe.vocab, words=["Cats", "chase", "cats"], tags=tags, pos=pos)

    first = [token.lemma_ for token in pipe(tagged())]
    again = tagged()
    again[1].lemma_ = "hunt"
    assert [token.lemma_ for token in pipe(again)] == [first[0], "hunt", first[2]]
    pipe.overwrite = True
    assert [token.lemma_ for token in pipe(again)] == first
    pipe.overwrite = False
