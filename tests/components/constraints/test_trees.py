"""Constraints on trees: heads, roots and labels of tokens where patterns match."""

from __future__ import annotations

import warnings

import pytest
from spacy.tokens import Doc

from spacy_decoders import ProblemError
from tests.components.parser.parsing import NAME, make_nlp

WORDS = ["she", "eats", "the", "red", "fish", "."]


@pytest.fixture(scope="module")
def nlp():
    return make_nlp(factors=[])


def parse(nlp, *constraints, **options):
    nlp.get_pipe(NAME).configure(constraints=list(constraints), **options)
    starts = [True] + [False] * 5
    return nlp(Doc(nlp.vocab, words=WORDS, sent_starts=starts))


def test_heads_and_labels(nlp):
    pattern = [{"ORTH": "she"}, {}, {"ORTH": "the"}]
    free = parse(nlp)
    doc = parse(
        nlp,
        {"pattern": pattern, "token": 0, "head": -1, "deps": ["det"]},
        {"phrases": ["red fish"], "token": 0, "not_deps": [free[3].dep_]},
        {"phrases": ["."], "deps": ["obj", "nsubj"]},
    )
    assert doc[0].head.i == 2
    assert doc[0].dep_ == "det"
    assert doc[3].dep_ != free[3].dep_
    assert doc[5].dep_ in ("obj", "nsubj")
    assert doc._.certificates[NAME][0]["status"] == "optimal"


def test_roots(nlp):
    assert parse(nlp)[1].dep_ == "ROOT"
    assert parse(nlp, {"phrases": ["fish"], "root": True})[4].dep_ == "ROOT"
    assert parse(nlp, {"phrases": ["eats"], "root": False})[1].dep_ != "ROOT"


def test_an_impossible_sentence_with_white_space_costs_itself(nlp):
    nlp.get_pipe(NAME).constraints = [{"phrases": ["she", "eats"], "root": False}]
    words = ["\n", "she", "eats", "red", "fish", "."]
    doc = Doc(nlp.vocab, words=words, sent_starts=[True, False, False, True, False, False])
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # of the impossible demands, once for each component
        nlp(doc)
    statuses = [found["status"] for found in doc._.certificates[NAME]]
    assert statuses == ["infeasible", "optimal"]
    assert not any(token.dep for token in doc[1:3])
    assert all(token.dep for token in doc[3:])


def test_two_demands_on_a_token_are_named(nlp):
    """None goes before another: neither the token's own, nor the earlier one."""
    pipe = nlp.get_pipe(NAME)
    pipe._warned_of_rules = True
    root = {"pattern": [{}, {"ORTH": "eats"}], "token": 0, "root": True}
    cases = [
        ([root], {"fixed_head": 4}, ["fixed_head", "constraints[0]"]),
        ([root], {"fixed_dep": "det"}, ["fixed_dep", "constraints[0]"]),
        ([{"phrases": ["she"], "deps": ["det"]}, {"phrases": ["she"], "deps": ["obj"]}], {}, 2),
        ([{"phrases": ["she"], "token": 0, "head": 0}], {}, 1),
        ([root, {"phrases": ["eats"], "root": True}], {}, 2),
    ]
    for constraints, given, sources in cases:
        pipe.constraints = constraints
        doc = Doc(nlp.vocab, words=WORDS, sent_starts=[True] + [False] * 5)
        for name, value in given.items():
            doc[0]._.set(name, value)
        (conflict,) = nlp(doc)._.conflicts
        if isinstance(sources, int):
            sources = [f"constraints[{number}]" for number in range(sources)]
        assert [one["source"] for one in conflict["demands"]] == sources
        assert [of["status"] for of in doc._.certificates[NAME]] == ["infeasible"]


def test_a_head_that_forbids_a_boundary_is_named(nlp):
    """Without it the two roots would be those of two sentences."""
    pipe = nlp.get_pipe(NAME)
    pipe._warned_of_rules = True
    words = ["she", "eats", "the", "fish", ".", "he", "sleeps", "."]
    pipe.constraints = [{"phrases": ["eats"], "root": True}, {"phrases": ["sleeps"], "root": True}]
    doc = Doc(nlp.vocab, words=words)
    assert [sent.root.text for sent in nlp(doc).sents] == ["eats", "sleeps"]
    doc = Doc(nlp.vocab, words=words)
    doc[5]._.fixed_head = 1
    (conflict,) = nlp(doc)._.conflicts
    named = {one["source"] for one in conflict["demands"]}
    assert named == {"fixed_head", "constraints[1]"} or len(named) == 3
    for left_out in named:
        kept = [of for i, of in enumerate(pipe.constraints) if f"constraints[{i}]" in named]
        pipe.constraints = [of for i, of in enumerate(kept) if f"constraints[{i}]" != left_out]
        doc = Doc(nlp.vocab, words=words)
        if left_out != "fixed_head":
            doc[5]._.fixed_head = 1
        assert nlp(doc)._.conflicts == []
        pipe.constraints = kept


def test_a_demand_on_white_space_is_named(nlp):
    nlp.get_pipe(NAME).constraints = [{"pattern": [{"IS_SPACE": True}], "deps": ["obj"]}]
    doc = nlp(Doc(nlp.vocab, words=["she", "eats", " ", "fish", "."]))
    assert [of["demands"][0]["source"] for of in doc._.conflicts] == ["constraints[0]"]


def test_what_is_wrong_is_named(nlp):
    with pytest.raises(ProblemError, match=r"constraints\[0\].deps: the parser has no 'subject'"):
        nlp.get_pipe(NAME).constraints = [{"phrases": ["nowhere"], "deps": ["subject"]}]
    with pytest.raises(
        ProblemError, match=r"constraints\[0\].not_deps: the parser has no 'subject"
    ):
        make_nlp(steps=0, constraints=[{"phrases": ["nowhere"], "not_deps": ["subject"]}])
    with pytest.raises(ProblemError, match="demands on trees and links are hard"):
        parse(nlp, {"phrases": ["she"], "deps": ["obj"], "weight": 1.0})
    with pytest.raises(ProblemError, match="it demands head and root"):
        parse(nlp, {"phrases": ["she"], "head": 0, "root": True})


def test_demands_that_contradict_each_other_are_named(nlp):
    nlp.get_pipe(NAME)._warned_of_rules = False
    with pytest.warns(UserWarning, match="has no tree .*FixedArc") as caught:
        doc = parse(
            nlp,
            {"phrases": ["she"], "deps": ["nsubj"]},
            {"phrases": ["eats"], "root": True},
            {"phrases": ["fish"], "root": True},
        )
    said = str(caught[0].message)
    assert "The labels are" not in said
    assert said.endswith("This is demanded by constraints[1] at 'eats', constraints[2] at 'fish'.")
    assert doc._.certificates[NAME][0]["status"] == "infeasible"
    assert doc._.conflicts == [
        {
            "component": NAME,
            "start": 0,
            "end": 6,
            "demands": [
                {"source": "constraints[1]", "start": 1, "end": 2, "text": "eats"},
                {"source": "constraints[2]", "start": 4, "end": 5, "text": "fish"},
            ],
        }
    ]
    nlp.get_pipe(NAME).constraints = []
    nlp(doc)
    assert doc._.conflicts == []
