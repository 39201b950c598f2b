"""Constraints on links: which concepts mentions may be linked to."""

from __future__ import annotations

import pytest
import spacy
from spacy.kb import InMemoryLookupKB
from spacy.tokens import Span

from spacy_decoders import ProblemError
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


def test_what_is_wrong_is_named(nlp):
    pipe = nlp.get_pipe(NAME)
    pipe.constraints = [{"phrases": ["jaguar"], "candidates": ["No such thing"]}]
    with pytest.raises(ProblemError, match=r"constraints\[0\].candidates: the knowledge base has"):
        nlp(TEXT)
    with pytest.raises(ProblemError, match="no use for 'labels'"):
        pipe.constraints = [{"phrases": ["jaguar"], "labels": ["NN"]}]


def test_spacys_candidates():
    nlp = spacy.blank("en")
    kb = InMemoryLookupKB(nlp.vocab, entity_vector_length=2)
    for name in ("cat", "car"):
        kb.add_entity(entity=name, freq=3, entity_vector=[1, 0])
    kb.add_alias(alias="jaguar", entities=["cat", "car"], probabilities=[0.6, 0.3])
    pipe = nlp.add_pipe(
        NAME, config={"mentions": "ents", "pairs": {"@misc": "spacy-decoders.EntityVectors.v1"}}
    )
    pipe.set_kb(lambda vocab: kb)
    pipe.constraints = [{"phrases": ["jaguar"], "candidates": ["car"]}]
    doc = nlp.make_doc("the jaguar")
    doc.set_ents([Span(doc, 1, 2, "THING")])
    assert identifiers(nlp(doc))["jaguar"] in ("car", "", "NIL")
