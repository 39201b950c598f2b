"""Trees of labels, against brute force and against chains."""

import numpy as np
import pytest

from spacy_decoders.decoders.chain import ChainModel, ColumnGeneration, Viterbi
from spacy_decoders.errors import InfeasibleError
from tests.oracles import all_label_trees

from .cases import random_problems

DECODERS = [Viterbi(), ColumnGeneration()]
each = pytest.mark.parametrize("decoder", DECODERS, ids=lambda d: type(d).__name__)


def random_forest(rng, n):
    """Parents of n nodes, numbered at random."""
    parents = np.array([rng.integers(-1, max(node, 1)) if node else -1 for node in range(n)])
    places = rng.permutation(n)
    shuffled = np.full(n, -1)
    shuffled[places] = np.where(parents < 0, -1, places[parents])
    return shuffled


@each
def test_agrees_with_brute_force(decoder):
    rng = np.random.default_rng(11)
    feasible = 0
    for model, emissions in random_problems(240, seed=9):
        parents = random_forest(rng, len(emissions))
        every = all_label_trees(
            model.transitions, model.start, model.end, emissions, parents.tolist()
        )
        best = every[0][0]
        if best == -np.inf:
            with pytest.raises(InfeasibleError, match="no legal labelling"):
                decoder.decode_tree(model, emissions, parents)
            continue
        feasible += 1
        solution = decoder.decode_tree(model, emissions, parents)
        certificate = solution.certificate
        assert certificate.is_optimal
        assert certificate.score >= best - certificate.tolerance
        assert certificate.bound >= best - 1e-12 * abs(best)
        assert certificate.score == pytest.approx(
            dict(map(reversed, every))[tuple(solution.labels)]
        )
    assert feasible > 120


@each
def test_golden_example(decoder):
    # by hand: the root has no preference; its children say 0 (by 2) and 1 (by 0.5), and an
    # equal pair is worth 1: 0 0 0 gets 2 + 0 + 1 + 1 = 4, 0 0 1 gets 2 + 0.5 + 1 = 3.5
    model = ChainModel([[1, 0], [0, 1]])
    solution = decoder.decode_tree(model, [[0, 0], [2, 0], [0, 0.5]], [-1, 0, 0])
    assert (solution.labels.tolist(), solution.certificate.score) == ([0, 0, 0], 4.0)
    # direction: only 0 over 1 is worth something
    model = ChainModel([[0, 5], [0, 0]])
    assert decoder.decode_tree(model, np.zeros((2, 2)), [1, -1]).labels.tolist() == [1, 0]
