"""Trees and sentence boundaries together, against all sequences of trees."""

import numpy as np
import pytest

from spacy_decoders import verify
from spacy_decoders.decoders.tree import (
    BranchAndBound,
    ChuLiuEdmonds,
    Eisner,
    Factors,
    PriceAndCut,
    SecondOrder,
    TreeProblem,
    sentence_starts,
)
from spacy_decoders.errors import InfeasibleError, ProblemError
from tests import oracles
from tests.decoders.tree.samples import fault, scores
from tests.decoders.tree.truth import JointTruth, judge


def random_problem(rng, *, second=False, factors=False, projective=True):
    n = int(rng.integers(1, 5))
    cube = (n + 1,) * 3
    extra = None
    if factors and n > 1:
        extra = Factors([(1, 2), (2, 1)], [0, 1, 2], rng.normal(size=2) * 3)
    return TreeProblem(
        scores(rng, n + 1, n + 1),
        scores(rng, *cube) if second else None,
        scores(rng, *cube) if second else None,
        extra,
        boundaries=scores(rng, n),
        projective=projective,
    )


@pytest.mark.parametrize(
    ("decoder", "second", "factors", "projective"),
    [
        (Eisner(), False, False, True),
        (ChuLiuEdmonds(), False, False, False),
        (SecondOrder(), True, False, True),
        (BranchAndBound(), True, True, True),
        (BranchAndBound("first-order"), True, False, True),
        (BranchAndBound(), True, True, False),
        (PriceAndCut(), False, False, True),
    ],
)
def test_best_sentences(decoder, second, factors, projective):
    rng = np.random.default_rng(0)
    met = set()
    for _ in range(40):
        problem = random_problem(rng, second=second, factors=factors, projective=projective)
        paid = "adjacent" if isinstance(decoder, SecondOrder) else "everything"
        truth = JointTruth(problem, paid)
        try:
            solution = decoder.decode(problem)
        except InfeasibleError:
            assert not truth.parts
            met.add("infeasible")
            continue
        except ProblemError:
            assert isinstance(decoder, PriceAndCut)  # scores beyond those of a solver
            continue
        assert judge(truth, problem, solution) == "optimal"
        assert solution.starts.tolist() == sentence_starts(solution.heads).tolist()
        # pairs that are not adjacent may be forbidden to the others only
        assert isinstance(decoder, SecondOrder) or not fault(problem, solution)
        met.add(len(oracles.sentences(tuple(solution.heads))))
    assert {1, 2, "infeasible"} <= met


def test_by_hand():
    """Two words of two sentences: the boundary decides whether an arc joins them."""
    arcs = [[0, 2, 1], [0, 0, 3], [0, 0, 0]]
    for odds, heads, starts in [(3.0, [0, 0], [True, True]), (1.0, [0, 1], [True, False])]:
        found = Eisner().decode(TreeProblem(arcs, boundaries=[9.0, odds]))
        assert found.heads.tolist() == heads and found.starts.tolist() == starts
        assert found.certificate.score == max(2 + 1 + odds, 2 + 3)


def test_long_documents_are_confirmed_by_a_program():
    rng = np.random.default_rng(2)
    arcs, boundaries = rng.normal(size=(11, 11)), rng.normal(size=10) + 4
    for decoder, projective in ((BranchAndBound(), True), (ChuLiuEdmonds(), False)):
        problem = TreeProblem(arcs, boundaries=boundaries, projective=projective)
        solution = decoder.decode(problem)
        assert verify(problem, solution).outcome == "confirmed"
        assert solution.starts.sum() > 1


def test_factors_that_couple_sentences_are_refused_without_a_chart():
    factors = Factors([(1, 2), (3, 4)], [0, 2], [1.0])
    problem = TreeProblem(
        np.zeros((5, 5)), factors=factors, boundaries=np.zeros(4), projective=False
    )
    with pytest.raises(ProblemError, match="different sentences"):
        BranchAndBound().decode(problem)
