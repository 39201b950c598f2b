"""Trees and sentence boundaries together; against all sequences of trees: `promises`."""

import numpy as np
import pytest

from spacy_decoders import verify
from spacy_decoders.decoders import tree
from spacy_decoders.errors import ProblemError


def test_by_hand():
    """Two words of two sentences: the boundary decides whether an arc joins them."""
    arcs = [[0, 2, 1], [0, 0, 3], [0, 0, 0]]
    for odds, heads, starts in [(3.0, [0, 0], [True, True]), (1.0, [0, 1], [True, False])]:
        found = tree.Eisner().decode(tree.TreeProblem(arcs, boundaries=[9.0, odds]))
        assert found.heads.tolist() == heads and found.starts.tolist() == starts
        assert found.certificate.score == max(2 + 1 + odds, 2 + 3)


def test_long_documents_are_confirmed_by_a_program():
    rng = np.random.default_rng(2)
    arcs, boundaries = rng.normal(size=(11, 11)), rng.normal(size=10) + 4
    for decoder, projective in ((tree.BranchAndBound(), True), (tree.ChuLiuEdmonds(), False)):
        problem = tree.TreeProblem(arcs, boundaries=boundaries, projective=projective)
        solution = decoder.decode(problem)
        assert verify(problem, solution).outcome == "confirmed"
        assert solution.starts.sum() > 1


def test_a_boundary_that_no_sentence_can_have_costs_no_precision():
    rng = np.random.default_rng(0)
    arcs, grandparents = rng.normal(size=(5, 5)), rng.normal(size=(5, 5, 5))
    arcs[0, 1] = -np.inf  # so the first token is no sentence of its own
    found = [
        tree.BranchAndBound().decode(
            tree.TreeProblem(arcs, grandparents=grandparents, boundaries=[0, score, -9, -9])
        )
        for score in (1e10, -np.inf)
    ]
    assert [solution.certificate.status for solution in found] == ["optimal"] * 2
    assert (found[0].heads == found[1].heads).all()


def test_factors_that_couple_sentences_are_refused_without_a_chart():
    factors = tree.Factors([(1, 2), (3, 4)], [0, 2], [1.0])
    problem = tree.TreeProblem(
        np.zeros((5, 5)), factors=factors, boundaries=np.zeros(4), projective=False
    )
    with pytest.raises(ProblemError, match="different sentences"):
        tree.BranchAndBound().decode(problem)
