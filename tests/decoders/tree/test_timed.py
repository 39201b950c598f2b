"""Where the budget does not last for a single pass."""

from __future__ import annotations

import numpy as np
import pytest

from spacy_decoders.budget import Budget
from spacy_decoders.decoders.tree import (
    BranchAndBound,
    Factors,
    TreeProblem,
    score_tree,
    violations,
)
from spacy_decoders.decoders.tree.timed import BLOCK, block_tree
from tests import oracles

HARDLY_ANY = Budget(seconds=1e-9)


def test_the_tree_is_legal_and_the_bound_holds(rng):
    for _ in range(150):
        n = int(rng.integers(1, 6))
        size = (n + 1,) * 3
        single_root = bool(rng.integers(2))
        chains = rng.integers(-3, 4, size).astype(float) if rng.integers(2) else None
        pairs = rng.integers(-3, 4, size).astype(float) if rng.integers(2) else None
        sets = [[(0, 1), (1, 2)], [(0, 1)], [(2, 1)]] if n > 1 else [[(0, 1)]]
        factors = Factors.of([(arcs, float(rng.integers(-3, 4))) for arcs in sets])
        problem = TreeProblem(
            rng.integers(-3, 4, size[:2]).astype(float),
            chains,
            pairs,
            factors,
            single_root=single_root,
        )
        solution = BranchAndBound().decode(problem, budget=HARDLY_ANY)
        assert violations(problem, solution.heads) == ()
        trees = oracles.all_trees(n, projective=True, single_root=single_root)
        best = max(score_tree(problem, tree) for tree in trees)
        certificate = solution.certificate
        assert certificate.bound is not None and certificate.bound >= best - 1e-9
        assert not certificate.is_optimal or certificate.score == pytest.approx(best)


def test_a_long_sentence_has_a_tree_and_a_gap(rng):
    problem = TreeProblem(rng.normal(size=(3 * BLOCK, 3 * BLOCK)))
    solution = BranchAndBound().decode(problem, budget=HARDLY_ANY)
    assert violations(problem, solution.heads) == ()
    assert solution.certificate.status == "bounded"
    exact = BranchAndBound().decode(problem).certificate
    assert solution.certificate.score <= exact.score <= solution.certificate.bound


def test_gives_up_where_a_block_has_no_tree():
    arcs = np.full((3, 3), -np.inf)
    assert block_tree(TreeProblem(arcs)) is None
