"""Trees of labels, against brute force and against chains."""

from __future__ import annotations

import numpy as np
import pytest

from spacy_decoders.budget import Budget
from spacy_decoders.decoders.chain import ChainModel, ColumnGeneration, Viterbi
from spacy_decoders.errors import InfeasibleError, ProblemError
from tests.oracles import all_label_trees

from .cases import large_problem, random_problems

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
    for model, emissions in random_problems(480, seed=9):
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
    assert feasible > 240


def test_every_iteration_has_a_proven_bound(rng):
    stopped = 0
    for seed in range(20):
        model, emissions = large_problem(seed, 8, [25], peaked=0.5, forbidden=0.2 * (seed % 2))
        parents = random_forest(rng, 25)
        best = Viterbi().decode_tree(model, emissions, parents).certificate.score
        for budget in (Budget(iterations=1), Budget(iterations=2), Budget(seconds=1e-9)):
            found = ColumnGeneration().decode_tree(model, emissions, parents, budget=budget)
            certificate = found.certificate
            assert certificate.bound >= best - 1e-9
            assert certificate.score <= best + 1e-9
            assert certificate.is_optimal == (certificate.score >= best - 1e-9) or not (
                certificate.is_optimal
            )
            stopped += not certificate.is_optimal
        wide = ColumnGeneration(gap=1e9).decode_tree(model, emissions, parents)
        assert wide.certificate.iterations == 1
    assert stopped > 10


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


@each
def test_no_node_and_bad_parents(decoder):
    model = ChainModel(np.zeros((2, 2)))
    assert decoder.decode_tree(model, np.zeros((0, 2)), []).certificate.score == 0.0
    for parents in ([0, -1], [1, 0], [-1, 2], [-2, 0], [-1], [-1, 0.5]):
        with pytest.raises(ProblemError, match="parents"):
            decoder.decode_tree(model, np.zeros((2, 2)), parents)
