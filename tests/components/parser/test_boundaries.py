"""Boundaries of sentences that are decided together with the trees."""

from dataclasses import replace

import numpy as np
import pytest
import spacy
from spacy.tokens import Doc

from spacy_decoders.components.parser.trees import DocColumns, paragraph_starts, unparted
from tests.components.parser.parsing import NAME, make_nlp, sentence


def decoded(nlp, words, arcs, log_odds):
    """Decode words by some arcs (head, token): 5, all others 0, the root -1; and boundaries."""
    pipe = nlp.get_pipe(NAME)
    (scores,) = pipe.predict([sentence(nlp, words)])
    (block,) = scores.blocks
    given = np.zeros_like(block.arcs)
    given[0] = -1.0
    for h, m in arcs:
        given[h, m] = 5.0
    given[:, 0] = -np.inf
    np.fill_diagonal(given, -np.inf)
    boundaries = np.array([0.0, *log_odds], dtype="f")
    odds = np.array([np.inf, *log_odds], dtype="f")  # all but the first are left to the trees
    block = replace(block, arcs=given, boundaries=boundaries)
    doc = Doc(nlp.vocab, words=words)
    scores = replace(scores, blocks=[block], start_odds=odds)
    pipe.annotate(doc, *pipe.decode_together([doc], [scores]))
    return doc


ARCS = [(2, 1), (0, 2), (5, 3), (5, 4), (2, 5)]


@pytest.fixture(scope="module")
def nlp():
    return make_nlp(steps=1, factors=[], decoder={"@decoders": "spacy-decoders.Eisner.v1"})


@pytest.mark.parametrize(
    ("log_odds", "starts"),
    [
        # a boundary before the third word costs the arc 2 -> 5 (5) and gains a root (-1)
        ([-9, 5.9, -9, -9], [0]),
        ([-9, 6.1, -9, -9], [0, 2]),
        # of two likely boundaries the trees want the one that costs fewer good arcs
        ([-np.inf, 6.1, 5.9, -np.inf], [0, 2]),
    ],
)
def test_trees_have_a_say_in_boundaries(nlp, log_odds, starts):
    doc = decoded(nlp, list("abcde"), ARCS, log_odds)
    assert [of.start for of in doc.sents] == starts
    certificates = doc._.certificates[NAME]
    assert len(certificates) == len(starts)  # of the whole that was decided together
    assert all(certificate["status"] == "optimal" for certificate in certificates)
    gained = sum(log_odds[start - 1] for start in starts[1:])
    tree = [(0 if t.head.i == t.i else t.head.i + 1, t.i + 1) for t in doc]
    expected = gained + sum(-1.0 if h == 0 else 5.0 * ((h, m) in ARCS) for h, m in tree)
    expected += 6.0 * ((0, 2) in tree)  # the root's own good arc
    assert certificates[0]["score"] == pytest.approx(expected)


def test_an_offset_makes_boundaries_likelier_and_is_saved():
    nlp = make_nlp(steps=1, factors=[], certain=0.0)
    doc = Doc(nlp.vocab, words=["he", "sleeps"] * 5)
    [given] = nlp.get_pipe(NAME).predict([doc])
    nlp.get_pipe(NAME).boundary_offset = 30.0
    saved = make_nlp(steps=0, factors=[]).from_bytes(nlp.to_bytes())
    for pipeline in (nlp, saved):
        [found] = pipeline.get_pipe(NAME).predict([doc])
        np.testing.assert_allclose(found.start_odds, given.start_odds + 30.0, rtol=1e-5)
    docs = saved.pipe([doc.copy(), doc.copy()], n_process=2)
    assert [len(list(parsed.sents)) for parsed in docs] == [10, 10]


@pytest.mark.parametrize(
    ("spaces", "begins"),
    [(["\n\n"], True), (["\r\n \r\n"], True), (["\n", "\n"], True), (["\n"], False)],
)
def test_no_sentence_runs_across_a_blank_line(spaces, begins):
    nlp = make_nlp(steps=1, factors=[])
    pipe = nlp.get_pipe(NAME)
    # no boundary is likely
    pipe.model.get_ref("boundaries").layers[-1].set_param("b", np.array([-99.0], dtype="f"))
    words = ["he", "sleeps", *spaces, "he", "sleeps"]
    doc = nlp(Doc(nlp.vocab, words=words, spaces=[False] * len(words)))
    assert [of.start for of in doc.sents] == ([0, 2 + len(spaces)] if begins else [0])
    certificates = doc._.certificates[NAME]
    assert len(certificates) == 1 + begins
    assert all(certificate["status"] == "optimal" for certificate in certificates)
    pipe.paragraphs = False
    assert len(list(nlp(Doc(nlp.vocab, words=words)).sents)) == 1


@pytest.mark.parametrize(
    ("text", "starts"),
    [
        ("\n\nhe sleeps", []),
        ("he\n1. sleeps\n2) he\n(c) sleeps", ["1", "2", "("]),
        ("\u2022 he\n\u2022 sleeps\nhe", ["\u2022"]),
        ("he\n- sleeps\n- he", ["-", "-"]),
        # lines that were wrapped
        ("he\n- as ever - sleeps", []),
        ("he sleeps in\n3. Oktober", []),
        ("he and\nJ. Smith", []),
        ("he\n-sleeps\n3.5 times\n1. ", []),
        ("he\u2029sleeps", ["sleeps"]),
        ("he 1. sleeps - he", []),
    ],
)
def test_paragraphs_and_items_of_lists_begin_sentences(text, starts):
    doc = spacy.blank("en")(text)
    columns = DocColumns.of(doc)
    found = paragraph_starts(doc, columns.blank, columns.starts)
    assert [doc[place].text.rstrip(".)") for place in found.tolist()] == starts


@pytest.mark.parametrize(
    ("text", "words"),
    [
        ('"he" sleeps', ["he", '"']),
        ('he. " he', ["."]),  # parted on both sides, it may be either
        ("he (sleeps [now]) he", ["sleeps", "now", "]", ")"]),
        ("\u201che\u201d\n\u00abnow\u00bb", ["he", "\u201d", "now", "\u00bb"]),
        ("he's 5\" long", ["'s", '"']),
        ("he\u2605\u2605sleeps", ["\u2605", "\u2605", "sleeps"]),
        ("\u2605" * 152, []),
        ("he > now < he > now", [">", "now", "<", "he"]),  # the last closes a bracket
        ("HE > now = > \n=", ["=", ">"]),
        ("", []),
    ],
)
def test_no_sentence_begins_where_characters_forbid_it(text, words):
    doc = spacy.blank("en")(text)
    assert [doc[place].text for place in unparted(doc, DocColumns.of(doc)).tolist()] == words


def test_quotation_marks_stay_with_their_sentences():
    nlp = make_nlp(steps=1, factors=[])
    pipe = nlp.get_pipe(NAME)
    pipe.certain = 1e9  # all boundaries are decided with the trees
    words, spaces = ["he", "sleeps", '"', "he", "sleeps"], [True, True, False, True, False]
    forced = Doc(nlp.vocab, words=words, spaces=spaces, sent_starts=[True, None, None, True, None])
    assert 3 in {of.start for of in nlp(forced).sents}  # what is set goes before
    doc = nlp(Doc(nlp.vocab, words=words, spaces=spaces))
    assert 3 not in {of.start for of in doc.sents}
    assert all(found["status"] == "optimal" for found in doc._.certificates[NAME])
