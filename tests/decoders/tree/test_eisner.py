import pickle

import numpy as np
import pytest

from spacy_decoders import Budget, InfeasibleError, ProblemError
from spacy_decoders.decoders.tree import (
    Eisner,
    Factors,
    TreeProblem,
    is_projective,
    is_tree,
    max_marginals,
)

from ...oracles import tree_score
from .samples import best_through_arcs, scores, slack, trees


@pytest.mark.parametrize("single_root", [True, False])
@pytest.mark.parametrize("n", range(6))
def test_equals_brute_force(n, single_root):
    rng = np.random.default_rng(n)
    feasible = 0
    for _ in range(60):
        arcs = scores(rng, n + 1, n + 1)
        problem = TreeProblem(arcs, single_root=single_root)
        scored = {heads: tree_score(heads, arcs) for heads in trees(n, True, single_root)}
        best = max(scored.values())
        np.testing.assert_allclose(
            max_marginals(problem), best_through_arcs(n, scored), rtol=1e-12, atol=1e-9
        )
        if best == -np.inf:
            with pytest.raises(InfeasibleError):
                Eisner().decode(problem)
            continue
        feasible += 1
        solution = Eisner().decode(problem)
        assert scored[tuple(solution.heads.tolist())] == pytest.approx(best, abs=slack(best))
        assert solution.certificate.score == pytest.approx(best, abs=slack(best))
        assert solution.certificate.status == "optimal"
        assert solution.certificate.bound >= solution.certificate.score
    assert feasible > 20


def test_six_tokens():
    arcs = np.random.default_rng(6).normal(size=(7, 7))
    best = max(tree_score(heads, arcs) for heads in trees(6, True, True))
    assert Eisner().decode(TreeProblem(arcs)).certificate.score == pytest.approx(best)


def test_golden():
    # "economic news had little effect": had is the root; news and effect hang on it
    arcs = np.full((6, 6), -1.0)
    for head, modifier in ((2, 1), (3, 2), (0, 3), (5, 4), (3, 5)):
        arcs[head, modifier] = 10.0
    arcs[1, 5] = 12.0  # crosses nothing by itself, but costs more than it brings
    solution = Eisner().decode(TreeProblem(arcs))
    # 3 -> 5 gives way to 1 -> 5 only if 3 is not between 1 and 5 with the root above it
    assert solution.heads.tolist() == [2, 3, 0, 5, 3]
    assert solution.certificate.score == 50.0


def test_long_sentence_is_a_projective_tree(rng):
    arcs = rng.normal(size=(121, 121))
    solution = Eisner().decode(TreeProblem(arcs))
    assert is_tree(solution.heads) and is_projective(solution.heads)
    assert (solution.heads == 0).sum() == 1
    through = max_marginals(TreeProblem(arcs))
    on_tree = through[solution.heads, np.arange(1, 121)]
    np.testing.assert_allclose(on_tree, solution.certificate.score)
    assert through.max() == pytest.approx(solution.certificate.score)


def test_mask_scope_and_caller_arrays(rng):
    arcs = rng.normal(size=(6, 6))
    before = arcs.copy()
    allowed = np.ones((6, 6), dtype=bool)
    allowed[3, 1:] = False
    allowed[0, [1, 2, 4, 5]] = False
    with pytest.raises(InfeasibleError, match="no projective tree with exactly one root"):
        Eisner().decode(TreeProblem(arcs, allowed=allowed))
    allowed[3, [1, 4]] = True
    allowed[1] = True
    solution = Eisner().decode(TreeProblem(arcs, allowed=allowed, scope="pruned"))
    assert allowed[solution.heads, np.arange(1, 6)].all()
    assert solution.certificate.scope == "pruned"
    np.testing.assert_array_equal(arcs, before)
    assert arcs.flags.writeable


def test_names_the_token_without_candidates():
    arcs = np.zeros((4, 4))
    arcs[:, 2] = -np.inf
    with pytest.raises(InfeasibleError, match="token 2 has no candidate head"):
        Eisner().decode(TreeProblem(arcs))
    arcs = np.zeros((4, 4))
    arcs[0] = -np.inf
    with pytest.raises(InfeasibleError, match="no token may hang on the root"):
        Eisner().decode(TreeProblem(arcs))


def test_refuses_what_it_does_not_score():
    arcs = np.zeros((3, 3))
    with pytest.raises(ProblemError, match="grandparents and factors; use BranchAndBound"):
        problem = TreeProblem(arcs, np.zeros((3, 3, 3)), factors=Factors.any_of([(1, 2)], 1.0))
        Eisner().decode(problem)
    with pytest.raises(ProblemError, match="ChuLiuEdmonds"):
        Eisner().decode(TreeProblem(arcs, projective=False))


def test_is_picklable_and_takes_a_budget():
    decoder = pickle.loads(pickle.dumps(Eisner()))
    solution = decoder.decode(TreeProblem(np.zeros((3, 3))), budget=Budget(seconds=1))
    assert solution.certificate.is_optimal
    assert not solution.heads.flags.writeable
