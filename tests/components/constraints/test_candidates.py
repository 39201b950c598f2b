"""Constraints on links: which concepts mentions may be linked to."""

import pytest

from tests.components.linker.linking import NAME, TEXT, given, identifiers, pipeline


@pytest.fixture
def nlp():
    return pipeline()


def test_only_these_concepts(nlp):
    alone = identifiers(nlp(TEXT))
    base = nlp.get_pipe(NAME).kb.base
    other = next(of["id"] for of in base.look_up("jaguar") if of["id"] != alone["jaguar"])
    pattern = [{"LOWER": "jaguar"}]
    nlp.get_pipe(NAME).constraints = [{"pattern": pattern, "candidates": [other]}]
    assert identifiers(nlp(TEXT)).get("jaguar") in (other, None)
    # also one that no alias suggests, by its identifier
    nlp.get_pipe(NAME).constraints = [{"pattern": pattern, "candidates": [alone["Amazon"]]}]
    (link,) = [ent._.link for ent in nlp(TEXT).ents if ent.text == "jaguar"]
    assert link["id"] in (alone["Amazon"], None, "")
    assert alone["Amazon"] in [of["id"] for of in link["candidates"]]


def test_contradictory_demands_cost_their_mention_alone(nlp):
    linker = nlp.get_pipe(NAME)
    demands = {"not_candidates": ["jaguar"]}, {"candidates": ["jaguar"]}
    linker.constraints = [{"pattern": [{"LOWER": "jaguar"}], **demand} for demand in demands]
    with pytest.warns(UserWarning, match=r"constraints\[0\] on 'jaguar' and constraints\[1\] on"):
        doc = nlp(TEXT)
    assert identifiers(doc)["Amazon"] == "amazon_rainforest" and "jaguar" not in identifiers(doc)
    assert [one["status"] for one in doc._.certificates[NAME]] == ["optimal", "infeasible"]
    # where nothing else is to be linked, too
    linker.mentions = "ents"
    doc = nlp(given(nlp, TEXT, "jaguar"))
    assert doc._.certificates[NAME][-1]["status"] == "infeasible"
    assert len(doc._.conflicts) == 1
