"""The best tree so far: local search ends where no single head improves it."""

import numpy as np
import pytest

from spacy_decoders.budget import UNLIMITED
from spacy_decoders.decoders.tree import TreeProblem, score_tree, violations
from spacy_decoders.decoders.tree.price_and_cut.incumbent import Incumbent
from spacy_decoders.decoders.tree.price_and_cut.pricing import GrandparentModel
from tests.decoders.tree import samples
from tests.decoders.tree.price_and_cut.problems import dense_table


@pytest.mark.parametrize("projective", [True, False])
def test_local_search_leaves_no_single_head_to_improve(projective):
    improved = 0
    for seed in range(30):
        rng = np.random.default_rng(seed)
        n = int(rng.integers(2, 6))
        single = bool(rng.integers(2))
        problem = TreeProblem(
            rng.normal(size=(n + 1, n + 1)),
            rng.normal(size=(n + 1,) * 3) * 2,
            projective=projective,
            single_root=single,
        )
        trees = [tuple(heads) for heads in samples.trees(n, projective, single)]
        start = trees[int(rng.integers(len(trees)))]
        model = GrandparentModel(problem.arcs, dense_table(problem), projective, single)
        best = Incumbent(model, True, UNLIMITED.start())
        best.offer(np.array([-1, *start]))
        assert not violations(problem, best.heads[1:])
        assert best.score == pytest.approx(score_tree(problem, best.heads[1:]))
        improved += best.score > score_tree(problem, start)
        for heads in trees:
            changed = np.flatnonzero(np.array(heads) != best.heads[1:])
            if len(changed) == 1 and not (
                single and 0 in (heads[changed[0]], best.heads[changed[0] + 1])
            ):
                assert score_tree(problem, heads) <= best.score + 1e-9
    assert improved > 10
