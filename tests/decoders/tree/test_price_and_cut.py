"""Price and cut against branch and bound; against brute force on any scores: `promises`."""

import numpy as np
import pytest

from spacy_decoders.decoders.tree import (
    BranchAndBound,
    PriceAndCut,
    TreeProblem,
)


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
