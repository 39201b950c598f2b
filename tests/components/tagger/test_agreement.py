"""Entities that agree within a document, and evidence for some."""

from __future__ import annotations

import itertools
import math
import pickle

import numpy as np
import pytest
import spacy
from spacy.tokens import Doc, Span
from spacy.training import Example

from spacy_decoders import ProblemError
from spacy_decoders.decoders.chain import Beam, ForwardDominance
from tests.components.tagger.tagging import MODEL, bare, entities, randomise, randomised
from tests.oracles import all_chains

NAME = "exact_tagger"
TEXT = "Mercury sees York . Mercury York sees"


@pytest.fixture(scope="module")
def nlp():
    return randomised(target="ent")


@pytest.fixture(scope="module")
def persons():
    """A recogniser of persons and cities, of random weights."""
    nlp = spacy.blank("en")
    spacy.util.fix_random_seed(0)
    nlp.add_pipe("exact_tagger", config={"model": MODEL, "target": "ent"})
    doc = Doc(
        nlp.vocab, words=["Ann", "Lee", "sees", "Lee"], ents=["B-PER", "I-PER", "O", "B-LOC"]
    )
    nlp.initialize(lambda: [Example(nlp.make_doc(doc.text), doc)])
    return nlp


def cut(nlp, *sentences):
    """A document with boundaries."""
    words = [sentence.split() for sentence in sentences]
    starts = [i == 0 for line in words for i in range(len(line))]
    return Doc(nlp.vocab, words=[*itertools.chain(*words)], sent_starts=starts)


def best(nlp, sentences, worth):
    """The score of the best labelling of some sentences, by enumeration."""
    pipe = nlp.get_pipe(NAME)
    doc = cut(nlp, *sentences)
    scores = pipe.model.predict([doc])
    chain = pipe._chain_model(scores)
    parts, begin = [], 0
    for sentence in sentences:
        n = len(sentence.split())
        rows = scores.emissions[0][begin : begin + n]
        every = all_chains(chain.transitions, chain.start_scores, chain.end_scores, rows)
        legal = [(score, labels) for score, labels in every if score > -math.inf]
        parts.append([(score, [pipe.labels[y] for y in labels]) for score, labels in legal])
        begin += n
    return max(
        sum(score for score, _ in chosen)
        + worth(entities([label for _, labels in chosen for label in labels]))
        for chosen in itertools.product(*parts)
    )


def disagreement(words, found, weight):
    """What it costs that entities of the same name have different types."""
    names = {}
    for (i, j), kind in found.items():
        names.setdefault(tuple(words[i:j]), []).append(kind)
    return sum(
        min(sum(weight for kind in kinds if kind != hub) for hub in ("STAR", "CITY"))
        for kinds in names.values()
        if len(set(kinds)) > 1
    )


@pytest.mark.parametrize("weight", ["hard", 2.0])
def test_the_same_name_has_the_same_type(nlp, weight):
    nlp.get_pipe(NAME).configure(agreement=weight, constraints=[])
    cost = math.inf if weight == "hard" else weight
    sentences = ("Mercury sees York", "York Mercury")
    words = " ".join(sentences).split()
    changed = 0
    for seed in range(15):
        randomise(nlp, seed)
        wanted = best(nlp, sentences, lambda found: -disagreement(words, found, cost))
        doc = nlp(cut(nlp, *sentences))
        (certificate,) = doc._.certificates[NAME]
        assert certificate["status"] == "optimal"
        assert certificate["decoder"] == "DocumentAgreement"
        assert certificate["score"] == pytest.approx(wanted, abs=1e-4)
        if weight == "hard":
            types = {}
            for ent in doc.ents:
                types.setdefault(ent.text, set()).add(ent.label_)
            assert all(len(of) == 1 for of in types.values())
        changed += wanted < best(nlp, sentences, lambda found: 0.0) - 1e-6
    assert changed


def test_evidence_for_spans_is_weighed_exactly(nlp):
    nlp.get_pipe(NAME).configure(
        agreement=None,
        constraints=[
            {"phrases": ["New York"], "entity": "CITY", "weight": 3.0},
            {"phrases": ["Mercury"], "entity": True, "weight": 1.0},
        ],
    )
    for seed in range(15):
        randomise(nlp, seed)
        sentences = ("Mercury sees", "New York .")

        def worth(found):
            return 3.0 * (found.get((2, 4)) == "CITY") + 1.0 * ((0, 1) in found)

        wanted = best(nlp, sentences, worth)
        (certificate,) = nlp(cut(nlp, *sentences))._.certificates[NAME]
        assert certificate["status"] == "optimal"
        assert certificate["score"] == pytest.approx(wanted, abs=1e-4)
    nlp.get_pipe(NAME).constraints = []


def test_occurrences_that_are_missing_cost(nlp):
    pipe = nlp.get_pipe(NAME)
    text = ("Mercury sees", "Mercury .", "Mercury York")
    without = with_cost = 0
    for seed in range(20):
        randomise(nlp, seed)
        pipe.agreement = 3.0
        without += sum(ent.text == "Mercury" for ent in nlp(cut(nlp, *text)).ents) in (1, 2)
        pipe.agreement = {"same_name": 3.0, "missing": 3.0}
        with_cost += sum(ent.text == "Mercury" for ent in nlp(cut(nlp, *text)).ents) in (1, 2)
    assert with_cost < without
    pipe.agreement = None


