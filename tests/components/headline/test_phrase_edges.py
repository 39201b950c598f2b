"""Which phrases can stand by themselves."""

import numpy as np
import pytest
import spacy
from spacy.tokens import Doc

import spacy_decoders
from spacy_decoders.components.headline.headlines import whole_phrases
from spacy_decoders.components.headline.reading import Texts

VOCAB = spacy.blank("en").vocab
PAST = "Tense=Past|VerbForm=Fin"


def whole(words: str, heads=None, deps: str = "", pos: str = "", morphs=None) -> set[str]:
    """The spans that can stand by themselves."""
    given = {name: text.split() for name, text in (("deps", deps), ("pos", pos)) if text}
    doc = Doc(VOCAB, words=words.split(), heads=heads, morphs=morphs, **given)
    spans = [(i, j) for i in range(len(doc)) for j in range(i + 1, len(doc) + 1)]
    starts, ends = (np.array(of) for of in zip(*spans, strict=True))
    kept = whole_phrases(Texts.of([doc]), starts, ends)
    return {doc[i:j].text for (i, j), good in zip(spans, kept.tolist(), strict=True) if good}


@pytest.mark.parametrize(
    ("parse", "expected"),
    [
        (  # no clauses, and noun phrases whole
            (
                "Teachers in Chicago met quietly", [3, 2, 0, 3, 3],
                "nsubj case nmod ROOT advmod", "NOUN ADP PROPN VERB ADV", ["", "", "", PAST, ""],
            ),
            {"Teachers", "Teachers in Chicago", "Chicago"},
        ),
        (  # nothing that a verb governs
            (
                "Finding long paths", [0, 2, 0], "ROOT amod obj", "VERB ADJ NOUN",
                ["VerbForm=Ger", "", ""],
            ),
            {"long paths", "paths"},
        ),
        (  # not one whose subject stands before it
            ("it was raining", [2, 2, 2], "nsubj aux ROOT", "PRON AUX VERB", ["", PAST, ""]),
            set(),
        ),
        (  # nor one that is denied
            ("do not run far", [2, 2, 2, 2], "aux advmod ROOT advmod", "AUX PART VERB ADV"),
            set(),
        ),
        (  # nothing that begins within a name
            ("ask Joe Biden", [0, 0, 1], "ROOT obj flat", "VERB PROPN PROPN"),
            {"Joe Biden"},
        ),
        (  # a part of a compound needs its head
            ("binary search trees", [1, 2, 2], "compound compound ROOT", "NOUN NOUN NOUN"),
            {"binary search trees", "search trees", "trees"},
        ),
        (("hi Ann", [1, 1], "discourse vocative", "INTJ PROPN"), set()),
        (  # nor "Paris or in Rome", whose first preposition is left out
            ("in Paris or in Rome", [1, 1, 4, 4, 1], "case ROOT cc case conj",
             "ADP PROPN CCONJ ADP PROPN"),
            {"Paris", "Rome"},
        ),
    ],
)  # fmt: skip
def test_phrases_of_a_parse(parse, expected):
    assert whole(*parse) == expected


def test_phrases_have_no_addresses():
    assert whole("ask @jim a@b.org example.com now") == {"ask", "now"}


@pytest.mark.parametrize("other", ["- 5 degrees", "/ Apples are red", "–based systems win"])
def test_nothing_joins_two_texts(other):
    nlp = spacy_decoders.load()
    nlp.get_pipe("headline").configure(mode="phrases", n_best=9)
    texts = ["The children eat red apples", other, "The children eat red apples"]
    together, alone = nlp.pipe(texts), map(nlp, texts)
    for doc, same in zip(together, alone, strict=True):
        assert [h["text"] for h in doc._.headlines] == [h["text"] for h in same._.headlines]


def test_a_span_within_a_sentence_does_not_go_on_with_the_text_before():
    question = Doc(
        VOCAB, words=["Did", "Ann", "sell", "tea", "?"], heads=[2] * 5,
        deps=["aux", "nsubj", "ROOT", "obj", "punct"],
        pos=["AUX", "PROPN", "VERB", "NOUN", "PUNCT"],
    )  # fmt: skip
    doc = Doc(
        VOCAB, words=["They", "rent", "old", "bikes"], heads=[1, 1, 3, 1],
        deps=["nsubj", "ROOT", "amod", "obj"], pos=["PRON", "VERB", "ADJ", "NOUN"],
    )  # fmt: skip
    alone = whole_phrases(Texts.of([doc[2:4]]), np.array([0]), np.array([2]))
    behind = whole_phrases(Texts.of([question, doc[2:4]]), np.array([5]), np.array([7]))
    assert alone.all() and behind.all()
