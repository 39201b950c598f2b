"""Constraints on links: which concepts mentions may be linked to."""

import pytest
from spacy.tokens import Span

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


@pytest.mark.parametrize("kept", [False, True])
def test_contradictory_demands_leave_a_conflict_and_a_certificate(nlp, kept):
    """Two constraints, or one and the annotation that is there, exclude each other."""
    linker = nlp.get_pipe(NAME)
    pattern = [{"LOWER": "jaguar"}]
    linker.constraints = [
        {"pattern": pattern, "not_candidates": ["jaguar"]},
        *([] if kept else [{"pattern": pattern, "candidates": ["jaguar"]}]),
    ]
    linker.overwrite = not kept
    doc = nlp.make_doc(TEXT)
    if kept:
        doc.ents = [Span(doc, 1, 2, "MENTION", kb_id="jaguar")]
    doc = nlp(doc)
    (conflict,) = doc._.conflicts
    named = (
        ["present annotation", "constraints[0]"] if kept else ["constraints[0]", "constraints[1]"]
    )
    assert [demand["source"] for demand in conflict["demands"]] == named
    assert identifiers(doc)["Amazon"] == "amazon_rainforest"
    assert identifiers(doc).get("jaguar", "") == ("jaguar" if kept else "")
    assert [one["status"] for one in doc._.certificates[NAME]] == ["optimal", "infeasible"]
    # where nothing else is to be linked, too
    linker.mentions = "ents"
    doc = nlp(given(nlp, TEXT, "jaguar")) if not kept else doc
    assert doc._.certificates[NAME][-1]["status"] == "infeasible"
    assert len(doc._.conflicts) == 1
