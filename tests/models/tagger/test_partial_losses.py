"""Losses of what is known only in part: sets of labels, and spans that are no entities."""

from __future__ import annotations

import numpy as np
import pytest

from spacy_decoders.decoders.chain import ChainModel
from spacy_decoders.models.tagger.losses import LOSSES, UNKNOWN, ChainBatch
from spacy_decoders.models.tagger.negative_spans import NegativeSpans
from tests.oracles import all_chains

#: O, and B and I of two kinds.
KINDS = np.array([-1, 0, 0, 1, 1])
GOES_ON = np.array([False, False, True, False, True])


def drawn(seed, lengths=(4, 3, 2)):
    """A batch over BIO labels with sets of labels and negative spans."""
    rng = np.random.default_rng(seed)
    transitions = rng.normal(size=(5, 5)).astype("f")
    illegal = GOES_ON & (KINDS[:, None] != KINDS)
    transitions[illegal] = -np.inf
    start = np.where(GOES_ON, -np.inf, rng.normal(size=5)).astype("f")
    model = ChainModel(transitions, start, rng.normal(size=5).astype("f"))
    total = sum(lengths)
    gold = np.full(total, UNKNOWN, dtype=np.int32)
    known = rng.random(total) < 0.3
    gold[known] = rng.choice([0, 1, 3], size=int(known.sum()))
    allowed = rng.random((total, 5)) < 0.7
    spans, begin = [], 0
    for n in lengths:
        for _ in range(rng.integers(0, 4)):
            i, j = sorted(rng.permutation(n + 1)[:2].tolist())
            denied = KINDS >= 0 if rng.random() < 0.5 else rng.integers(2) == KINDS
            spans.append((begin + i, begin + j, denied))
        begin += n
    emissions = rng.normal(size=(total, 5)).astype("f")
    negative = NegativeSpans(spans, KINDS, GOES_ON) if spans else None
    return ChainBatch(model, emissions, np.array(lengths), gold, allowed, negative)


def agrees(batch, begin, labels):
    """Whether a labelling of a sentence agrees with what is known, told span by span."""
    for i, y in enumerate(labels, start=begin):
        gold = batch.gold[i]
        if not (y == gold if gold != UNKNOWN else batch.allowed[i, y]):
            return False
    for start, stop, denied in batch.negative.spans if batch.negative else ():
        if begin <= start < begin + len(labels):
            i, j = start - begin, stop - begin
            exact = KINDS[labels[i]] >= 0 and not GOES_ON[labels[i]]
            exact = exact and all(GOES_ON[y] for y in labels[i + 1 : j])
            exact = exact and (j == len(labels) or not GOES_ON[labels[j]])
            if exact and denied[labels[i]]:
                return False
    return True


def sentences(batch):
    for begin, stop in zip(batch.offsets[:-1].tolist(), batch.offsets[1:].tolist(), strict=True):
        every = all_chains(
            batch.model.transitions,
            batch.model.start_scores,
            batch.model.end_scores,
            batch.emissions[begin:stop],
        )
        legal = [(score, labels) for score, labels in every if score > -np.inf]
        yield legal, [(s, labels) for s, labels in legal if agrees(batch, begin, labels)]


@pytest.mark.parametrize("seed", range(12))
def test_the_likelihood_sums_over_what_agrees(seed):
    batch = drawn(seed)
    wanted = 0.0
    for legal, right in sentences(batch):
        if right:
            wanted += np.logaddexp.reduce([score for score, _ in legal])
            wanted -= np.logaddexp.reduce([score for score, _ in right])
    loss, gradient = LOSSES["crf"](batch)
    assert loss == pytest.approx(wanted, abs=1e-4)
    for i, y in np.random.default_rng(seed).integers([len(batch.gold), 5], size=(6, 2)):
        ends = []
        for step in (-1e-2, 1e-2):
            emissions = batch.emissions.copy()
            emissions[i, y] += step
            moved = ChainBatch(
                batch.model, emissions, batch.lengths, batch.gold, batch.allowed, batch.negative
            )
            ends.append(LOSSES["crf"](moved)[0])
        assert gradient.emissions[i, y] == pytest.approx((ends[1] - ends[0]) / 2e-2, abs=2e-3)


@pytest.mark.parametrize("loss", ["perceptron", "margin"])
@pytest.mark.parametrize("seed", range(8))
def test_the_best_completion_stands_for_gold(loss, seed):
    batch = drawn(seed)
    wanted = 0.0
    for legal, right in sentences(batch):
        if right:
            wanted += max(score for score, _ in legal) - max(score for score, _ in right)
    found, _ = LOSSES[loss](batch)
    hinges = 0.0 if loss == "perceptron" else found - wanted
    assert found == pytest.approx(wanted + hinges, abs=1e-4)
    assert hinges == pytest.approx(round(hinges), abs=1e-4)


def test_nothing_known_teaches_nothing():
    batch = drawn(0)
    nothing = ChainBatch(
        batch.model, batch.emissions, batch.lengths, np.full_like(batch.gold, UNKNOWN)
    )
    for loss in LOSSES.values():
        value, gradient = loss(nothing)
        assert value == 0.0
        assert not gradient.emissions.any()
