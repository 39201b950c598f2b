"""branch_and_bound_parser: its probabilities are sums over all trees, and calibrated."""

from __future__ import annotations

import json

import numpy as np
import pytest
import spacy
from spacy.tokens import Doc

from spacy_decoders.components.probabilities import calibrate_pipeline
from tests.components.parser.parsing import (
    NAME,
    make_examples,
    make_nlp,
    parse,
)
from tests.oracles import all_trees


@pytest.fixture(scope="module")
def nlp():
    """A parser that is sure of little, of arcs alone."""
    return make_nlp(6, factors=["arcs"], probabilities=True)


def enumerated(nlp, doc, *, projective=True):
    """The probability of each head, and of each tree, of a sentence."""
    [scores] = nlp.get_pipe(NAME).predict([doc])
    [sentence] = scores.blocks
    arcs = sentence.arcs.astype(float) - sentence.label_scores
    n = len(sentence.tokens)
    listed = list(all_trees(n, projective=projective, single_root=True))
    worth = np.array([sum(arcs[h, m] for m, h in enumerate(t, start=1)) for t in listed])
    weights = np.exp(worth - worth.max())
    weights /= weights.sum()
    heads = np.zeros((n + 1, n + 1))
    for tree, weight in zip(listed, weights, strict=True):
        heads[list(tree), np.arange(1, n + 1)] += weight
    return heads, dict(zip(listed, weights, strict=True)), np.exp(sentence.label_scores)


@pytest.mark.parametrize("projective", [True, False])
def test_heads_and_labels_against_enumeration(nlp, projective):
    pipe = nlp.get_pipe(NAME)
    decoder = pipe.decoder
    from spacy_decoders.decoders.tree import ChuLiuEdmonds

    if not projective:
        pipe.configure(projective=False, decoder=ChuLiuEdmonds())
    try:
        words = ["the", "dog", "sees", "a", "cat"]
        starts = [True] + [False] * 4
        heads, every, labels = enumerated(
            nlp, Doc(nlp.vocab, words=words, sent_starts=starts), projective=projective
        )
        doc = nlp(Doc(nlp.vocab, words=words, sent_starts=starts))
    finally:
        pipe.configure(projective=True, decoder=decoder)
    tree = tuple(0 if token.head.i == token.i else token.head.i + 1 for token in doc)
    of_labels = [labels[head, token] for token, head in enumerate(tree, start=1)]
    for token, head in zip(doc, tree, strict=True):
        expected = heads[head, token.i + 1]
        assert token._.head_prob == pytest.approx(expected, abs=1e-5)
        assert token._.dep_prob == pytest.approx(expected * of_labels[token.i], abs=1e-5)
    [whole] = doc._.probabilities[NAME]["units"]
    assert whole == pytest.approx(every[tree] * np.prod(of_labels), abs=1e-5)
    assert [token._.sent_start_prob for token in doc] == [1.0, 0.0, 0.0, 0.0, 0.0]


def first_of(heads, root):
    """The first token of a root's subtree."""

    def top(token):
        while heads[token - 1]:
            token = heads[token - 1]
        return token

    return min(token for token in range(1, len(heads) + 1) if top(token) == root)


def test_boundaries_are_summed_over_with_the_trees(nlp):
    """Of a text whose boundaries are open, everything is a share of all forests."""
    pipe = nlp.get_pipe(NAME)
    words = ["she", "eats", "he", "sleeps"]
    pipe.certain = 50.0
    try:
        [scores] = pipe.predict([Doc(nlp.vocab, words=words)])
        doc = nlp(Doc(nlp.vocab, words=words))
    finally:
        pipe.certain = type(pipe).option_defaults()["certain"]
    [block] = scores.blocks
    assert block.boundaries is not None
    arcs = block.arcs.astype(float) - block.label_scores
    heads, starts, weights = np.zeros((5, 5)), np.zeros(4), []
    forests = list(all_trees(4, projective=True, single_root=False))
    for tree in forests:
        begins = [first_of(tree, root) for root in range(1, 5) if not tree[root - 1]]
        worth = sum(arcs[head, token] for token, head in enumerate(tree, start=1))
        weights.append(np.exp(worth + sum(block.boundaries[b - 1] for b in begins if b > 1)))
    for tree, weight in zip(forests, np.array(weights) / sum(weights), strict=True):
        begins = [first_of(tree, root) for root in range(1, 5) if not tree[root - 1]]
        starts[[b - 1 for b in begins]] += weight
        heads[list(tree), np.arange(1, 5)] += weight
    assert [token._.sent_start_prob for token in doc] == pytest.approx(starts, abs=1e-5)
    for token in doc:
        head = 0 if token.head.i == token.i else token.head.i + 1
        assert token._.head_prob == pytest.approx(heads[head, token.i + 1], abs=1e-5)


def test_white_space_has_no_head_to_be_sure_of(nlp):
    doc = nlp("she eats  \n the red fish .")
    spaces = [token for token in doc if token.is_space]
    assert spaces
    assert all(token._.head_prob is None and token._.dep_prob is None for token in spaces)
    assert all(0.0 <= token._.head_prob <= 1.0 for token in doc if not token.is_space)
    json.dumps(doc._.probabilities, allow_nan=False)
    assert nlp(Doc(nlp.vocab))._.probabilities[NAME]["units"] == []
    assert nlp(" ")._.probabilities[NAME]["units"] == []


def test_improbable_arcs_have_no_label_and_certificates_stay(nlp):
    before = parse(nlp)
    chances = [token._.dep_prob for token in before]
    pipe = nlp.get_pipe(NAME)
    pipe.min_prob = sorted(chances)[2]
    try:
        after = parse(nlp)
    finally:
        pipe.min_prob = None
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


def test_calibration_is_fitted_and_saved(tmp_path):
    nlp = make_nlp(6, factors=["arcs"], probabilities=True)
    examples = [example for _ in range(6) for example in make_examples(nlp)]
    report = calibrate_pipeline(nlp, examples)
    assert set(report[NAME]) == {"heads", "deps", "sent_starts", "units"}
    words = sum(len(example.predicted) for example in examples)
    heads = report[NAME]["heads"].before
    assert len(heads.right) == words
    predicted = [nlp(Doc(nlp.vocab, words=[t.text for t in e.reference])) for e in examples]
    right = [
        token.head.i == gold.head.i
        for doc, example in zip(predicted, examples, strict=True)
        for token, gold in zip(doc, example.reference, strict=True)
    ]
    assert heads.right.tolist() == right
    labelled = [
        token.head.i == gold.head.i and (token.dep_ == gold.dep_ or gold.head.i == gold.i)
        for doc, example in zip(predicted, examples, strict=True)
        for token, gold in zip(doc, example.reference, strict=True)
    ]
    assert report[NAME]["deps"].before.right.tolist() == labelled
    nlp.to_disk(tmp_path)
    loaded = spacy.load(tmp_path)
    assert loaded.get_pipe(NAME).calibration == nlp.get_pipe(NAME).calibration
    assert parse(loaded)._.probabilities == parse(nlp)._.probabilities
