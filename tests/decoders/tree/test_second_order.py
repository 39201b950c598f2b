import numpy as np
import pytest

from spacy_decoders import Budget
from spacy_decoders.budget import UNLIMITED
from spacy_decoders.decoders.tree import (
    BranchAndBound,
    Eisner,
    SecondOrder,
    TreeProblem,
    head_margins,
    max_marginals,
)
from spacy_decoders.decoders.tree.second_order import second_order_marginals


@pytest.mark.parametrize("n", [9, 30, 45])
def test_without_second_order_scores_equals_eisner(rng, n):
    # sizes on both sides of a vector step, and long enough for two ranges of lanes
    arcs = rng.normal(size=(n + 1, n + 1))
    for single_root in (True, False):
        problem = TreeProblem(arcs, single_root=single_root)
        expected = Eisner().decode(problem).certificate.score
        assert SecondOrder().decode(problem).certificate.score == pytest.approx(expected)
        np.testing.assert_allclose(second_order_marginals(problem), max_marginals(problem))


@pytest.mark.parametrize("ties", [True, False])
@pytest.mark.parametrize("decoder", [Eisner(), SecondOrder()])
def test_the_best_trees_take_few_decodings(rng, monkeypatch, decoder, ties):
    n, k, decoded = 25, 6, []
    arcs = np.zeros((n + 1, n + 1)) if ties else rng.normal(size=(n + 1, n + 1))
    chains = None if decoder == Eisner() else rng.normal(size=(n + 1, n + 1, n + 1)) * (not ties)
    problem = TreeProblem(arcs, chains)

    real = type(decoder).decode

    def decode(self, part, *, budget=UNLIMITED):
        decoded.append(part)
        return real(self, part, budget=budget)

    restricted, made = TreeProblem.restricted, []

    def restrict(self, allowed, **given):
        made.append(allowed)
        return restricted(self, allowed, **given)

    monkeypatch.setattr(type(decoder), "decode", decode)
    monkeypatch.setattr(TreeProblem, "restricted", restrict)
    found = decoder.k_best(problem, k)
    assert len({tuple(tree.heads) for tree in found}) == k
    assert len(decoded) < 3 * k
    assert len(made) == len(decoded) - 1  # a part of the trees is made when its turn comes
    for tree in found:
        assert tree.rank_bound <= tree.certificate.score + tree.certificate.tolerance
    in_no_time = decoder.k_best(problem, k, budget=Budget(seconds=1e-6))
    assert len(in_no_time) == 1 and in_no_time[0].rank_bound >= found[0].certificate.score


def test_the_seconds_of_margins_are_for_all_tokens(rng, ticks):
    n = 50
    problem = TreeProblem(rng.normal(size=(n + 1, n + 1)), siblings=rng.normal(size=(n + 1,) * 3))
    heads = BranchAndBound().decode(problem, budget=Budget(iterations=5)).heads
    margins = head_margins(problem, heads, budget=Budget(seconds=50.0))
    assert next(ticks) < 150  # were they for each token, they would end 50 times
    assert np.isnan(margins).all()
