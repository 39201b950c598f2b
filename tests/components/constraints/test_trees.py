"""Constraints on trees: heads, roots and labels of tokens where patterns match."""

import warnings

import pytest
from spacy.tokens import Doc

from spacy_decoders import ProblemError
from spacy_decoders.components.parser.decoding import ConflictSearch
from tests.components.parser.parsing import NAME, make_nlp, sentence

WORDS = ["she", "eats", "the", "red", "fish", "."]


@pytest.fixture(scope="module")
def nlp():
    return make_nlp(factors=[])


def parse(nlp, *constraints, **options):
    nlp.get_pipe(NAME).configure(constraints=list(constraints), **options)
    return nlp(sentence(nlp, WORDS))


@pytest.mark.parametrize("selector", [{"phrases": ["she"]}, {"pattern": [{"LOWER": "she"}]}])
def test_a_single_token_can_not_be_its_own_head(nlp, selector):
    """Unless it is named, it is no dependant, and a match demands nothing of it."""
    parser = nlp.get_pipe(NAME)
    for demand in ({"head": 0, "deps": "nsubj"}, {"token": 0, "head": 0}):
        with pytest.raises(ProblemError, match=r"constraints\[0\].head: a token can't be its"):
            parser.constraints = [{**selector, **demand}]
    doc = parse(nlp, {"pattern": [{"LOWER": "fish", "op": "+"}], "head": -1})
    assert doc._.conflicts == [] and doc._.certificates[NAME][0]["status"] == "optimal"
    parser.constraints = []


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
    nlp.get_pipe(NAME)._warned.clear()
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


@pytest.mark.filterwarnings("ignore:.*no tree")
def test_time_for_the_conflict_is_part_of_the_sentence(nlp, ticks):
    words, parser = ["fish"] * 60, nlp.get_pipe(NAME)
    parser.constraints = [{"pattern": [{}], "root": False}]
    parser.seconds = 100.0
    doc = nlp(sentence(nlp, words))
    assert next(ticks) < 1000  # were it for each demand, some 6,000
    parser.seconds = None
    (conflict,) = doc._.conflicts
    assert conflict.get("is_least") in (None, False)
    assert len(conflict["demands"]) == 60
    parser.seconds = 0.5
    (conflict,) = nlp(sentence(nlp, words))._.conflicts
    parser.configure(seconds=None, constraints=[])
    assert conflict["is_least"] is False and len(conflict["demands"]) == 60


def test_what_else_is_asked_of_a_tree_is_part_of_its_time(nlp, ticks):
    parser, words = nlp.get_pipe(NAME), ["fish"] * 400
    more = {"head_margins": True, "k_best": 2, "probabilities": True}
    parser.configure(constraints=[], **more, seconds=0.1)  # which have passed at the first look
    doc = nlp(sentence(nlp, words))
    parser.configure(seconds=None, **dict.fromkeys(more, False) | {"k_best": 1})
    assert doc._.certificates[NAME][0]["status"] in ("optimal", "bounded")
    assert doc[5]._.head_margin is None and doc[5]._.head_prob is None
    assert len(doc._.parses[0]) == 1
    assert doc._.probabilities[NAME]["units"] == [None]


@pytest.mark.filterwarnings("ignore:.*no tree")
def test_of_many_contradictions_those_of_one_token_are_named(nlp):
    labels = [{"pattern": [{}], "deps": [dep]} for dep in ("nsubj", "obj")]
    nlp.get_pipe(NAME).constraints = labels
    (conflict,) = nlp(sentence(nlp, ["fish"] * 60))._.conflicts
    named = [(demand["source"], demand["start"]) for demand in conflict["demands"]]
    assert named == [("constraints[0]", 0), ("constraints[1]", 0)]
    nlp.get_pipe(NAME).constraints = []


@pytest.mark.filterwarnings("ignore:.*no tree")
def test_two_of_many_demands_are_found_by_few_searches(nlp, monkeypatch):
    searches = []
    monkeypatch.setattr(
        ConflictSearch,
        "has_trees",
        lambda self, kept, real=ConflictSearch.has_trees: (
            searches.append(kept) or real(self, kept)
        ),
    )
    doc = parse(
        nlp,
        {"pattern": [{}], "not_deps": ["nsubj"]},
        {"pattern": [{}], "not_deps": ["obj"]},
        {"phrases": ["she"], "deps": ["nsubj"]},
    )
    (conflict,) = doc._.conflicts
    named = [(demand["source"], demand["start"]) for demand in conflict["demands"]]
    assert named == [("constraints[0]", 0), ("constraints[2]", 0)]
    assert "is_least" not in conflict
    assert len(searches) < 8
    nlp.get_pipe(NAME).constraints = []
