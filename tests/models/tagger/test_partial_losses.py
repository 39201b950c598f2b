"""Losses of what is known only in part, judged by all labellings."""

from __future__ import annotations

import numpy as np
import pytest

from spacy_decoders.decoders.chain import ChainModel
from spacy_decoders.models.tagger.losses import LOSSES, UNKNOWN, ChainBatch
from tests.oracles import all_chains

#: O, and B and I of two kinds.
KINDS = np.array([-1, 0, 0, 1, 1])
GOES_ON = np.array([False, False, True, False, True])


def drawn(seed, lengths=(4, 3, 2)):
    """A batch over BIO labels, of which some are known."""
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
    emissions = rng.normal(size=(total, 5)).astype("f")
    return ChainBatch(model, emissions, np.array(lengths), gold)


def agrees(batch, begin, labels):
    """Whether a labelling of a sentence agrees with what is known."""
    gold = batch.gold[begin : begin + len(labels)]
    return all(known in (UNKNOWN, y) for known, y in zip(gold, labels, strict=True))


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
            moved = ChainBatch(batch.model, emissions, batch.lengths, batch.gold)
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
