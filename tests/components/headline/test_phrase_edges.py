"""Which phrases can stand by themselves."""

import numpy as np
import spacy
from spacy.tokens import Doc

from spacy_decoders.components.headline.learning import TitledText, example_phrases
from spacy_decoders.components.headline.phrase_edges import phrase_edges
from spacy_decoders.components.headline.reading import Texts
from spacy_decoders.models.headline.knowledge import HeadlineKnowledge
from spacy_decoders.models.headline.selection import build_phrase_selection
from spacy_decoders.models.headline.stems import Stemmer


def whole(texts: list[tuple[str, ...]], **annotation) -> set[str]:
    """The phrases of up to three tokens that can stand by themselves."""
    words, spaces = [text for text, *_ in texts], [True] * len(texts)
    spaces = annotation.pop("spaces", spaces)
    doc = Doc(spacy.blank("en").vocab, words=words, spaces=spaces, **annotation)
    spans = [(i, j) for i in range(len(doc)) for j in range(i + 1, min(i + 3, len(doc)) + 1)]
    starts, ends = (np.array(of) for of in zip(*spans, strict=True))
    kept = phrase_edges(Texts.of([doc]))[0].allow(starts, ends)
    return {doc[i:j].text for (i, j), good in zip(spans, kept.tolist(), strict=True) if good}


def test_phrases_do_not_begin_with_finite_verbs():
    words = [("Biden",), ("met",), ("Obama",)]
    morphs = ["", "Tense=Past|VerbForm=Fin", ""]
    assert whole(words, morphs=morphs) == {"Biden", "Biden met", "Biden met Obama", "Obama"}
    imperative = [("Met",), ("Obama",)]
    assert "Met" in whole(imperative, morphs=["Mood=Imp|VerbForm=Fin", ""])


def test_phrases_do_not_begin_behind_a_subject_an_auxiliary_or_a_negation():
    words = [("it",), ("was",), ("raining",), ("now",)]
    parse = {"deps": ["nsubj", "aux", "ROOT", "advmod"], "heads": [2, 2, 2, 2]}
    morphs = ["", "VerbForm=Fin", "Tense=Pres|VerbForm=Part", ""]
    assert whole(words, morphs=morphs, **parse) == {"it", "it was", "it was raining", "now"}
    alone = {"deps": ["ROOT", "advmod"], "heads": [0, 0], "morphs": morphs[2:]}
    assert whole(words[2:], **alone) == {"raining", "raining now", "now"}
    words = [("do",), ("not",), ("run",)]
    parse = {"deps": ["aux", "advmod", "ROOT"], "heads": [2, 2, 2]}
    found = whole(words, morphs=["", "Polarity=Neg", "VerbForm=Inf"], **parse)
    assert found == {"do", "do not", "do not run", "not", "not run"}


def test_phrases_have_no_addresses_and_end_where_words_do():
    assert whole([("ask",), ("@jim",), ("a@b.org",), ("example.com",), ("now",)]) == {"ask", "now"}
    cut = [("gon",), ("na",), ("go",), ("Jim",), ("'s",)]
    found = whole(cut, spaces=[False, True, True, False, True])
    assert found == {"go", "go Jim", "go Jim's", "Jim", "Jim's", "'s"}


def test_phrases_have_no_labels():
    assert whole([("Email",), (":",), ("Jim",)]) == {":", ": Jim", "Jim"}
    found = whole([("a@b.org",), ("Groups",), (":",), ("cats",)])
    assert "Groups" not in found
    assert "cats" in found
    assert "trees" in whole([("Two",), ("trees",), (":",)])


def test_phrases_do_not_begin_within_a_name():
    words, pos = [("ask",), ("Joe",), ("Biden",)], ["VERB", "PROPN", "PROPN"]
    parse = {"deps": ["ROOT", "iobj", "flat"], "heads": [0, 0, 1]}
    assert whole(words, pos=pos, **parse) == {"ask", "ask Joe Biden", "Joe Biden"}


def test_phrases_keep_what_their_last_word_needs():
    words = [("binary",), ("search",), ("trees",)]
    found = whole(words, deps=["compound", "compound", "ROOT"], heads=[1, 2, 2])
    assert found == {"binary search trees", "search trees", "trees"}
    assert whole(words, deps=["ROOT", "compound", "obj"], heads=[0, 2, 0]) == {
        "binary search trees", "search trees", "trees",
    }  # fmt: skip


def constituents(words: str, heads: list[int], deps: str, pos: str, morphs=None) -> dict[str, str]:
    """The noun phrases and clauses among all spans, with their heads."""
    given = {"deps": deps.split(), "pos": pos.split(), "morphs": morphs}
    doc = Doc(spacy.blank("en").vocab, words=words.split(), heads=heads, **given)
    spans = [(i, j) for i in range(len(doc)) for j in range(i + 1, len(doc) + 1)]
    starts, ends = (np.array(of) for of in zip(*spans, strict=True))
    found = phrase_edges(Texts.of([doc]))[0].constituents(starts, ends).tolist()
    return {
        doc[i:j].text: doc[head].text
        for (i, j), head in zip(spans, found, strict=True)
        if head >= 0
    }


def test_headlines_are_noun_phrases_or_clauses():
    found = constituents(
        "Teachers in Chicago met quietly", [3, 2, 0, 3, 3], "nsubj case nmod ROOT advmod",
        "NOUN ADP PROPN VERB ADV", ["", "", "", "Tense=Past|VerbForm=Fin", ""],
    )  # fmt: skip
    assert found == {
        "Teachers": "Teachers", "Teachers in Chicago": "Teachers", "Chicago": "Chicago",
        "Teachers in Chicago met": "met", "Teachers in Chicago met quietly": "met",
    }  # fmt: skip


def test_headlines_are_no_greetings_times_or_words_that_name_nothing():
    found = constituents("Dear Ann", [1, 1], "amod ROOT", "ADJ PROPN")
    assert set(found) == {"Ann"}
    assert not constituents("hi Ann", [1, 1], "discourse vocative", "INTJ PROPN")
    assert not constituents("last Friday", [1, 1], "amod ROOT", "ADJ PROPN")
    found = constituents("number of bees", [0, 2, 0], "ROOT case nmod", "NOUN ADP NOUN")
    assert found == {"number of bees": "number", "bees": "bees"}


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
