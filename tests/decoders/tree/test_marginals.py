import numpy as np
import pytest

from spacy_decoders.decoders.tree import (
    BranchAndBound,
    TreeProblem,
    exact_decoder,
    head_margins,
    max_marginals,
)

from ...oracles import tree_score
from .samples import best_through_arcs, trees


@pytest.mark.parametrize("projective", [True, False])
@pytest.mark.parametrize("parts", ["arcs", "grandparents", "siblings"])
def test_equal_brute_force(rng, parts, projective):
    for n in (0, 1, 2, 4):
        arcs, chains, pairs = (rng.integers(-4, 5, (n + 1,) * d).astype(float) for d in (2, 3, 3))
        arcs[rng.random(arcs.shape) < 0.1] = -np.inf
        arcs[0] = 1.0
        chains = chains if parts != "arcs" else None
        pairs = pairs if parts == "siblings" else None
        problem = TreeProblem(arcs, chains, pairs, projective=projective)
        scored = {
            heads: tree_score(heads, arcs, chains, pairs) for heads in trees(n, projective, True)
        }
        expected = best_through_arcs(n, scored)
        np.testing.assert_allclose(max_marginals(problem), expected, atol=1e-9)
        if max(scored.values()) == -np.inf:
            continue
        heads = exact_decoder(problem).decode(problem).heads
        tokens = np.arange(1, n + 1)
        best = expected[heads, tokens]
        expected[heads, tokens] = -np.inf
        margins = best - expected[:, 1:].max(axis=0, initial=-np.inf)
        np.testing.assert_allclose(head_margins(problem, heads), margins, atol=1e-9)


def test_margin_of_the_only_head_is_infinite():
    assert head_margins(TreeProblem(np.zeros((2, 2))), [0]).tolist() == [np.inf]


def test_scores_of_parts_that_no_tree_has_cost_no_precision():
    rng = np.random.default_rng(0)
    cube = rng.normal(size=(5, 5, 5))
    plain = TreeProblem(rng.normal(size=(5, 5)), cube, cube)
    large = cube.copy()
    large[:, 3, 1] = 1e15  # siblings in the wrong order
    given = TreeProblem(plain.arcs, cube, large)
    assert large[0, 3, 1] == 1e15
    best = BranchAndBound().decode(given)
    assert best.certificate.is_optimal
    expected = BranchAndBound().decode(plain).certificate.score
    assert best.certificate.score == pytest.approx(expected)
    margins = head_margins(given, best.heads)
    assert margins.tolist() == pytest.approx(head_margins(plain, best.heads).tolist())
