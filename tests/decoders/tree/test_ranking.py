import numpy as np
import pytest

from spacy_decoders import InfeasibleError, ProblemError
from spacy_decoders.decoders.tree import (
    ChuLiuEdmonds,
    Eisner,
    SecondOrder,
    TreeProblem,
    exact_decoder,
    k_best,
)

from ...oracles import second_order_score, tree_score
from .samples import scores, slack, trees


@pytest.mark.parametrize("projective", [True, False])
@pytest.mark.parametrize("single_root", [True, False])
@pytest.mark.parametrize("n", range(5))
def test_equals_brute_force(n, single_root, projective):
    rng = np.random.default_rng(n)
    for _ in range(8):
        arcs = scores(rng, n + 1, n + 1)
        problem = TreeProblem(arcs, single_root=single_root, projective=projective)
        scored = {heads: tree_score(heads, arcs) for heads in trees(n, projective, single_root)}
        expected = sorted((s for s in scored.values() if s > -np.inf), reverse=True)[:7]
        if not expected:
            with pytest.raises(InfeasibleError):
                k_best(problem, 7)
            continue
        found = k_best(problem, 7)
        assert len({tuple(tree.heads.tolist()) for tree in found}) == len(found)
        assert len(found) == len(expected)
        for tree, score in zip(found, expected, strict=True):
            assert tree.certificate.score == pytest.approx(score, abs=slack(score))
            assert scored[tuple(tree.heads.tolist())] == pytest.approx(score, abs=slack(score))
            # every one is compared with the best of all
            assert tree.certificate.gap == pytest.approx(expected[0] - score, abs=slack(score))
            worse = score < expected[0] - tree.certificate.tolerance
            assert tree.certificate.status == ("bounded" if worse else "optimal")


def test_grandparents_and_own_decoder(rng):
    arcs, chains, pairs = (rng.normal(size=(5,) * d) for d in (2, 3, 3))
    for siblings in (None, pairs):
        problem = TreeProblem(arcs, chains, siblings)
        expected = sorted(
            (second_order_score(t, arcs, chains, siblings) for t in trees(4, True, True)),
            reverse=True,
        )
        found = [tree.certificate.score for tree in k_best(problem, 5, decoder=SecondOrder())]
        np.testing.assert_allclose(found, expected[:5])


def test_chooses_the_decoder():
    arcs, chains = np.zeros((3, 3)), np.zeros((3, 3, 3))
    assert exact_decoder(TreeProblem(arcs)) == Eisner()
    assert exact_decoder(TreeProblem(arcs, projective=False)) == ChuLiuEdmonds()
    assert exact_decoder(TreeProblem(arcs, chains)) == SecondOrder()
    assert type(exact_decoder(TreeProblem(arcs, siblings=chains))).__name__ == "BranchAndBound"


def test_refuses_no_trees():
    with pytest.raises(ProblemError, match="k: expected a whole number from 1 on"):
        k_best(TreeProblem(np.zeros((3, 3))), 0)
