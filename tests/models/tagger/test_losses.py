"""The losses of chains against enumeration, and their gradients against differences."""

import numpy as np
import pytest

from spacy_decoders.decoders.chain import ChainModel
from spacy_decoders.models.tagger.losses import LOSSES, UNKNOWN, ChainBatch
from tests.gradients import assert_slopes
from tests.oracles import all_chains


def random_batch(rng, *, missing=0.0, forbidden=False, size=3, lengths=(3, 0, 1, 2)):
    transitions = rng.normal(size=(size, size)).astype(np.float32)
    if forbidden:
        transitions[0, 1] = -np.inf
    model = ChainModel(transitions, rng.normal(size=size), rng.normal(size=size))
    total = sum(lengths)
    gold = rng.integers(size, size=total).astype(np.int32)
    gold[rng.random(total) < missing] = UNKNOWN
    emissions = rng.normal(size=(total, size)).astype(np.float32)
    return ChainBatch(model, emissions, np.array(lengths, dtype=np.int64), gold)


def sentences(batch):
    for begin, stop in zip(batch.offsets[:-1], batch.offsets[1:], strict=True):
        yield batch.emissions[begin:stop], batch.gold[begin:stop].tolist()


def agrees(labels, gold):
    return all(g in (UNKNOWN, y) for y, g in zip(labels, gold, strict=True))


def expected(name, batch):
    """What a loss is by enumeration; a sentence that can't be trained on counts nothing."""
    model, loss = batch.model, 0.0
    for emissions, gold in sentences(batch):
        if all(label == UNKNOWN for label in gold):
            continue
        scored = all_chains(model.transitions, model.start, model.end, emissions)
        right = [score for score, labels in scored if agrees(labels, gold)]
        wrong = [score for score, labels in scored if not agrees(labels, gold)]
        if not np.isfinite(max(right)):
            continue
        if name == "crf":
            every = [score for score, _ in scored]
            loss += np.logaddexp.reduce(every) - np.logaddexp.reduce(right)
        elif name == "margin" and UNKNOWN not in gold:
            loss += max(0.0, 1.0 + max(wrong) - right[0])
        else:
            loss += scored[0][0] - max(right)
    return loss


@pytest.mark.parametrize("missing", [0.0, 0.4])
@pytest.mark.parametrize(
    ("name", "forbidden"),
    [("crf", False), ("crf", True), ("margin", False), ("perceptron", False)],
)
def test_losses_are_those_of_enumeration(rng, name, forbidden, missing):
    for _ in range(60):
        batch = random_batch(rng, missing=missing, forbidden=forbidden)
        loss, gradient = LOSSES[name](batch)
        assert loss == pytest.approx(expected(name, batch), abs=1e-4)
        # what labellings gain others lose
        assert gradient.emissions.sum() == pytest.approx(0.0, abs=1e-4)
        assert gradient.start.sum() == pytest.approx(0.0, abs=1e-4)


def check_gradient(batch, name, step=1e-2, tolerance=2e-3):
    """Compare every entry of the gradient with a central difference."""
    _, gradient = LOSSES[name](batch)
    model = batch.model
    parts = {
        "transitions": np.array(model.transitions),
        "start": np.array(model.start),
        "end": np.array(model.end),
        "emissions": np.array(batch.emissions),
    }

    def loss():
        weights = {key: parts[key] for key in ("transitions", "start", "end")}
        given = ChainModel(**weights), parts["emissions"], batch.lengths, batch.gold
        return LOSSES[name](ChainBatch(*given))[0]

    for part, values in parts.items():
        of_part, finite = getattr(gradient, part), np.isfinite(values)
        assert (of_part[~finite] == 0.0).all()
        assert_slopes(loss, values, of_part, step, map(tuple, np.argwhere(finite)), abs=tolerance)


@pytest.mark.parametrize("missing", [0.0, 0.4])
@pytest.mark.parametrize("forbidden", [False, True])
def test_gradient_of_likelihood_is_exact(rng, missing, forbidden):
    for _ in range(3):
        check_gradient(random_batch(rng, missing=missing, forbidden=forbidden), "crf")


def test_hinge_pushes_the_rival_down_and_gold_up():
    model = ChainModel(np.zeros((2, 2)))
    emissions = np.array([[0.5, 0.0], [3.0, 0.0]], dtype=np.float32)
    gold = np.array([0, 0], dtype=np.int32)
    loss, gradient = LOSSES["margin"](ChainBatch(model, emissions, np.array([2]), gold))
    # by hand: gold is worth 3.5, its best rival (1, 0) 3.0, so the margin of 1 lacks 0.5
    assert loss == pytest.approx(0.5)
    assert gradient.emissions.tolist() == [[-1.0, 1.0], [0.0, 0.0]]
    assert gradient.transitions.tolist() == [[-1.0, 0.0], [1.0, 0.0]]
    assert gradient.start.tolist() == [-1.0, 1.0]
    assert gradient.end.tolist() == [0.0, 0.0]
    emissions[0, 0] = 1.5
    loss, gradient = LOSSES["margin"](ChainBatch(model, emissions, np.array([2]), gold))
    assert loss == 0.0
    assert not gradient.emissions.any()
