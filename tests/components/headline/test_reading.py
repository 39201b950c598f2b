"""Texts as they are read."""

import spacy
from spacy.tokens import Doc

from spacy_decoders.components.headline.learning import TitledText, example_phrases
from spacy_decoders.models.headline.corpus_counts import HeadlineKnowledge
from spacy_decoders.models.headline.phrase_scorer import build_phrase_selection
from spacy_decoders.models.headline.stems import Stemmer
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


def test_training_sees_the_phrases_that_headlines_may_have():
    vocab, words = spacy.blank("en").vocab, ["binary", "search", "trees"]
    model, knowledge = build_phrase_selection(), HeadlineKnowledge.untrained("en")

    def rewards(**annotation) -> list[float]:
        doc = Doc(vocab, words=words, **annotation)
        text = TitledText.of(doc, "Binary search", Stemmer("en"), set())
        table, reward = example_phrases(model, text, knowledge)
        assert len(table) == len(reward)
        return sorted(reward.tolist())

    assert len(rewards()) == 6
    assert rewards()[-1] == 1.0
    # "binary search" has no head, and so it is no headline that could be learned
    parsed = rewards(deps=["compound", "compound", "ROOT"], heads=[1, 2, 2])
    assert len(parsed) == 3
    assert parsed[-1] < 1.0


def test_a_dash_between_blanks_parts_phrases_and_a_hyphen_does_not():
    nlp = spacy.blank("en")
    nlp.add_pipe("headline_generator", config={"n_best": 50})
    texts = ["Red-black trees", "Red - black trees", "Red – black trees"]
    found = [[headline["text"] for headline in nlp(text)._.headlines] for text in texts]
    assert "Red-black trees" in found[0]
    assert not any("-" in text or "–" in text for text in found[1] + found[2])
