"""branch_and_bound_parser: its probabilities are those of all trees, and calibrated."""

import json

import numpy as np
import pytest
import spacy
from spacy.tokens import Doc

from spacy_decoders.components.probabilities import calibrate_pipeline
from spacy_decoders.decoders.tree import ChuLiuEdmonds, tree_posteriors
from tests.components.parser.parsing import NAME, bare, make_examples, make_nlp, parse, sentence


@pytest.fixture(scope="module")
def nlp():
    """A parser that is sure of little, of arcs alone."""
    return make_nlp(6, factors=["arcs"], probabilities=True)


def posteriors(nlp, doc, **options):
    """The distribution over the trees of a block, and the probabilities of its labels."""
    [scores] = nlp.get_pipe(NAME).predict([doc])
    [block] = scores.blocks
    arcs = block.arcs.astype(float) - block.label_scores
    found = tree_posteriors(arcs, boundaries=block.boundaries, **options)
    return found, np.exp(block.label_scores)


def heads_of(doc):
    """The heads of a document, 0 for a root."""
    return [0 if token.head.i == token.i else token.head.i + 1 for token in doc]


@pytest.mark.parametrize("projective", [True, False])
def test_heads_and_labels_are_those_of_the_distribution(nlp, projective):
    pipe = nlp.get_pipe(NAME)
    decoder = pipe.decoder
    if not projective:
        pipe.configure(projective=False, decoder=ChuLiuEdmonds())
    try:
        doc = sentence(nlp, ["the", "dog", "sees", "a", "cat"])
        found, labels = posteriors(nlp, doc, projective=projective)
        nlp(doc)
    finally:
        pipe.configure(projective=True, decoder=decoder)
    heads = heads_of(doc)
    of_labels = labels[heads, np.arange(1, 6)]
    of_heads = found.of_heads(heads)
    assert [t._.head_prob for t in doc] == pytest.approx(of_heads.tolist(), abs=1e-5)
    assert [t._.dep_prob for t in doc] == pytest.approx((of_heads * of_labels).tolist(), abs=1e-5)
    [whole] = doc._.probabilities[NAME]["units"]
    assert whole == pytest.approx(found.of_tree(heads) * np.prod(of_labels), abs=1e-5)
    assert [token._.sent_start_prob for token in doc] == [1.0, 0.0, 0.0, 0.0, 0.0]


def test_boundaries_are_summed_over_with_the_trees(nlp, monkeypatch):
    """Of a text whose boundaries are open, everything is a share of all forests."""
    doc = Doc(nlp.vocab, words=["she", "eats", "he", "sleeps"])
    monkeypatch.setattr(nlp.get_pipe(NAME), "certain", 50.0)
    found, _ = posteriors(nlp, doc, projective=True)
    nlp(doc)
    starts = [token._.sent_start_prob for token in doc]
    assert starts == pytest.approx(found.starts.tolist(), abs=1e-5) and 0.0 < starts[1] < 1.0
    of_heads = found.of_heads(heads_of(doc))
    assert [t._.head_prob for t in doc] == pytest.approx(of_heads.tolist(), abs=1e-5)


def test_white_space_has_no_head_to_be_sure_of(nlp):
    doc = nlp("she eats  \n the red fish .")
    spaces = [token for token in doc if token.is_space]
    assert spaces
    assert all(token._.head_prob is None and token._.dep_prob is None for token in spaces)
    assert all(0.0 <= token._.head_prob <= 1.0 for token in doc if not token.is_space)
    json.dumps(doc._.probabilities, allow_nan=False)
    assert nlp(Doc(nlp.vocab))._.probabilities[NAME]["units"] == []
    assert nlp(" ")._.probabilities[NAME]["units"] == []


def test_improbable_arcs_have_no_label_and_certificates_stay(nlp, monkeypatch):
    before = parse(nlp)
    chances = [token._.dep_prob for token in before]
    monkeypatch.setattr(nlp.get_pipe(NAME), "min_prob", sorted(chances)[2])
    after = parse(nlp)
    dropped = [p < sorted(chances)[2] for p in chances]
    assert [not token.has_head() for token in after] == dropped
    assert [token.dep_ == "" for token in after] == dropped
    for one, other in zip(before, after, strict=True):
        assert other.head.i == (one.head.i if other.has_head() else one.i)
        assert one.is_sent_start == other.is_sent_start
        assert other.dep_ in ("", one.dep_)
    read = Doc(nlp.vocab).from_bytes(after.to_bytes())
    assert [token.is_sent_start for token in read] == [token.is_sent_start for token in before]
    assert [token.has_head() for token in read] == [token.has_head() for token in after]
    assert after._.certificates == before._.certificates
    assert after._.probabilities == before._.probabilities


def test_a_demanded_head_is_written_however_improbable(nlp, monkeypatch):
    monkeypatch.setattr(nlp.get_pipe(NAME), "min_prob", 1.0)
    doc = nlp.make_doc("she eats the red fish .")
    doc[0]._.fixed_head = 5
    doc = nlp(doc)
    assert doc[0].has_head() and doc[0].head.i == 5
    assert not doc[3].has_head()


def test_calibration_is_fitted_and_saved(tmp_path):
    nlp = make_nlp(6, factors=["arcs"], probabilities=True)
    examples = [example for _ in range(6) for example in make_examples(nlp)]
    report = calibrate_pipeline(nlp, examples)
    assert set(report[NAME]) == {"heads", "deps", "sent_starts", "units"}
    words = sum(len(example.predicted) for example in examples)
    heads = report[NAME]["heads"].before
    assert len(heads.right) == words
    pairs = [
        pair
        for example in examples
        for pair in zip(nlp(bare(example.reference)), example.reference, strict=True)
    ]
    right = [token.head.i == gold.head.i for token, gold in pairs]
    assert heads.right.tolist() == right
    labels = [token.dep_ == gold.dep_ or gold.head.i == gold.i for token, gold in pairs]
    labelled = [head and label for head, label in zip(right, labels, strict=True)]
    assert report[NAME]["deps"].before.right.tolist() == labelled
    nlp.to_disk(tmp_path)
    loaded = spacy.load(tmp_path)
    assert loaded.get_pipe(NAME).calibration == nlp.get_pipe(NAME).calibration
    assert parse(loaded)._.probabilities == parse(nlp)._.probabilities
