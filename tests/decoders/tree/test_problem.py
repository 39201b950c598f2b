import pickle

import numpy as np
import pytest

from spacy_decoders import Certificate, ProblemError
from spacy_decoders.decoders import tree

from ... import oracles
from .samples import fault, trees


def test_recognisers_agree_with_the_oracles():
    for heads in np.ndindex(5, 5, 5, 5):
        assert tree.is_tree(heads) == oracles.is_tree(heads)
        assert tree.is_projective(heads) == oracles.is_projective(heads)


def test_starts_of_heads_that_are_no_tree():
    assert tree.sentence_starts([0, 3, 2]).tolist() == [True, True, False]


def test_or_and_valency():
    either = tree.Factors.any_of(np.array([(1, 2), (1, 3), (3, 2)]), 2.0)
    valency = tree.Factors.valency(1, 4, [-1.0, 0.0, 5.0, 7.0])
    problem = tree.TreeProblem(np.zeros((5, 5)), factors=either + valency)
    for heads in trees(4, True, True):
        count = heads.count(1)
        expected = [-1.0, 0.0, 5.0, 7.0][count] if count < 4 else 0.0
        expected += 2.0 * (heads[1] == 1 or heads[2] == 1 or heads[1] == 3)
        assert tree.score_tree(problem, heads) == expected


def test_sparse_parts_equal_dense_ones(rng):
    chains, pairs = rng.normal(size=(2, 5, 5, 5))
    grid = [(x, y, z) for x in range(5) for y in range(1, 5) for z in range(1, 5)]
    chain_parts = [(g, h, m) for g, h, m in grid if len({g, h, m}) == 3]
    pair_parts = [(h, a, b) for h, a, b in grid if a < b and h not in (a, b)]
    sparse = tree.Factors.of_parts(
        chain_parts, [(0, 1), (1, 2)], [chains[part] for part in chain_parts]
    ) + tree.Factors.of_parts(pair_parts, [(0, 1), (0, 2)], [pairs[part] for part in pair_parts])
    dense = tree.TreeProblem(np.zeros((5, 5)), chains, pairs, projective=False)
    light = tree.TreeProblem(np.zeros((5, 5)), factors=sparse, projective=False)
    for heads in trees(4, False, True):
        assert tree.score_tree(light, heads) == pytest.approx(tree.score_tree(dense, heads))


def test_higher_parts():
    factors = tree.Factors.of_parts([(1, 2, 3, 4)], [(0, 1), (0, 2), (0, 3)], [3.0])
    factors += tree.Factors.of_parts([(0, 1, 2, 3)], [(0, 1), (1, 2), (2, 3)], [4.0])
    assert factors.paid([0, 1, 1, 1]).tolist() == [True, False]
    assert factors.paid([0, 1, 2, 2]).tolist() == [False, True]
    assert pickle.loads(pickle.dumps(factors)).paid([0, 1, 1, 1]).tolist() == [True, False]
    assert tree.Factors.empty().count == tree.Factors.of_parts([], [(0, 1)], []).count == 0


def test_pairs_of_roots_that_no_tree_has_cost_no_precision():
    siblings = np.zeros((3, 3, 3))
    siblings[0, 1, 2] = 1e12
    given = tree.TreeProblem(np.ones((3, 3)), siblings=siblings)
    later = tree.TreeProblem(np.ones((3, 3))).unchecked(siblings=siblings)
    for problem in (given, later):
        found = tree.BranchAndBound().decode(problem).certificate
        assert found.is_optimal and found.score == 2.0 and found.tolerance < 1e-5
    several = tree.TreeProblem(np.ones((3, 3)), siblings=siblings, single_root=False)
    assert tree.BranchAndBound().decode(several).certificate.score == 1e12 + 2


def test_faults_in_words():
    arcs = np.zeros((4, 4))
    arcs[1, 2] = -np.inf
    pairs = np.zeros((4, 4, 4))
    pairs[2, 1, 3] = -np.inf
    problem = tree.TreeProblem(arcs, siblings=pairs)
    none = np.zeros((5, 5))
    for given, heads, said in [
        (problem, [0, 3, 1], None),
        (problem, [0, 1, 2], "the arc 1 -> 2 is forbidden."),
        (problem, [0, 3, 2], "token 2 does not reach the root."),
        (problem, [0, 0, 2], "2 tokens are attached to the root."),
        (problem, [2, 0, 2], "a part is forbidden."),
        (tree.TreeProblem(none), [3, 4, 0, 3], "an arc crosses 3 -> 1."),
    ]:
        assert fault(given, tree.TreeSolution(heads, Certificate("", "heuristic"))) == said


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        ({"arcs": np.zeros((2, 3))}, "arcs: expected a square array"),
        ({"arcs": np.full((2, 2), np.nan)}, "arcs: every score must be finite or -inf"),
        ({"arcs": np.full((2, 2), 1e101)}, "arcs: scores must lie within"),
        ({"siblings": np.zeros((2, 2, 2))}, r"siblings: expected shape \(3, 3, 3\)"),
        ({"arcs": np.zeros((402, 402)), "siblings": [[[0]]]}, "give the parts that matter"),
        ({"allowed": np.ones((3, 3))}, "allowed: expected a bool array"),
        ({"factors": [([(0, 1)], 1.0)]}, "factors: expected Factors"),
        ({"factors": tree.Factors.any_of([(0, 3)], 1.0)}, "only 2 tokens"),
        ({"scope": "half"}, "scope: expected"),
    ],
)
def test_refuses(arguments, message):
    with pytest.raises(ProblemError, match=message):
        tree.TreeProblem(**{"arcs": np.zeros((3, 3)), **arguments})
