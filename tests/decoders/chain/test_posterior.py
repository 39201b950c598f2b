"""Posteriors against sums over all labellings, and forward-backward where it is hard."""

from dataclasses import replace

import numpy as np
import pytest

from spacy_decoders.decoders.chain import ChainModel, RunKinds, forward_backward, posteriors
from spacy_decoders.decoders.chain.kernels import runs as kernels
from tests.oracles import all_chains

#: O, B-A, I-A, B-B, I-B
KINDS = np.array([-1, 0, 0, 1, 1])


def bio_continues():
    continues = np.zeros((5, 5), dtype=bool)
    continues[1:3, 2] = True
    continues[3:5, 4] = True
    return continues


def bio_model(rng, scale=1.0):
    """A chain in which I-TYPE only follows its own type."""
    transitions = rng.normal(size=(5, 5)) * scale
    continues = bio_continues()
    for label in (2, 4):
        transitions[~continues[:, label], label] = -np.inf
    start = rng.normal(size=5) * scale
    start[[2, 4]] = -np.inf
    return ChainModel(transitions, start, rng.normal(size=5) * scale)


def any_runs(rng):
    """Kinds and a random relation between the labels of each: any scheme is like this."""
    kinds = rng.integers(-1, 2, size=4)
    same = (kinds[:, None] == kinds) & (kinds >= 0)
    return RunKinds(kinds, same & (rng.uniform(size=(4, 4)) < 0.5))


def runs_of(labels, kinds):
    """The runs of one labelling, from the definition."""
    found, n = [], len(labels)
    for i in range(n):
        if kinds.kinds[labels[i]] < 0 or (i and kinds.continues[labels[i - 1], labels[i]]):
            continue
        j = i + 1
        while j < n and kinds.continues[labels[j - 1], labels[j]]:
            j += 1
        found.append((i, j, int(kinds.kinds[labels[i]])))
    return found


def brute_force(model, emissions, kinds):
    """Marginals, log partition and the probability of each run, by enumeration."""
    scored = all_chains(model.transitions, model.start, model.end, emissions)
    scores = np.array([score for score, _ in scored])
    top = scores.max()
    weights = np.exp(scores - top)
    partition = top + np.log(weights.sum())
    weights /= weights.sum()
    marginals = np.zeros(emissions.shape)
    runs = {}
    for weight, (_, labels) in zip(weights, scored, strict=True):
        marginals[np.arange(len(labels)), list(labels)] += weight
        if weight > 0:
            for run in runs_of(labels, kinds):
                runs[run] = runs.get(run, 0.0) + weight
    return marginals, partition, runs, {labels: w for w, (_, labels) in zip(weights, scored)}  # noqa: B905


@pytest.mark.parametrize("seed", range(60))
def test_against_enumeration(seed):
    rng = np.random.default_rng(seed)
    if seed % 2:
        model, kinds = bio_model(rng, 2.0), RunKinds(KINDS, bio_continues())
    else:
        model, kinds = ChainModel(rng.normal(size=(4, 4))), any_runs(rng)
    sizes = rng.integers(1, 5, size=3)
    parts = [(rng.normal(size=(n, model.size)) * 2).astype(np.float32) for n in sizes]
    if seed % 3 == 0:
        parts[0][0, 1] = -np.inf
    found = posteriors(model, np.concatenate(parts), sizes)
    begin = 0
    expected = {}
    for number, (n, part) in enumerate(zip(sizes, parts, strict=True)):
        marginals, partition, runs, labellings = brute_force(model, part, kinds)
        assert found.marginals[begin : begin + n] == pytest.approx(marginals, abs=1e-9)
        assert found.log_partitions[number] == pytest.approx(partition, abs=1e-6)
        expected |= {(i + begin, j + begin, kind): p for (i, j, kind), p in runs.items()}
        labels = list(labellings)[seed % len(labellings)]
        whole = np.zeros(sizes.sum(), dtype=int)
        whole[begin : begin + n] = labels
        assert found.of_labels(whole)[begin] == pytest.approx(marginals[0, labels[0]], abs=1e-9)
        assert found.of_labellings(whole)[number] == pytest.approx(labellings[labels], abs=1e-6)
        begin += n
    likely = found.likely_runs(kinds, 1e-4)
    columns = likely.starts, likely.stops, likely.kinds, likely.probabilities
    listed = zip(*(column.tolist() for column in columns), strict=True)
    given = {tuple(run): p for *run, p in listed}
    wanted = {run: p for run, p in expected.items() if p >= 1e-4}
    assert given == pytest.approx(wanted, abs=1e-9)
    if expected:
        starts, stops, numbers = np.array(list(expected)).T
        asked = found.of_runs(kinds, starts, stops, numbers)
        assert asked == pytest.approx(list(expected.values()), abs=1e-9)


@pytest.mark.parametrize("name", ["probabilities_of_runs", "likely_runs"])
def test_no_probability_is_above_one(monkeypatch, name):
    """Rounding, or a faulty kernel, never gives more than certainty."""
    genuine = getattr(kernels, name)

    def faulty(*given):
        result = genuine(*given)
        # by so much that whatever is likely at all is above one
        return result * 99 if name == "probabilities_of_runs" else (result[0], result[1] * 99)

    monkeypatch.setattr(kernels, name, faulty)
    found = posteriors(bio_model(np.random.default_rng(4)), np.zeros((3, 5)))
    kinds = RunKinds(KINDS, bio_continues())
    if name == "likely_runs":
        assert found.likely_runs(kinds, 0.05).probabilities.max() <= 1.0
    else:
        assert found.of_runs(kinds, [0], [1], [0])[0] <= 1.0
    rounded = replace(found, log_partitions=found.log_partitions - 99.0)
    assert rounded.of_labellings([0, 0, 0])[0] == 1.0


def test_a_label_that_underflows_is_kept_when_later_scores_need_it():
    # label 1 is worth exp(-2000) beside label 0 until the last token allows nothing else
    transitions = [[0.0, -np.inf], [-np.inf, 0.0]]
    emissions = [[0.0, -2000.0], [0.0, -2000.0], [-np.inf, 0.0]]
    found = forward_backward(ChainModel(transitions), emissions, [3])
    assert found.log_partitions.tolist() == [-4000.0]
    assert found.marginals.tolist() == [[0, 1], [0, 1], [0, 1]]
    assert found.transitions.tolist() == [[0, 0], [0, 2]]


@pytest.mark.parametrize("mask", [-1e4, -1e9, -1e30])
def test_masks_cost_no_precision(rng, mask):
    lengths = [6, 1, 4]
    scores = [rng.normal(size=shape).astype(np.float32) for shape in ((4, 4), 4, 4, (11, 4))]
    hidden = [rng.random(given.shape) < 0.25 for given in scores]
    hidden[0][0, 0] = hidden[1][0] = hidden[2][0] = False
    hidden[3][:, 0] = False  # always label 0 is a labelling without a mask
    found = []
    for value in (mask, -np.inf):
        links, start, end, rows = (
            np.where(where, np.float32(value), given)
            for where, given in zip(hidden, scores, strict=True)
        )
        found.append(forward_backward(ChainModel(links, start, end), rows, lengths))
    masked, forbidden = found
    np.testing.assert_allclose(masked.log_partitions, forbidden.log_partitions, rtol=1e-13)
    np.testing.assert_allclose(masked.marginals, forbidden.marginals, atol=1e-7)
    np.testing.assert_allclose(masked.transitions, forbidden.transitions, atol=1e-12)
