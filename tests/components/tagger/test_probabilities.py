"""exact_tagger: the probabilities that it writes are sums over all labellings, calibrated."""

import numpy as np
import pytest
import spacy
from spacy.tokens import Doc
from spacy.training import Example

from spacy_decoders.components.probabilities import calibrate_pipeline
from tests.components.tagger import tagging

NAME = "exact_tagger"


def labellings(nlp, doc, temperature=1.0):
    """Every legal labelling of a document, as the labels' names, and its probability."""
    scored = tagging.every_labelling(nlp, doc, temperature)
    weights = np.exp([score - scored[0][0] for score, _ in scored])
    weights /= weights.sum()
    listed = zip(weights.tolist(), scored, strict=True)
    return [(labels, weight) for weight, (_, labels) in listed if weight > 0]


@pytest.mark.parametrize("seed", range(4))
def test_tags_against_enumeration(seed):
    nlp = tagging.randomised(seed, probabilities=True)
    text = "the man sees Mercury"
    listed = labellings(nlp, tagging.bare(nlp, text))
    doc = nlp(tagging.bare(nlp, text))
    for token in doc:
        expected = sum(p for labels, p in listed if labels[token.i] == token.tag_)
        assert token._.tag_prob == pytest.approx(expected, abs=1e-5)
    own = doc._.probabilities[NAME]
    assert own["tokens"] == [token._.tag_prob for token in doc]
    whole = sum(p for labels, p in listed if labels == [token.tag_ for token in doc])
    assert own["units"] == pytest.approx([whole], abs=1e-5)


@pytest.mark.parametrize("seed", range(4))
def test_entities_against_enumeration(seed):
    nlp = tagging.randomised(seed, target="ent", entity_alternatives=0.01)
    text = "New York sees Mercury"
    listed = labellings(nlp, tagging.bare(nlp, text))
    doc = nlp(tagging.bare(nlp, text))
    expected = {}
    for labels, p in listed:
        for (start, end), kind in tagging.entities(labels).items():
            entity = start, end, kind
            expected[entity] = expected.get(entity, 0.0) + p
    for ent in doc.ents:
        assert ent._.prob == pytest.approx(expected[ent.start, ent.end, ent.label_], abs=1e-5)
    given = {(e["start"], e["end"], e["label"]): e["prob"] for e in doc._.entity_alternatives}
    assert given == pytest.approx({e: p for e, p in expected.items() if p >= 0.01}, abs=1e-5)
    assert all(entry["component"] == NAME for entry in doc._.entity_alternatives)
    assert [e["prob"] for e in doc._.probabilities[NAME]["entities"]] == [
        ent._.prob for ent in doc.ents
    ]
    # a recogniser of entities alone says nothing of tags
    assert doc[0]._.tag_prob is None


def held_out(nlp, count=80, seed=3):
    """Sentences whose tags are drawn from the pipeline's own distribution, at temperature 3."""
    rng = np.random.default_rng(seed)
    words = ["the", "old", "man", "sees", "Mercury", "."]
    found = []
    for _ in range(count):
        text = " ".join(rng.choice(words, size=3))
        listed = labellings(nlp, tagging.bare(nlp, text), 3.0)
        drawn = rng.choice(len(listed), p=[p for _, p in listed])
        gold = Doc(nlp.vocab, words=text.split(), tags=listed[drawn][0])
        found.append(Example(tagging.bare(nlp, text), gold))
    return found


def test_calibration_finds_the_temperature_and_is_saved(tmp_path):
    nlp = tagging.randomised(5, probabilities=True)
    pipe = nlp.get_pipe(NAME)
    report = calibrate_pipeline(nlp, held_out(nlp))
    assert set(report) == {NAME}
    assert set(report[NAME]) == {"tokens", "units"}
    assert pipe.temperature == pytest.approx(3.0, rel=0.35)
    text = "the man sees"
    heated = labellings(nlp, tagging.bare(nlp, text), pipe.temperature)
    doc = nlp(tagging.bare(nlp, text))
    chances = [sum(p for labels, p in heated if labels[token.i] == token.tag_) for token in doc]
    expected = pipe.calibration_of("tokens").apply(chances)
    assert [token._.tag_prob for token in doc] == pytest.approx(expected.tolist(), abs=1e-5)
    nlp.to_disk(tmp_path)
    loaded = spacy.load(tmp_path)
    assert loaded.get_pipe(NAME).calibration == pipe.calibration
    again = loaded(tagging.bare(loaded, text))
    assert again._.probabilities == doc._.probabilities
    # tags and certificates are those of the uncalibrated model
    pipe.calibration = {}
    assert pipe.temperature == 1.0
    assert [token.tag_ for token in nlp(tagging.bare(nlp, text))] == [token.tag_ for token in doc]


def test_entities_are_calibrated_too():
    nlp = tagging.randomised(5, target="ent")
    report = calibrate_pipeline(nlp, tagging.examples(nlp))
    assert set(report[NAME]) == {"tokens", "units", "entities", "other_entities"}
    answers = report[NAME]["entities"].before
    predicted = [nlp(tagging.bare(nlp, sentence)).ents for sentence in tagging.SENTENCES]
    assert len(answers.right) == sum(map(len, predicted))
    gold = [tagging.annotated(nlp, [sentence]).ents for sentence in tagging.SENTENCES]
    right = [
        (ent.start, ent.end, ent.label_) in {(e.start, e.end, e.label_) for e in of_gold}
        for ents, of_gold in zip(predicted, gold, strict=True)
        for ent in ents
    ]
    assert answers.right.tolist() == right


def test_a_document_annotated_again_forgets_what_is_off_now():
    options = {"margins": True, "k_best": 2, "probabilities": True, "entity_alternatives": 0.1}
    nlp = tagging.trained(60, target=["tag", "ent"], **options)
    doc = nlp(tagging.bare(nlp, tagging.SENTENCES[0]))
    assert doc._.margins and doc._.taggings and doc._.probabilities and doc.ents[0]._.prob
    pipe = nlp.get_pipe(NAME)
    pipe.configure(margins=False, k_best=1, probabilities=False, entity_alternatives=None)
    others = {"margins": {"x": [1.0]}, "taggings": [{"component": "x"}]}
    doc._.margins, doc._.taggings = (
        {**doc._.margins, "x": [1.0]},
        [*doc._.taggings, *others["taggings"]],
    )
    pipe(doc)
    assert (doc._.margins, doc._.taggings) == (others["margins"], others["taggings"])
    assert doc._.probabilities == {} and doc._.entity_alternatives == []
    assert doc.ents[0]._.prob is None
    assert {(of._.tag_margin, of._.tag_prob) for of in doc} == {(None, None)}
