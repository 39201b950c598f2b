"""Long sentences with crossing arcs are decoded by prices first, with the same result."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest

from spacy_decoders.budget import Budget
from spacy_decoders.decoders.tree import BranchAndBound, PriceAndCut, TreeProblem, score_tree
from spacy_decoders.models.parser.decoding import PRICED_FROM, decode_by_length


def make_problem(rng, n, noise=0.3):
    """Arcs that favour near heads, and small scores of grandparents, as a network's are."""
    near = -np.abs(np.arange(n + 1)[:, None] - np.arange(n + 1)[None, :])
    arcs = near + rng.normal(0, 3, (n + 1, n + 1))
    grandparents = rng.normal(0, noise, (n + 1, n + 1, n + 1))
    return TreeProblem(arcs, grandparents, projective=False)


def test_long_sentences_are_proven_by_either(rng):
    """Prices prove what is easy; branch and bound finds and proves the rest."""
    seen = set()
    for noise, n in ((0.1, 0), (0.45, 0), (0.45, 3), (0.45, 6), (0.45, 9)):
        problem = make_problem(rng, PRICED_FROM + n, noise)
        found = decode_by_length(BranchAndBound(), problem, Budget(iterations=2_000))
        seen.add(found.certificate.decoder)
        assert found.certificate.status == "optimal"
        other = BranchAndBound().decode(problem)
        assert found.certificate.score == pytest.approx(other.certificate.score, abs=1e-6)
        assert found.certificate.score == pytest.approx(score_tree(problem, found.heads))
    assert seen == {"PriceAndCut", "BranchAndBound"}


def test_where_neither_proves_its_tree_the_better_one_is_returned(rng):
    for _ in range(4):
        problem = make_problem(rng, PRICED_FROM, noise=1.2)
        found = decode_by_length(BranchAndBound(), problem, Budget(iterations=8)).certificate
        each = [
            PriceAndCut().decode(problem, budget=Budget(iterations=1)).certificate,
            BranchAndBound().decode(problem, budget=Budget(iterations=7)).certificate,
        ]
        assert not any(one.is_optimal for one in each), "the test is void if one is proven"
        assert found.status == "bounded"
        assert found.score == max(one.score for one in each)
        assert found.bound in [one.bound for one in each]


@pytest.mark.parametrize("change", ["short", "projective", "siblings", "boundaries", "options"])
def test_others_are_decoded_as_they_were(rng, change):
    n = PRICED_FROM - 1 if change == "short" else PRICED_FROM
    problem = make_problem(rng, n, noise=0.05)
    decoder = BranchAndBound()
    if change == "projective":
        problem = replace(problem, projective=True)
    elif change == "siblings":
        problem = replace(problem, siblings=rng.normal(0, 0.01, (n + 1,) * 3))
    elif change == "boundaries":
        problem = replace(problem, boundaries=np.full(n, -9.0))
    elif change == "options":
        decoder = BranchAndBound(iterations=13)
    found = decode_by_length(decoder, problem, Budget(iterations=20))
    assert found.certificate.decoder == "BranchAndBound"


def test_scores_beyond_a_solver_are_left_to_branch_and_bound(rng):
    problem = make_problem(rng, PRICED_FROM, noise=0.05)
    arcs = np.where(problem.allowed, problem.arcs * 1e9, -np.inf)
    found = decode_by_length(BranchAndBound(), replace(problem, arcs=arcs), Budget(iterations=9))
    assert found.certificate.decoder == "BranchAndBound"
