"""The page says what factors changed."""

from __future__ import annotations

import pytest

from spacy_decoders.display import explain

from .page import read


@pytest.fixture
def changed(doc):
    """“in” would be under “Kent” as now, “Kent” under “<Jaguar>” by arcs alone."""
    doc._.factor_changes = [
        {
            "component": "parser",
            "tokens": [0, 1, 2, 3, 4, 5],
            "changed": [{"token": 4, "head": 2, "dep": "obl", "arcs_head": 1, "arcs_dep": "nmod"}],
            "arcs_starts": [0],
            "gains": {"network": -1.5, "grandparents": 2.0, "siblings": 0.25},
            "factors": [
                {"family": "grandparents", "tokens": [-1, 2, 4], "in_tree": True, "gain": 1.75},
                {"family": "siblings", "tokens": [1, 0, 4], "in_tree": False, "gain": -0.5},
            ],
        }
    ]
    return doc


def test_a_change_is_told_with_its_reasons(changed):
    (told,) = read(explain(changed)).all("details", "changes")
    assert told.all("summary")[0].text == (
        "What did factors change? By single arcs alone: “Kent” <Jaguar> · nmod"
    )
    first, balance, _ = told.all("p")
    assert first.text == (
        "Scored by single arcs alone, the best tree would be another: “Kent” <Jaguar> · nmod "
        "instead of slept · obl."
    )
    assert balance.text == (
        "For this tree: grandparents 2, pairs of siblings 0.25. Against it: single arcs 1.5."
    )
    assert [item.text for item in told.all("ul")[0].all("li")] == [
        "root → slept → Kent +1.8",
        "no <Jaguar> → The and Kent −0.5",
    ]


def test_a_change_of_a_tree_that_was_overwritten_is_not_told(changed):
    changed[4].head = changed[1]
    assert not read(explain(changed)).all("details", "changes")


def test_where_nothing_changed_nothing_is_told(doc):
    assert "What did factors change?" not in read(explain(doc)).text
