"""Forward-backward against the sum over all labellings."""

from __future__ import annotations

import math

import numpy as np
import pytest

from spacy_decoders.decoders.chain import ChainModel, forward_backward, log_partition, marginals
from spacy_decoders.errors import InfeasibleError
from tests.oracles import all_chains


def expected(transitions, start, end, emissions):
    """Log partition, marginals and counts by enumeration, or None without a legal labelling."""
    n, size = emissions.shape
    scored = [
        (score, y)
        for score, y in all_chains(transitions, start, end, emissions)
        if score > -np.inf
    ]
    if not scored:
        return None
    top = scored[0][0]
    total = math.fsum(math.exp(score - top) for score, _ in scored)
    nodes, pairs = np.zeros((n, size)), np.zeros((size, size))
    for score, labels in scored:
        share = math.exp(score - top) / total
        for i, y in enumerate(labels):
            nodes[i, y] += share
            if i:
                pairs[labels[i - 1], y] += share
    return top + math.log(total), nodes, pairs


def random_chain(rng, *, scale, forbidden):
    n, size = int(rng.integers(1, 5)), int(rng.integers(1, 4))

    def scores(*shape):
        values = rng.normal(size=shape) * scale
        values[rng.random(shape) < forbidden] = -np.inf
        return values.astype(np.float32)

    ends = [scores(size) if rng.random() < 0.6 else None for _ in range(2)]
    return scores(size, size), *ends, scores(n, size)


@pytest.mark.parametrize("scale", [1.0, 30.0, 1000.0])
@pytest.mark.parametrize("forbidden", [0.0, 0.2])
def test_equals_the_sum_over_all_labellings(rng, scale, forbidden):
    legal = 0
    for _ in range(120):
        transitions, start, end, emissions = random_chain(rng, scale=scale, forbidden=forbidden)
        model = ChainModel(transitions, start, end)
        wanted = expected(transitions, start, end, emissions)
        if wanted is None:
            assert log_partition(model, emissions) == -np.inf
            with pytest.raises(InfeasibleError):
                marginals(model, emissions)
            continue
        legal += 1
        partition, nodes, pairs = wanted
        found = forward_backward(model, emissions, [len(emissions)])
        assert log_partition(model, emissions) == pytest.approx(partition, abs=1e-9 * scale)
        assert found.log_partitions == pytest.approx([partition], abs=1e-9 * scale)
        np.testing.assert_allclose(found.marginals, nodes, atol=1e-6)
        np.testing.assert_allclose(found.transitions, pairs, atol=1e-9)
        np.testing.assert_allclose(found.start, nodes[0], atol=1e-9)
        np.testing.assert_allclose(found.end, nodes[-1], atol=1e-9)
        np.testing.assert_array_equal(marginals(model, emissions), found.marginals)
    assert legal > 60


def test_a_label_that_underflows_is_kept_when_later_scores_need_it():
    # label 1 is worth exp(-2000) beside label 0 until the last token allows nothing else
    transitions = [[0.0, -np.inf], [-np.inf, 0.0]]
    emissions = [[0.0, -2000.0], [0.0, -2000.0], [-np.inf, 0.0]]
    found = forward_backward(ChainModel(transitions), emissions, [3])
    assert found.log_partitions.tolist() == [-4000.0]
    assert found.marginals.tolist() == [[0, 1], [0, 1], [0, 1]]
    assert found.transitions.tolist() == [[0, 0], [0, 2]]


def assert_counts_match_marginals(found, lengths):
    offsets = np.cumsum([0, *lengths])
    follows, precedes = np.delete(found.marginals, offsets[:-1], axis=0), found.marginals
    precedes = np.delete(precedes, offsets[1:] - 1, axis=0)
    np.testing.assert_allclose(found.transitions.sum(axis=0), follows.sum(axis=0), atol=1e-5)
    np.testing.assert_allclose(found.transitions.sum(axis=1), precedes.sum(axis=0), atol=1e-5)


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
    assert_counts_match_marginals(masked, lengths)
