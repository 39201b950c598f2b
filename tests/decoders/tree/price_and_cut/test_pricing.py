"""Prices: any bound every tree, and chains enter that may pay."""

import numpy as np
import pytest

from spacy_decoders.decoders.tree import TreeProblem
from spacy_decoders.decoders.tree.price_and_cut.pricing import (
    GrandparentModel,
    lagrangian_bound,
    priced,
)
from tests import oracles
from tests.decoders.tree import samples
from tests.decoders.tree.price_and_cut.problems import dense_table, larger_problem


@pytest.mark.parametrize("projective", [True, False])
def test_any_prices_bound_every_tree_and_every_arc(projective):
    for seed in range(30):
        rng = np.random.default_rng(seed)
        n = int(rng.integers(1, 5))
        single = bool(rng.integers(2))
        problem = TreeProblem(
            rng.integers(-3, 4, (n + 1, n + 1)),
            rng.integers(-6, 7, (n + 1,) * 3),
            projective=projective,
            single_root=single,
        )
        model = GrandparentModel(problem.arcs, dense_table(problem), projective, single)
        bound = lagrangian_bound(model, problem.allowed, rng.normal(size=(n + 1, n + 1)) * 5)
        for heads in samples.trees(n, projective, single):
            score = oracles.tree_score(heads, problem.arcs, problem.grandparents)
            assert score <= bound.value
            assert all(score <= bound.through[h, m] for m, h in enumerate(heads, start=1))


def test_chains_are_priced_by_the_arc_above_them():
    for seed in range(20):
        rng = np.random.default_rng(seed)
        n = int(rng.integers(2, 9))
        problem = larger_problem(rng, n)
        table = dense_table(problem)
        table.known[:] |= rng.random(table.known.shape) < 0.5
        size = n + 1
        prices, costs = rng.normal(size=(2, size, size))
        allowed = problem.allowed & (rng.random((size, size)) < 0.8)
        column = rng.integers(-1, 2, (size,) * 3)
        for unknown_only in (False, True):
            found = priced(table, prices, costs, allowed, column, 1e-9, unknown_only=unknown_only)
            expected = []
            for g, p in np.argwhere(allowed & (np.arange(size) > 0)):
                free = [c for c in range(size) if allowed[p, c] and column[g, p, c] < 0]
                above = {c: table.upper[g, p, c] - prices[p, c] for c in free if c != g}
                gain = sum(max(value, 0.0) for value in above.values())
                if gain > max(-costs[g, p], 0.0) + 1e-9:
                    expected += [
                        (g, p, c)
                        for c, value in above.items()
                        if value > 1e-9 and not (unknown_only and table.known[g, p, c])
                    ]
            assert list(map(tuple, found.T.tolist())) == expected
