"""Weighted demands that spans are entities."""

from __future__ import annotations

import itertools
import math

import pytest
from spacy.tokens import Doc

from spacy_decoders.components.tagger import weighed_entities
from spacy_decoders.decoders.chain import Beam, ForwardDominance
from tests.components.tagger.tagging import bare, entities, randomise, randomised
from tests.oracles import all_chains

NAME = "exact_tagger"


@pytest.fixture(scope="module")
def nlp():
    return randomised(target="ent")


def cut(nlp, *sentences):
    """A document with boundaries."""
    words = [sentence.split() for sentence in sentences]
    starts = [i == 0 for line in words for i in range(len(line))]
    return Doc(nlp.vocab, words=[*itertools.chain(*words)], sent_starts=starts)


def best(nlp, text, worth):
    """The score of the best labelling of a sentence, by enumeration."""
    pipe = nlp.get_pipe(NAME)
    scores = pipe.model.predict([bare(nlp, text)])
    chain = pipe._chain_model(scores)
    every = all_chains(
        chain.transitions, chain.start_scores, chain.end_scores, scores.emissions[0]
    )
    return max(
        score + worth(entities([pipe.labels[y] for y in labels]))
        for score, labels in every
        if score > -math.inf
    )


def test_evidence_for_spans_is_weighed_exactly(nlp):
    nlp.get_pipe(NAME).constraints = [
        {"phrases": ["New York"], "entity": "CITY", "weight": 3.0},
        {"phrases": ["York"], "entity": "STAR", "weight": 4.0},
        {"phrases": ["Mercury", "sees"], "entity": True, "weight": 1.0},
    ]

    def worth(found):
        return (
            3.0 * (found.get((2, 4)) == "CITY")
            + 4.0 * (found.get((3, 4)) == "STAR")
            + ((0, 1) in found)
            + ((1, 2) in found)
        )

    changed = 0
    for seed in range(30):
        randomise(nlp, seed)
        text = "Mercury sees New York ."
        doc = nlp(bare(nlp, text))
        (certificate,) = doc._.certificates[NAME]
        assert certificate["status"] == "optimal"
        assert certificate["score"] == pytest.approx(best(nlp, text, worth), abs=1e-4)
        changed += certificate["score"] > best(nlp, text, lambda found: 0.0) + 1e-6
    assert changed
    nlp.get_pipe(NAME).constraints = []


def test_each_sentence_has_its_own_certificate(nlp):
    nlp.get_pipe(NAME).constraints = [
        {"phrases": ["York"], "entity": True, "weight": 50.0},
        {"phrases": ["old"], "entity": "STAR"},
        {"phrases": ["old"], "not_entity": True},
    ]
    doc = nlp(cut(nlp, "Mercury York", "York old", "Mercury ."))
    found = [of["status"] for of in doc._.certificates[NAME]]
    assert found == ["optimal", "infeasible", "optimal"]
    assert "York" in [ent.text for ent in doc.ents]
    nlp.get_pipe(NAME).constraints = []


def test_a_beam_proves_nothing(nlp):
    nlp.get_pipe(NAME).configure(
        decoder=Beam(1), constraints=[{"phrases": ["York"], "entity": True, "weight": 1.0}]
    )
    doc = nlp(bare(nlp, "Mercury York"))
    assert doc._.certificates[NAME][0]["status"] == "heuristic"
    nlp.get_pipe(NAME).configure(decoder=ForwardDominance(), constraints=[])


def test_where_the_search_ends_early_a_gap_is_left(nlp, monkeypatch):
    monkeypatch.setattr(weighed_entities, "MOST", 1)
    nlp.get_pipe(NAME).constraints = [
        {"phrases": ["the", "old", "man", "sees"], "entity": True, "weight": 1.0}
    ]
    found = set()
    for seed in range(20):
        randomise(nlp, seed)
        (certificate,) = nlp(bare(nlp, "the old man sees"))._.certificates[NAME]
        found.add(certificate["status"])
        assert (
            certificate["bound"]
            >= best(
                nlp, "the old man sees", lambda ents: sum((i, i + 1) in ents for i in range(4))
            )
            - 1e-4
        )
    assert found == {"optimal", "bounded"}
    nlp.get_pipe(NAME).constraints = []
