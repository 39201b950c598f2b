"""The distribution over trees against sums over all trees."""

from fractions import Fraction
from itertools import product

import numpy as np
import pytest

from spacy_decoders import InfeasibleError
from spacy_decoders.decoders.tree import tree_posteriors
from tests.oracles import all_forests, all_trees


def score(arcs, heads):
    return sum(float(arcs[head, token]) for token, head in enumerate(heads, start=1))


def drawn(rng, n, spread, forbidden=0.15):
    arcs = rng.normal(size=(n + 1, n + 1)) * spread
    arcs[rng.random(arcs.shape) < forbidden] = -np.inf
    return arcs


def distribution(scores):
    """The probability of each tree, and the logarithm of the sum over all."""
    weights = np.exp(scores - scores.max())
    total = weights.sum()
    return weights / total, pytest.approx(scores.max() + np.log(total), rel=1e-12, abs=1e-11)


@pytest.mark.parametrize("projective", [False, True])
@pytest.mark.parametrize("single_root", [False, True])
@pytest.mark.parametrize("spread", [1.0, 60.0])
def test_arcs_and_trees_against_enumeration(projective, single_root, spread):
    rng = np.random.default_rng(1)
    rules = {"projective": projective, "single_root": single_root}
    for n, _ in product((1, 2, 3, 4), range(8)):
        arcs = drawn(rng, n, spread)
        trees = list(all_trees(n, **rules))
        scores = np.array([score(arcs, heads) for heads in trees])
        if np.isneginf(scores).all():
            with pytest.raises(InfeasibleError):
                tree_posteriors(arcs, **rules)
            continue
        weights, log_partition = distribution(scores)
        found = tree_posteriors(arcs, **rules)
        assert found.log_partition == log_partition
        expected = np.zeros((n + 1, n + 1))
        for heads, weight in zip(trees, weights, strict=True):
            expected[list(heads), np.arange(1, n + 1)] += weight
        assert found.arcs == pytest.approx(expected, abs=1e-12)
        heads = trees[int(rng.integers(len(trees)))]
        assert found.of_tree(heads) == pytest.approx(weights[trees.index(heads)], abs=1e-9)
        assert found.of_heads(heads) == pytest.approx(
            expected[list(heads), np.arange(1, n + 1)], abs=1e-12
        )
        assert found.starts.tolist() == [1.0] + [0.0] * (n - 1)


@pytest.mark.parametrize("spread", [1.0, 300.0])
def test_sentence_starts_against_enumeration(spread):
    rng = np.random.default_rng(2)
    for n, _ in product((1, 2, 3, 4), range(8)):
        arcs, boundaries = drawn(rng, n, spread, 0.1), rng.normal(size=n) * spread
        boundaries[rng.random(n) < 0.2] = -np.inf
        forests = list(all_forests(n, projective=True))
        scores = np.array(
            [
                score(arcs, of) + sum(boundaries[b - 1] for b in begins[1:])
                for of, begins in forests
            ]
        )
        if np.isneginf(scores).all():
            continue
        weights, log_partition = distribution(scores)
        found = tree_posteriors(arcs, projective=True, boundaries=boundaries)
        assert found.log_partition == log_partition
        expected = np.zeros(n)
        for (_, begins), weight in zip(forests, weights, strict=True):
            expected[[b - 1 for b in begins]] += weight
        assert found.starts == pytest.approx(expected, abs=1e-12)


@pytest.mark.parametrize("size", [1e3, 1e9, 1e15, 1e90])
def test_boundaries_of_any_size_cost_no_precision(size):
    rng = np.random.default_rng(7)
    arcs, boundaries = rng.normal(size=(9, 9)), rng.normal(size=8)
    signs = np.array([0, 0, 1, 0, -1, -1, 1, 0])
    decided = np.where(signs == 0, boundaries, np.copysign(np.inf, signs))
    found = tree_posteriors(arcs, projective=True, boundaries=np.clip(decided, -size, size))
    known = tree_posteriors(arcs, projective=True, boundaries=np.clip(decided, -500.0, 500.0))
    np.testing.assert_allclose(found.arcs, known.arcs, rtol=0.0, atol=1e-12)
    np.testing.assert_allclose(found.starts, known.starts, rtol=0.0, atol=1e-12)
    assert found.starts[[2, 6]].min() > 1.0 - 1e-12 and found.starts[[4, 5]].max() < 1e-12
    assert found.log_partition == pytest.approx(known.log_partition + 2 * (size - 500.0))


@pytest.mark.parametrize("mask", [-1e6, -1e9, -1e15])
def test_a_mask_costs_the_sum_no_digits(mask):
    scores = np.array([[0.0, 1 / 3, 0.1], [0.0, 0.0, 0.7123], [0.0, mask, 0.0]])
    found = tree_posteriors(scores, projective=False, single_root=True)
    assert found.log_partition == pytest.approx(1 / 3 + 0.7123, rel=1e-12)
    assert found.of_tree([0, 1]) == pytest.approx(1.0, rel=1e-12)


@pytest.mark.parametrize("projective", [False, True])
@pytest.mark.parametrize("single_root", [False, True])
def test_scores_of_other_scales_leave_the_rest_their_digits(projective, single_root):
    rng = np.random.default_rng(5)
    arcs = rng.normal(size=(5, 5))
    if projective:
        arcs[3, 4], arcs[4, 1] = 1e15, 5e11  # no tree has both
    else:
        arcs[:, 3] = -1e15
        arcs[0, 3] = -1e10
    trees = list(all_trees(4, projective=projective, single_root=single_root))
    exact = [sum(Fraction(arcs[h, m]) for m, h in enumerate(of, start=1)) for of in trees]
    weights, _ = distribution(np.array([float(of - max(exact)) for of in exact]))
    expected = np.zeros((5, 5))
    for heads, weight in zip(trees, weights, strict=True):
        expected[list(heads), np.arange(1, 5)] += weight
    found = tree_posteriors(arcs, projective=projective, single_root=single_root)
    assert found.arcs == pytest.approx(expected, abs=1e-9)
