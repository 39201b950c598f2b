"""Constraints on trees: heads, roots and labels of tokens where patterns match."""

from __future__ import annotations

import warnings

import pytest
from spacy.tokens import Doc

from tests.components.parser.parsing import NAME, make_nlp

WORDS = ["she", "eats", "the", "red", "fish", "."]


@pytest.fixture(scope="module")
def nlp():
    return make_nlp(factors=[])


def parse(nlp, *constraints, **options):
    nlp.get_pipe(NAME).configure(constraints=list(constraints), **options)
    starts = [True] + [False] * 5
    return nlp(Doc(nlp.vocab, words=WORDS, sent_starts=starts))


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
