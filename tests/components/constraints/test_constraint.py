"""Constraints as dictionaries and objects: what is refused, and how; the others are kept."""

import warnings

import pytest

from spacy_decoders import ProblemError
from spacy_decoders.components.constraints import Constraint
from spacy_decoders.components.constraints.constraint import check_known, constraints_about
from tests.campaigns.wishes import KINDS, faults
from tests.components.tagger.tagging import randomised

CAN = [{"LOWER": "can"}]


def test_objects_and_dictionaries_are_the_same():
    given = {"pattern": CAN, "token": 0, "labels": ["MD", "VB"]}
    check = constraints_about("labels", "entities")
    stored = check("constraints", [given, Constraint(**given)])
    assert stored[0] == stored[1] == {**given, "pattern": [CAN]}
    assert check("constraints", stored) == stored


@pytest.mark.parametrize(
    ("given", "message"),
    [
        ({"labels": ["MD"]}, r"constraints\[0\]: it applies nowhere; give one of pattern"),
        ({"pattern": CAN}, r"constraints\[0\]: it demands nothing; give one of labels"),
        ({"pattern": CAN, "phrases": ["can"], "labels": "MD"}, "it has pattern and phrases"),
        ({"pattern": CAN, "lable": "MD"}, r"constraints\[0\].lable: extra inputs"),
        ({"pattern": [{"LOWR": "can"}], "labels": "MD"}, r"constraints\[0\].pattern: .*LOWR"),
        ({"pattern": [{"LOWER": {"REGEX": "("}}], "labels": "MD"}, r"\].pattern: .*\(missing \)"),
        ({"pattern": [{"_": {"x": [1]}}], "labels": "MD"}, r"\].pattern: .*\(an integer is req"),
        ({"pattern": [{"LENGTH": 2.5}], "labels": "MD"}, r"\].pattern: .*; got \[{'LENGTH': 2.5"),
        *(
            ({"phrases": ["Jo"], key: 1}, rf"constraints\[0\].{key}: expected True, .*; got 1")
            for key in ("entity", "not_entity")
        ),
        ({"phrases": ["Jo"], "head": 0}, "no use for 'head'; it takes demands by labels, not"),
        (3, r"constraints\[0\]: expected a dictionary or a Constraint; got 3"),
    ],
)
def test_what_is_wrong_is_named(given, message):
    with pytest.raises(ProblemError, match=message):
        constraints_about("labels", "entities")("constraints", [given])


@pytest.mark.parametrize(
    ("given", "said"),
    [
        ({"phrases": ["New York"], "token": 5}, r"constraints\[0\].token: no match has a token 5"),
        ({"pattern": [{"ORTH": "a"}], "token": 1}, "no match has a token 1; the longest has 1"),
    ],
)
def test_what_never_applies_is_refused(given, said):
    nlp = randomised(0)
    pipe = nlp.get_pipe("exact_tagger")
    with pytest.raises(ProblemError, match=said):
        pipe.constraints = [{**given, "labels": [pipe.labels[0]]}]
    assert not pipe.constraints
    demand = {"not_labels": [pipe.labels[0]]}
    repeated = [
        {"pattern": [{"ORTH": "a", key: "+"}], "token": 5, **demand} for key in ("OP", "op")
    ]
    pipe.constraints = [*repeated, {"phrases": ["New York"], "token": -2, **demand}]


@pytest.mark.parametrize(
    ("name", "demand"),
    [
        ("tagger", {"labels": ["NOVEL"]}),
        ("tagger", {"entity": ["PER"]}),
        ("entities", {"not_entity": ["NOVEL"]}),
        ("parser", {"deps": ["NOVEL"]}),
        ("linker", {"candidates": ["NOVEL"]}),
    ],
)
def test_unknown_names_are_refused_when_they_are_set(name, demand, shipped):
    (key,) = demand
    pipe = shipped.get_pipe(name)
    with pytest.raises(ProblemError, match=rf"constraints\[0\].{key}: the .*(no '?NOVEL|ent)"):
        pipe.constraints = [{"phrases": ["new"], **demand}]
    assert not pipe.constraints


@pytest.mark.parametrize("component", KINDS)
def test_every_demand_is_kept_or_named(shipped, component):
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # that a sentence has no tree
        assert [fault for seed in range(60) for fault in faults(shipped, component, seed)] == []


def test_a_long_list_of_known_names_is_cut_aloud():
    names = [f"d{number}" for number in range(21)]
    with pytest.raises(ProblemError, match=r"no 'x'; it has d0, .*, d8 and 1 more\.$"):
        check_known([{"phrases": ["she"], "deps": ["x"]}], {"deps": names})
