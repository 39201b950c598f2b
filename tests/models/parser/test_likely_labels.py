"""Labels of likely arcs alone: bounds for the others, and the same trees."""

from dataclasses import replace

import numpy as np
import pytest

import spacy_decoders
from spacy_decoders.models.parser import decoding, labels
from spacy_decoders.models.parser.factors import FactorTemplates, FactorWeights

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
        parser.decode_together([doc], parser.predict([doc]))[0] for doc in map(nlp.make_doc, texts)
    ]
    for (tree, scores), parsed in zip(together, alone, strict=True):
        assert [head for head, _, _ in tree] == parsed.heads.tolist()
        assert scores == pytest.approx([of.score for of in parsed.certificates], abs=1e-3)


@pytest.mark.parametrize("scale", [0.0, 3.0])
@pytest.mark.parametrize("projective", [True, False])
def test_without_time_for_other_trees_the_best_one_is_labelled_as_rules_allow(
    nlp, rng, projective, scale
):
    layer = FactorWeights(1 << 12)
    layer.set_param("arcs", scale * rng.normal(size=1 << 12).astype(np.float32))
    templates = FactorTemplates(layer, ("arcs",)) if scale else None
    texts = [*TEXTS, "To ill to near said the wife a to in wife the man and.", "Yes"]
    parser, found = nlp.get_pipe("parser"), []
    with pytest.MonkeyPatch.context() as patched:
        patched.setattr(decoding, "LABELLING", 1e9)
        for seconds in (None, 1e6):
            parser.configure(projective=projective, seconds=seconds)
            scores = parser.predict(list(map(nlp.make_doc, texts)))
            blocks = [block for of in scores for block in of.blocks]
            decoder = replace(parser.parser, templates=templates)
            found.append([decoder.decode(block, parser.tree_rules) for block in blocks])
    parser.configure(projective=True, seconds=None)
    ends = set()
    for best, late, block in zip(*found, blocks, strict=True):
        heads, certificate = late.solution.heads, late.solution.certificate
        assert not any(
            rule.is_broken([-1, *heads], [-1, *late.labels]) for rule in parser.tree_rules
        )
        count = block.label_count
        whole = block.completed()
        logs = whole.best_labels(np.arange(count), count)[0]
        arcs = decoder.problem(whole).arcs - whole.label_scores
        tokens = np.arange(1, len(heads) + 1)
        worth = (arcs[heads, tokens] + logs[heads, tokens, late.labels]).sum()
        if late.solution.starts is not None:
            worth += late.problem.boundaries[late.solution.starts].sum()
        assert certificate.score == pytest.approx(worth, abs=1e-3)
        optimum = best.solution.certificate.score
        assert certificate.score <= optimum + 1e-3 and optimum - 1e-3 <= certificate.bound
        ends.add(certificate.status)
    assert ends == {"optimal", "bounded"}