def test_surnames_agree_with_full_names(persons):
    pipe = persons.get_pipe(NAME)
    text = ("Ann Lee sees", "Lee sees", "A. Lee sees")
    wrong = {0.0: 0, 50.0: 0}
    for weight, seed in itertools.product(wrong, range(40)):
        randomise(persons, seed)
        pipe.agreement = {"same_name": 0.0, "short_names": weight}
        doc = persons(cut(persons, *text))
        found = {ent.text: ent.label_ for ent in doc.ents}
        if found.get("Ann Lee") == "PER":
            wrong[weight] += "LOC" in (found.get("Lee"), found.get("A. Lee"))
        assert doc._.certificates[NAME][0]["status"] == "optimal"
    assert wrong[0.0] > wrong[50.0] == 0


def test_presets_that_disagree_are_named_and_kept():
    nlp = randomised(target="ent", overwrite=False, agreement="hard")
    docs = [bare(nlp, TEXT), bare(nlp, TEXT)]
    docs[0].set_ents([Span(docs[0], 0, 1, "STAR"), Span(docs[0], 4, 5, "CITY")], default="missing")
    randomise(nlp, 0)
    first, second = nlp.pipe(docs)
    assert {("Mercury", "STAR"), ("Mercury", "CITY")} <= {(e.text, e.label_) for e in first.ents}
    (conflict,) = first._.conflicts
    assert [demand["source"] for demand in conflict["demands"]] == ["agreement", "agreement"]
    assert first._.certificates[NAME][0]["status"] == "optimal"
    assert second._.conflicts == []


def test_sentences_without_a_labelling_have_certificates_of_their_own(nlp):
    nlp.get_pipe(NAME).configure(
        agreement="hard",
        constraints=[
            {"phrases": ["sees"], "entity": "STAR"},
            {"phrases": ["sees"], "not_entity": True},
        ],
    )
    doc = nlp(cut(nlp, "Mercury York", "York sees", "Mercury ."))
    assert [of["status"] for of in doc._.certificates[NAME]] == ["optimal", "infeasible"]
    assert nlp(Doc(nlp.vocab))._.certificates[NAME] == []
    nlp.get_pipe(NAME).configure(agreement=None, constraints=[])


@pytest.mark.parametrize(
    ("value", "message"),
    [
        ("soft", "expected 'hard' or a finite weight"),
        (-1, "expected 'hard' or a finite weight"),
        (math.nan, "expected 'hard' or a finite weight"),
        ({"same": 1}, "unknown key 'same'; known: same_name"),
        ({"missing": "hard"}, "a finite weight of at least 0 for missing"),
        ({"same_name": 1.0, "missing": 2.0}, "missing must not be more"),
        ({"attr": "TEXT"}, "expected ORTH, LOWER"),
    ],
)
def test_what_is_wrong_is_named(nlp, value, message):
    with pytest.raises(ProblemError, match=message):
        nlp.get_pipe(NAME).agreement = value


def test_only_entities_agree():
    with pytest.raises(ProblemError, match="agreement: the target is 'tag'"):
        spacy.blank("en").add_pipe("exact_tagger", config={"agreement": "hard"})


def test_joint_labels_agree():
    nlp = randomised(target=["tag", "ent"], agreement="hard")
    for seed in range(5):
        randomise(nlp, seed)
        doc = nlp(cut(nlp, "Mercury sees York", "York sees Mercury", "the old Mercury"))
        types = {}
        for ent in doc.ents:
            types.setdefault(ent.text, set()).add(ent.label_)
        assert all(len(of) == 1 for of in types.values())
        assert doc._.certificates[NAME][0]["status"] == "optimal"
    assert np.all([token.tag_ for token in doc])


def test_a_beam_proves_nothing_and_workers_get_the_option(nlp):
    pipe = nlp.get_pipe(NAME)
    pipe.configure(agreement="hard", decoder=Beam(1))
    randomise(nlp, 0)
    doc = nlp(cut(nlp, "the old man", "Mercury"))
    assert doc._.certificates[NAME][0]["status"] == "heuristic"
    pipe.decoder = ForwardDominance()
    sent = pickle.loads(pickle.dumps(pipe))
    assert sent.agreement == pipe.agreement
    doc = sent(cut(nlp, "Mercury sees", "Mercury"))
    assert doc._.certificates[NAME][0]["status"] == "optimal"
    pipe.agreement = None


def test_a_document_without_labelling_has_no_optimal_certificate():
    nlp = randomised(target="ent", agreement="hard")
    nlp.get_pipe(NAME).constraints = [
        {"phrases": ["sees"], "entity": True},
        {"phrases": ["sees"], "not_entity": True},
    ]
    doc = nlp(bare(nlp, "Mercury sees York"))
    assert [of["status"] for of in doc._.certificates[NAME]] == ["infeasible"]
