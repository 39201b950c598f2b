"""``listed_lemmatizer``: listed words, capitals of names, numbers."""

import pytest
import spacy
from spacy.lookups import Lookups
from spacy.tokens import Doc

from spacy_decoders.components.lemmatizer import WORDS


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
    [
        ("her", "PRP$", "PRON", "", "her"),  # listed by its tag
        ("Mice", "NNS", "NOUN", "Number=Plur", "mouse"),
        ("french", "JJ", "ADJ", "Degree=Pos", "French"),  # though it is a base form
        ("New", "NNP", "ADJ", "Degree=Pos", "New"),  # of "New York"
        ("Greater", "NNP", "ADJ", "Degree=Cmp", "Great"),
        ("York", "NNP", "PROPN", "Number=Sing", "York"),
        ("Hills", "NNPS", "PROPN", "Number=Plur", "Hill"),
        ("Nazis", "NNPS", "PROPN", "Number=Plur", "Nazi"),
        ("kerala", "NNP", "PROPN", "Number=Sing", "Kerala"),
        ("al", "NNP", "PROPN", "Number=Sing", "al"),
        ("a@b.org", "ADD", "PROPN", "", "a@b.org"),
        ("iPhone", "NN", "NOUN", "Number=Sing", "iPhone"),
        ("iPhones", "NNS", "NOUN", "Number=Plur", "iPhone"),
        ("X", "NN", "NOUN", "Number=Sing", "X"),
        ("diabetes", "NN", "NOUN", "Number=Plur", "diabetes"),
        ("bleed", "VBP", "VERB", "Number=Plur|VerbForm=Fin", "bleed"),
        ("https://a.org", "NNP", "PROPN", "Number=Sing", "https://a.org"),
        ("Fish", "NN", "NOUN", "Number=Sing", "fish"),
        ("Fished", "VBD", "VERB", "VerbForm=Fin", "fish"),
        ("upvoted", "VBD", "VERB", "VerbForm=Fin", "upvote"),  # like the known "vote"
        ("hard-waited", "VBD", "VERB", "VerbForm=Fin", "hard-wait"),
        ("vlogging", "VBG", "VERB", "VerbForm=Ger", "vlog"),
        ("diabetes", "NNS", "NOUN", "Number=Plur", "diabetes"),  # known, and "diabete" is not
        ("zzzed", "VBD", "VERB", "VerbForm=Fin", "zzz"),
        ("1940's", "NNS", "NOUN", "Number=Plur", "1940s"),
        ("5,000", "CD", "NUM", "", "5000"),
        ("1,234,567.89", "CD", "NUM", "", "1234567.89"),
        ("12,50,000", "CD", "NUM", "", "1250000"),
        ("12,5", "CD", "NUM", "", "12,5"),
        ("1,2,3", "CD", "NUM", "", "1,2,3"),
        ("00:00:01,000", "CD", "NUM", "", "00:00:01,000"),
        ("HR", "NN", "NOUN", "", "HR"),  # listed in capitals
        ("Hr", "NN", "NOUN", "", "hr"),
        ("CO2", "NN", "NOUN", "", "CO2"),
        ("3G", "NN", "NOUN", "", "3g"),
        ("Two", "CD", "NUM", "", "two"),
        ("The", "DT", "DET", "", "the"),
    ],
)  # fmt: skip
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
