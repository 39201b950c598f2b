import networkx as nx
import numpy as np
import pytest

from spacy_decoders import InfeasibleError, ProblemError
from spacy_decoders.decoders.tree import (
    ChuLiuEdmonds,
    Eisner,
    TreeProblem,
    is_tree,
    max_marginals,
    reduced_costs,
)

from ...oracles import tree_score
from .samples import best_through_arcs, scores, slack, trees


@pytest.mark.parametrize("single_root", [True, False])
@pytest.mark.parametrize("n", range(6))
def test_equals_brute_force(n, single_root):
    rng = np.random.default_rng(n)
    feasible = 0
    for _ in range(60 if n < 5 else 25):
        arcs = scores(rng, n + 1, n + 1)
        arcs[0] += rng.choice([-3.0, 0.0, 3.0])  # with and without a pull towards many roots
        problem = TreeProblem(arcs, single_root=single_root, projective=False)
        scored = {heads: tree_score(heads, arcs) for heads in trees(n, False, single_root)}
        best = max(scored.values())
        through = best_through_arcs(n, scored)
        np.testing.assert_allclose(max_marginals(problem), through, rtol=1e-12, atol=1e-9)
        if best == -np.inf:
            with pytest.raises(InfeasibleError):
                ChuLiuEdmonds().decode(problem)
            continue
        feasible += 1
        solution = ChuLiuEdmonds().decode(problem)
        assert scored[tuple(solution.heads.tolist())] == pytest.approx(best, abs=slack(best))
        assert solution.certificate.score == pytest.approx(best, abs=slack(best))
        assert solution.certificate.status == "optimal"
        costs = reduced_costs(problem)
        assert (costs <= 0).all()
        assert (best + costs >= through - slack(best)).all()
        on_tree = costs[solution.heads, np.arange(1, n + 1)]
        np.testing.assert_allclose(on_tree, 0, atol=slack(best))
    assert feasible > 8


def test_golden_cycle():
    # the best heads of 1, 2 and 3 form a cycle of 30; entering it at 2 costs least
    arcs = np.full((4, 4), -np.inf)
    arcs[1, 2], arcs[2, 3], arcs[3, 1] = 10, 10, 10
    arcs[0, 1:] = 1, 4, 2
    problem = TreeProblem(arcs, projective=False)
    solution = ChuLiuEdmonds().decode(problem)
    assert solution.heads.tolist() == [3, 0, 2]
    assert solution.certificate.score == 24
    assert solution.certificate.bound == pytest.approx(24, abs=1e-12)
    # through 0 -> 1 the best tree is worth 21, through 0 -> 3 22
    assert reduced_costs(problem)[0, 1:].tolist() == [-3, 0, -2]


def test_equals_networkx_with_nested_cycles(rng):
    for n in (12, 30):
        arcs = rng.integers(0, 30, (n + 1, n + 1)).astype(float)
        arcs[0] -= 40  # cycles pay, the root does not
        graph = nx.DiGraph()
        graph.add_weighted_edges_from(
            (h, m, arcs[h, m]) for h in range(n + 1) for m in range(1, n + 1) if h != m
        )
        expected = nx.maximum_spanning_arborescence(graph).size("weight")
        problem = TreeProblem(arcs, projective=False, single_root=False)
        solution = ChuLiuEdmonds().decode(problem)
        assert is_tree(solution.heads)
        assert solution.certificate.score == expected


def test_single_root_equals_each_root_in_turn(rng):
    for pull in (0.0, 2.0, 20.0):
        arcs = rng.normal(size=(21, 21))
        arcs[0] += pull
        problem = TreeProblem(arcs, projective=False)
        solution = ChuLiuEdmonds().decode(problem)
        assert (solution.heads == 0).sum() == 1
        best = -np.inf
        for root in range(1, 21):
            only = arcs.copy()
            only[0, np.arange(21) != root] = -np.inf
            one = ChuLiuEdmonds().decode(TreeProblem(only, projective=False, single_root=False))
            best = max(best, one.certificate.score)
        assert solution.certificate.score == pytest.approx(best)


def test_single_root_where_no_sensible_penalty_is_large_enough():
    # two tokens that are both glad to be roots; the arc between them is almost forbidden
    arcs = np.array([[0, 1, 2], [0, 0, -1e30], [0, -1e30, 0]])
    solution = ChuLiuEdmonds().decode(TreeProblem(arcs, projective=False))
    assert (solution.heads == 0).sum() == 1
    arcs[1, 2] = -np.inf
    assert ChuLiuEdmonds().decode(TreeProblem(arcs, projective=False)).heads.tolist() == [2, 0]
    arcs[2, 1] = -np.inf
    with pytest.raises(InfeasibleError):
        ChuLiuEdmonds().decode(TreeProblem(arcs, projective=False))
    with pytest.raises(InfeasibleError):
        reduced_costs(TreeProblem(arcs, projective=False))


def test_all_ties():
    for n in range(7):
        problem = TreeProblem(np.zeros((n + 1, n + 1)), projective=False)
        solution = ChuLiuEdmonds().decode(problem)
        assert is_tree(solution.heads) and (solution.heads == 0).sum() == min(n, 1)
        assert solution.certificate.is_optimal


def test_never_worse_than_projective(rng):
    for _ in range(20):
        arcs = rng.normal(size=(16, 16))
        free = ChuLiuEdmonds().decode(TreeProblem(arcs, projective=False))
        projective = Eisner().decode(TreeProblem(arcs))
        assert free.certificate.score >= projective.certificate.score - 1e-9


def test_refuses_what_it_does_not_score():
    arcs = np.zeros((3, 3))
    with pytest.raises(ProblemError, match="siblings; use BranchAndBound"):
        problem = TreeProblem(arcs, siblings=np.zeros((3, 3, 3)), projective=False)
        ChuLiuEdmonds().decode(problem)
    with pytest.raises(ProblemError, match="Eisner"):
        ChuLiuEdmonds().decode(TreeProblem(arcs))
