"""Forward-backward where it is hard; against the sum over all labellings: `promises`."""

import numpy as np
import pytest

from spacy_decoders.decoders.chain import ChainModel, forward_backward


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
