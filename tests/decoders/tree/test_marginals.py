import numpy as np
import pytest

from spacy_decoders.decoders.tree import (
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
