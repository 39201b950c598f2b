"""Constraints on tags and entities are obeyed exactly; contradictory ones: `wishes`."""

import numpy as np
import pytest
import spacy
from spacy.tokens import Doc, Span
from spacy.training import Example

from tests.components.tagger.tagging import bare, every_labelling, randomise, randomised, tags

NAME = "exact_tagger"


def entities(doc):
    return [(ent.text, ent.label_) for ent in doc.ents]


@pytest.fixture(scope="module")
def tagger():
    return randomised()


@pytest.fixture(scope="module")
def recogniser():
    return randomised(target="ent")


def best_labels(nlp, text, agrees):
    """The labels of the best labelling that agrees, and its score, by enumeration."""
    scored = every_labelling(nlp, bare(nlp, text))
    return max((score + agrees(labels), labels) for score, labels in scored)


@pytest.mark.parametrize(
    ("constraint", "agrees"),
    [
        ({"pattern": [{"LOWER": "sees"}], "labels": ["JJ"]}, lambda y: y[1] == "JJ"),
        ({"pattern": [{}, {"ORTH": "sees"}], "not_labels": ["JJ", "NN"]}, None),
        (
            {"phrases": ["MERCURY sees"], "attr": "LOWER", "token": -1, "labels": "DT"},
            lambda y: y[1] == "DT",
        ),
        (None, lambda y: y[1] == "JJ"),
    ],
)
def test_hard_constraints_and_kept_tags_condition_the_others(tagger, constraint, agrees):
    agrees = agrees or (lambda y: not {"JJ", "NN"} & set(y[:2]))
    constraints = [] if constraint is None else [constraint]
    tagger.get_pipe(NAME).configure(constraints=constraints, overwrite=bool(constraints))
    for seed in range(10):
        randomise(tagger, seed)
        score, labels = best_labels(
            tagger, "Mercury sees York", lambda y: 0.0 if agrees(y) else -np.inf
        )
        doc = bare(tagger, "Mercury sees York")
        doc[1].tag_ = "JJ" if constraint is None else ""
        doc = tagger(doc)
        certificate = doc._.certificates[NAME][0]
        assert tags(doc) == labels
        assert certificate["status"] == "optimal"
        assert certificate["score"] == pytest.approx(score, abs=1e-4)


def test_a_token_that_must_be_in_an_entity_stays_there_however_improbable(recogniser):
    pipe = recogniser.get_pipe(NAME)
    pipe.configure(constraints=[{"phrases": ["sees"], "not_labels": ["O"]}], min_prob=1.0)
    doc = recogniser(bare(recogniser, "Mercury sees York"))
    pipe.configure(constraints=[], min_prob=None)
    assert [bool(token.ent_type_) for token in doc][1]
    assert not doc._.conflicts


def test_a_forbidden_part_of_a_label_is_named_beside_a_part_that_is_unknown():
    nlp = spacy.blank("xx")
    pipe = nlp.add_pipe(NAME, config={"target": ["tag", "ent"], "overwrite": False})
    gold = {"tags": ["N", "V"], "entities": ["U-PER", "O"]}
    nlp.initialize(lambda: [Example.from_dict(Doc(nlp.vocab, words=["Ann", "ran"]), gold)])
    pipe.constraints = [{"phrases": ["Ann"], "not_labels": ["B-PER"]}]
    doc = Doc(nlp.vocab, words=["Ann", "ran"], tags=["unknown", ""])
    doc.ents = [Span(doc, 0, 1, label="PER")]
    with pytest.warns(UserWarning, match="can't hold"):
        (found,) = pipe(doc)._.conflicts
    assert {of["source"] for of in found["demands"]} == {"constraints[0]", "present annotation"}


def test_spans_that_are_entities_and_tokens_that_are_in_none(recogniser):
    recogniser.get_pipe(NAME).constraints = [
        {"phrases": ["New York"], "entity": "CITY"},
        {"phrases": ["sees"], "not_entity": True},
        {"phrases": ["Mercury"], "not_entity": "CITY"},
    ]
    for seed in range(10):
        randomise(recogniser, seed)

        def agrees(y):
            right = y[:3] in (["B-CITY", "I-CITY", "O"],)
            return 0.0 if right and not y[3].endswith("CITY") else -np.inf

        score, labels = best_labels(recogniser, "New York sees Mercury", agrees)
        doc = recogniser(bare(recogniser, "New York sees Mercury"))
        assert entities(doc)[0] == ("New York", "CITY")
        assert doc._.certificates[NAME][0]["score"] == pytest.approx(score, abs=1e-4)
        assert (labels[3][2:] or "") == doc[3].ent_type_


def test_entities_that_are_set_are_kept_and_not_continued():
    nlp = randomised(5, target="ent", overwrite=False)
    # random scores that love I-CITY everywhere
    output = nlp.get_pipe(NAME).model.get_ref("output_layer")
    output.set_param("W", 0 * output.get_param("W"))
    inside = nlp.get_pipe(NAME).labels.index("I-CITY")
    output.set_param("b", (np.arange(len(output.get_param("b"))) == inside) * np.float32(50))
    doc = bare(nlp, "the old man sees New York .")
    doc.set_ents([Span(doc, 1, 3, label="CITY", kb_id="Q1")], default="unmodified")
    nlp(doc)
    kept = doc.ents[0] if doc.ents[0].start == 1 else doc.ents[1]
    assert (kept.start, kept.end, kept.label_, kept.kb_id_) == (1, 3, "CITY", "Q1")


def test_blocked_spans_and_present_entities_are_respected():
    nlp = randomised(target="ent", overwrite=False)
    for seed in range(10):
        randomise(nlp, seed)
        doc = bare(nlp, "the old man sees New York")
        doc.set_ents([Span(doc, 4, 6, "CITY")], blocked=[Span(doc, 0, 3)], default="missing")
        nlp(doc)
        assert not any(token.ent_type for token in doc[:3])
        assert entities(doc)[-1] == ("New York", "CITY")
