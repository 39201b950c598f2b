"""Price and cut against branch and bound; against brute force on any scores: `promises`."""

import numpy as np
import pytest

from spacy_decoders.budget import Budget
from spacy_decoders.decoders.tree import (
    BranchAndBound,
    PriceAndCut,
    TreeProblem,
)
from spacy_decoders.errors import InfeasibleError
from tests.decoders.tree.truth import Truth


def larger_problem(rng, n, **options):
    """Scores like those of real sentences, with grandparents that contradict arcs."""
    size = n + 1
    distance = np.abs(np.subtract.outer(np.arange(size), np.arange(size)))
    arcs = rng.normal(size=(size, size)) * 3 - 2 * np.log1p(distance)
    return TreeProblem(
        arcs,
        rng.normal(size=(size,) * 3) * options.pop("scale", 1.0),
        projective=False,
        **options,
    )


@pytest.mark.parametrize("relax", [True, False])
def test_bounds_hold_when_the_search_ends_early(relax):
    fractional = 0
    for seed in range(15):
        rng = np.random.default_rng(1000 + seed)
        n = int(rng.integers(4, 6))
        problem = TreeProblem(
            rng.integers(-3, 4, (n + 1, n + 1)),
            rng.integers(-6, 7, (n + 1,) * 3),
            projective=False,
            single_root=bool(seed % 2),
        )
        best = Truth(problem).best
        budget = Budget() if relax else Budget(iterations=3)
        certificate = PriceAndCut(relax=relax).decode(problem, budget=budget).certificate
        assert certificate.score <= best <= certificate.bound
        if certificate.is_optimal:
            assert certificate.score == best
        else:
            fractional += 1
    assert fractional > 0


@pytest.mark.parametrize("solver", ["CBC", "HIGHS"])
def test_equals_branch_and_bound(solver):
    for seed in range(8):
        rng = np.random.default_rng(seed)
        problem = larger_problem(rng, int(rng.integers(8, 13)), single_root=bool(seed % 2))
        ours = PriceAndCut(solver).decode(problem).certificate
        theirs = BranchAndBound().decode(problem).certificate
        assert ours.is_optimal
        assert theirs.is_optimal
        assert ours.score == pytest.approx(theirs.score, abs=1e-6)


def test_a_relaxation_goes_on_to_its_first_tree():
    rng = np.random.default_rng(0)
    for _ in range(60):
        arcs = rng.integers(-1, 3, (4, 4)).astype(float)
        chains = np.where(rng.random((4, 4, 4)) < 0.3, -np.inf, 0.0)
        problem = TreeProblem(arcs, chains)
        decoder = PriceAndCut(relax=True, pruning=False)
        try:
            best = BranchAndBound().decode(problem).certificate.score
        except InfeasibleError:
            with pytest.raises(InfeasibleError):
                decoder.decode(problem)
            continue
        certificate = decoder.decode(problem).certificate
        assert certificate.score <= best + 1e-9 <= certificate.bound + 2e-9
