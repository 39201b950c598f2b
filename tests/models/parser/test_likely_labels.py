"""Labels of likely arcs alone: bounds for the others, and the same trees."""

import numpy as np
import pytest

import spacy_decoders
from spacy_decoders.models.parser import labels

TEXTS = (
    "The old man who sold the boats can fish in Coventry, but his neighbours never could.",
    "Binary search finds an item in a sorted list. It halves the list again and again.",
    "What she said is what I think is that there is there is no way to tell them both.",
)


@pytest.fixture(scope="module")
def nlp():
    return spacy_decoders.load(enable=["parser"])


def test_arcs_without_labels_have_upper_bounds(nlp):
    parser = nlp.get_pipe("parser")
    predicted = parser.predict(map(nlp.make_doc, TEXTS))
    for block in (block for of in predicted for block in of.blocks):
        unlikely = block.labels < 0
        assert unlikely.mean() > 0.5
        bounds = parser.parser.problem(block).arcs
        arcs = parser.parser.problem(block.completed()).arcs
        inner = np.isfinite(arcs)
        assert (bounds[unlikely & inner] >= arcs[unlikely & inner]).all()
        np.testing.assert_allclose(bounds[~unlikely & inner], arcs[~unlikely & inner], atol=1e-3)


def test_an_unlikely_arc_in_the_tree_gets_a_label():
    nlp = spacy_decoders.load(enable=["parser"])
    parser, found = nlp.get_pipe("parser"), []
    for k_best in (1, 2):
        parser.k_best = k_best
        doc = nlp.make_doc("The old man can fish in Coventry today .")
        doc[0]._.fixed_head = 7  # no network would attach an article to an adverb
        doc = nlp(doc)
        (certificate,) = doc._.certificates["parser"]
        assert certificate["status"] == "optimal"
        found.append(([(token.head.i, token.dep_) for token in doc], certificate["score"]))
    assert found[0][0] == found[1][0]
    assert found[0][0][0][0] == 7
    assert found[0][0][0][1]
    assert found[0][1] == pytest.approx(found[1][1], abs=1e-3)


def parses(nlp, texts):
    found = []
    for doc in nlp.pipe(texts):
        certificates = doc._.certificates["parser"]
        assert {of["status"] for of in certificates} <= {"optimal"}
        tree = [(token.head.i, token.dep_, token.is_sent_start) for token in doc]
        found.append((tree, [of["score"] for of in certificates]))
    return found


@pytest.mark.parametrize("less", [0.0, 1.0, 100.0])
def test_trees_do_not_depend_on_which_arcs_get_labels_first(nlp, monkeypatch, less):
    expected = parses(nlp, TEXTS)
    monkeypatch.setattr(labels, "_SELDOM", less)
    for (mine, scores), (other, others) in zip(parses(nlp, TEXTS), expected, strict=True):
        assert mine == other
        assert scores == pytest.approx(others, abs=1e-3)


def test_trees_of_a_batch_are_those_of_each_sentence_by_itself(nlp):
    # a verb with two subjects, which a rule forbids, among sentences that break none
    texts = [*TEXTS, "The dog the cat sleeps sleeps she he runs.", "", " \n ", "Yes"]
    together = parses(nlp, texts)
    parser = nlp.get_pipe("parser")
    alone = [
        parser.decode(doc, of) for doc in map(nlp.make_doc, texts) for of in parser.predict([doc])
    ]
    for (tree, scores), parsed in zip(together, alone, strict=True):
        assert [head for head, _, _ in tree] == parsed.heads.tolist()
        assert scores == pytest.approx([of.score for of in parsed.certificates], abs=1e-3)
