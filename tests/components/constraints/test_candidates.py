"""Constraints on links: which concepts mentions may be linked to."""

from __future__ import annotations

import pytest

from tests.components.linker.linking import NAME, TEXT, identifiers, pipeline


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
