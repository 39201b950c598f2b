"""Trees of single arcs: Eisner's chart and contraction, max-marginals, margins, the k best."""

import networkx as nx
import numpy as np
import pytest

from spacy_decoders import InfeasibleError, ProblemError
from spacy_decoders.arrays import read_only
from spacy_decoders.decoders import tree
from spacy_decoders.decoders.tree.fallbacks import bounded

from .promises import check_marginals
from .truth import Truth


@pytest.mark.parametrize("projective", [True, False])
@pytest.mark.parametrize("n", range(3))
def test_without_scores_there_is_no_gap(n, projective):
    # of several roots there is no penalty, which would be rounded
    problem = tree.TreeProblem(np.zeros((n + 1, n + 1)), projective=projective, single_root=n < 2)
    decoders = [tree.Eisner(), tree.SecondOrder()] if projective else [tree.ChuLiuEdmonds()]
    for decoder in (*decoders, tree.BranchAndBound()):
        certificate = decoder.decode(problem).certificate
        assert (certificate.bound, certificate.gap, certificate.status) == (0.0, 0.0, "optimal")


def test_scores_of_parts_that_no_tree_has_cost_no_precision():
    rng = np.random.default_rng(0)
    cube = rng.normal(size=(5, 5, 5))
    plain = tree.TreeProblem(rng.normal(size=(5, 5)), cube, cube)
    large = cube.copy()
    large[:, 3, 1] = 1e15  # siblings in the wrong order
    given = tree.TreeProblem(plain.arcs, cube, large)
    assert large[0, 3, 1] == 1e15
    best = tree.BranchAndBound().decode(given)
    assert best.certificate.is_optimal
    expected = tree.BranchAndBound().decode(plain).certificate.score
    assert best.certificate.score == pytest.approx(expected)
    margins = tree.head_margins(given, best.heads)
    assert margins.tolist() == pytest.approx(tree.head_margins(plain, best.heads).tolist())


@pytest.mark.parametrize("projective", [True, False])
@pytest.mark.parametrize("heads", [[2, 1, 0], [1, 0, 2], [0, 0, 2], [2, 0, 2]])
def test_heads_that_form_no_tree_have_no_margins(heads, projective):
    """A cycle, a token that is its own head, two roots, and a forbidden arc."""
    arcs = np.zeros((4, 4))
    arcs[2, 3] = -np.inf
    with pytest.raises(ProblemError, match=r"^heads: they form no tree of the problem"):
        tree.head_margins(tree.TreeProblem(arcs, projective=projective), heads)


def test_chooses_the_decoder():
    arcs, chains = np.zeros((3, 3)), np.zeros((3, 3, 3))
    assert tree.exact_decoder(tree.TreeProblem(arcs)) == tree.Eisner()
    assert tree.exact_decoder(tree.TreeProblem(arcs, projective=False)) == tree.ChuLiuEdmonds()
    assert tree.exact_decoder(tree.TreeProblem(arcs, chains)) == tree.SecondOrder()
    assert tree.exact_decoder(tree.TreeProblem(arcs, siblings=chains)) == tree.BranchAndBound()


def test_equals_networkx_with_nested_cycles(rng):
    for n in (12, 30):
        arcs = rng.integers(0, 30, (n + 1, n + 1)).astype(float)
        arcs[0] -= 40  # cycles pay, the root does not
        graph = nx.DiGraph()
        graph.add_weighted_edges_from(
            (h, m, arcs[h, m]) for h in range(n + 1) for m in range(1, n + 1) if h != m
        )
        expected = nx.maximum_spanning_arborescence(graph).size("weight")
        problem = tree.TreeProblem(arcs, projective=False, single_root=False)
        solution = tree.ChuLiuEdmonds().decode(problem)
        assert tree.is_tree(solution.heads)
        assert solution.certificate.score == expected


@pytest.mark.parametrize("single_root", [True, False])
def test_sets_that_are_nested_deeply_are_a_proof_as_well(single_root, rng):
    for trial in range(9):
        arcs = rng.integers(0, 2, (61, 61)) * float(trial > 2)
        if trial % 3:
            arcs += 1e-3 * rng.normal(size=arcs.shape)
        arcs[0] -= 5.0
        problem = tree.TreeProblem(arcs, projective=False, single_root=single_root)
        assert tree.ChuLiuEdmonds().decode(problem).certificate.is_optimal


def test_single_root_where_no_sensible_penalty_is_large_enough():
    # two tokens that are both glad to be roots; the arc between them is almost forbidden
    arcs = np.array([[0, 1, 2], [0, 0, -1e30], [0, -1e30, 0]])
    solution = tree.ChuLiuEdmonds().decode(tree.TreeProblem(arcs, projective=False))
    assert (solution.heads == 0).sum() == 1
    arcs[1, 2] = -np.inf
    solution = tree.ChuLiuEdmonds().decode(tree.TreeProblem(arcs, projective=False))
    assert solution.heads.tolist() == [2, 0]
    arcs[2, 1] = -np.inf
    with pytest.raises(InfeasibleError):
        tree.ChuLiuEdmonds().decode(tree.TreeProblem(arcs, projective=False))


def test_scores_of_parts_that_no_tree_has_cost_max_marginals_no_digits():
    rng = np.random.default_rng(3)
    arcs, chains, pairs = rng.normal(size=(4, 4)), *rng.normal(size=(2, 4, 4, 4))
    arcs[1, 2] = -np.inf
    chains[1, 2] = chains[:, 1, 2] = pairs[1, 2] = 1e9
    problem = tree.TreeProblem(arcs, chains, pairs, projective=False)
    through = tree.max_marginals(problem)
    assert not np.isnan(through).any()
    check_marginals(through, Truth(problem))


@pytest.mark.parametrize("projective", [True, False])
def test_without_a_tree_no_rounding_hides_it(projective):
    # minus infinity plus an infinite rounding error would leave a node of a search open
    for arcs in (np.full((4, 4), -np.inf), np.zeros((4, 4))):
        arcs[0] = -np.inf
        _, bound, rounding, _ = bounded(read_only(arcs), projective, True)
        assert bound + rounding == -np.inf
