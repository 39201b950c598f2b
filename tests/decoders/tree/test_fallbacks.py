"""Where time is short: a clock that counts how often it is read, and hardly any time at all."""

from __future__ import annotations

import numpy as np
import pytest

from spacy_decoders import budget as budgets
from spacy_decoders.budget import Budget
from spacy_decoders.decoders.tree import (
    BranchAndBound,
    Eisner,
    Factors,
    TreeProblem,
    fallbacks,
    score_tree,
)
from spacy_decoders.errors import InfeasibleError, UndecidedError
from tests import oracles
from tests.decoders.tree.samples import fault

SECONDS = (0.5, 1.5, 3.5, 6.5, 12.5, 1e6)


@pytest.fixture
def ticking(monkeypatch):
    """A second passes whenever the clock is read, and every problem lacks time."""
    ticks = iter(range(10**9))
    monkeypatch.setattr(budgets, "perf_counter", lambda: float(next(ticks)))
    monkeypatch.setattr(fallbacks, "STEP", 1e9)


def drawn(rng, n, *, projective, forbidden=0.0, single_root=True):
    arcs = rng.normal(size=(n + 1, n + 1))
    arcs[rng.random(arcs.shape) < forbidden] = -np.inf
    return TreeProblem(arcs, projective=projective, single_root=single_root)


@pytest.mark.parametrize("single_root", [True, False])
@pytest.mark.parametrize("forbidden", [0.0, 0.5])
def test_a_projective_tree_in_time_is_legal_and_its_bound_true(forbidden, single_root, ticking):
    rng = np.random.default_rng(7)
    ends = set()
    for _ in range(40):
        problem = drawn(rng, 7, projective=True, forbidden=forbidden, single_root=single_root)
        for seconds in SECONDS:
            try:
                best = Eisner().decode(problem).certificate.score
            except InfeasibleError:
                with pytest.raises(InfeasibleError):
                    Eisner().decode(problem, budget=Budget(seconds=seconds))
                continue
            found = Eisner().decode(problem, budget=Budget(seconds=seconds))
            certificate = found.certificate
            assert score_tree(problem, found.heads) == pytest.approx(certificate.score)
            assert certificate.bound >= best - 1e-9
            assert certificate.status in ("optimal", "bounded")
            if certificate.is_optimal:
                assert certificate.score == pytest.approx(best)
            ends.add(certificate.status)
    assert "bounded" in ends


def test_blocks_of_tokens_are_a_tree_when_the_time_ends(ticking, rng):
    problem = drawn(rng, 150, projective=True)
    best = Eisner().decode(problem).certificate.score
    found = Eisner().decode(problem, budget=Budget(seconds=1.5))
    assert found.certificate.status == "bounded"
    assert found.certificate.score <= best <= found.certificate.bound


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
        assert fault(problem, solution) is None
        trees = oracles.all_trees(n, projective=True, single_root=single_root)
        best = max(score_tree(problem, tree) for tree in trees)
        certificate = solution.certificate
        assert certificate.bound is not None and certificate.bound >= best - 1e-9
        assert not certificate.is_optimal or certificate.score == pytest.approx(best)


def test_no_tree_and_no_time_is_no_fault(rng):
    for _ in range(60):
        n = int(rng.integers(2, 6))
        arcs, (chains, pairs) = rng.normal(size=(n + 1,) * 2), rng.normal(size=(2,) + (n + 1,) * 3)
        arcs[rng.random(arcs.shape) < 0.6] = pairs[rng.random(pairs.shape) < 0.4] = -np.inf
        problem = TreeProblem(arcs, chains, pairs, projective=bool(rng.integers(2)))
        try:
            found = BranchAndBound().decode(problem, budget=HARDLY_ANY)
        except (InfeasibleError, UndecidedError):
            continue
        assert fault(problem, found) is None
