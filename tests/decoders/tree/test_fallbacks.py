"""Where time is short: a clock that counts how often it is read."""

import numpy as np
import pytest

from spacy_decoders import budget as budgets
from spacy_decoders.budget import Budget
from spacy_decoders.decoders.tree import (
    Eisner,
    TreeProblem,
    eisner,
    score_tree,
)
from spacy_decoders.errors import InfeasibleError

SECONDS = (0.5, 1.5, 3.5, 6.5, 12.5, 1e6)


@pytest.fixture
def ticking(monkeypatch):
    """A second passes whenever the clock is read, and every problem lacks time."""
    ticks = iter(range(10**9))
    monkeypatch.setattr(budgets, "perf_counter", lambda: float(next(ticks)))
    monkeypatch.setattr(eisner, "STEP", 1e9)


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
