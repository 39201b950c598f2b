"""The tree knapsack, against all subtrees of small trees."""

from itertools import combinations

import numpy as np
import pytest

from spacy_decoders import Budget, InfeasibleError, ProblemError, UndecidedError, verify
from spacy_decoders.decoders.path import SubtreeProblem, TreeKnapsack, subtree


def random_problem(rng, n: int, *limits: int) -> SubtreeProblem:
    parents = [-1, *(int(rng.integers(0, node)) for node in range(1, n))]
    return SubtreeProblem(rng.integers(-4, 6, n), parents, rng.integers(0, 4, (n, *limits)))


def best_score(problem: SubtreeProblem, capacity, least=0) -> float:
    nodes = range(1, len(problem.scores))
    found = []
    for count in range(len(problem.scores)):
        for chosen in combinations(nodes, count):
            kept = {0, *chosen}
            connected = all(int(problem.parents[node]) in kept for node in chosen)
            size = problem.sizes[list(kept)].sum(axis=0)
            if connected and np.all((least <= size) & (size <= capacity)):
                found.append(float(problem.scores[list(kept)].sum()))
    return max(found, default=-np.inf)


@pytest.mark.parametrize("limits", [(), (3,)], ids=["one size", "several sizes"])
@pytest.mark.parametrize("seed", range(40))
def test_against_all_subtrees(seed, limits):
    rng = np.random.default_rng(seed)
    for _ in range(8):
        problem = random_problem(rng, int(rng.integers(1, 9)), *limits)
        drawn = np.sort(rng.integers(0, 10 if limits else 14, (2, *limits)), axis=0)
        least, capacity = (drawn[0] * (seed % 2)).tolist(), drawn[1].tolist()
        wanted = best_score(problem, capacity, least)
        if wanted == -np.inf:
            with pytest.raises(InfeasibleError, match="root"):
                TreeKnapsack().decode(problem, capacity, least)
            continue
        solution = TreeKnapsack().decode(problem, capacity, least)
        assert solution.certificate.score == pytest.approx(wanted)
        assert solution.certificate.is_optimal
        assert verify((problem, capacity, least), solution)
        kept = set(solution.nodes.tolist())
        assert all(int(problem.parents[node]) in kept for node in kept - {0})
        size = problem.sizes[solution.nodes].sum(axis=0)
        assert np.all((least <= size) & (size <= capacity))


@pytest.mark.parametrize("seed", range(20))
def test_a_subtree_found_when_the_time_ends_is_bounded(seed, ticks):
    rng, ends = np.random.default_rng(seed), set()
    for seconds in range(1, 20):
        problem = random_problem(rng, 8, *((2,) * (seed % 2)))
        best = best_score(problem, 8, 2)
        try:
            solution = TreeKnapsack().decode(problem, 8, 2, budget=Budget(seconds=seconds))
        except (InfeasibleError, UndecidedError) as error:
            assert best == -np.inf or type(error) is UndecidedError
            continue
        assert solution.certificate.bound >= best - 1e-9
        assert verify((problem, 8, 2), solution)
        if solution.certificate.is_optimal:
            assert solution.certificate.score == pytest.approx(best)
        ends.add(solution.certificate.status)
    assert ends == {"bounded", "optimal"}


def test_a_worse_subtree_is_not_called_optimal(monkeypatch):
    monkeypatch.setattr(subtree.Knapsack, "_search", lambda _: [0])
    problem = SubtreeProblem([1, 5, 2], [-1, 0, 0], [1, 1, 1])
    certificate = TreeKnapsack().decode(problem, 3).certificate
    assert certificate.status == "bounded"
    assert certificate.gap == pytest.approx(7)


@pytest.mark.parametrize("huge", [2.0**45, 1e17])
def test_scores_that_cancel_are_not_called_optimal_for_rounded_sums(huge):
    scores, parents, sizes = [0, -huge, huge, 1e-3, 5e-4], [-1, 0, 1, 2, 0], [1, 1, 1, 1, 3]
    problem = SubtreeProblem(scores, parents, sizes)
    solution = TreeKnapsack().decode(problem, 4, 4)
    assert solution.certificate.bound >= 1e-3
    best = solution.certificate.score == 1e-3
    assert best or not solution.certificate.is_optimal
    assert verify((problem, 4, 4), solution).bound == 1e-3


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (([], [], []), "scores"),
        (([1.0, np.inf], [-1, 0], [1, 1]), "scores"),
        (([1.0, 1.0], [-1, 1], [1, 1]), "parents"),
        (([1.0, 1.0], [-1, 0], [1, -1]), "sizes"),
        (([1.0, 1.0], [-1, 0], [1]), "shape"),
    ],
)
def test_bad_trees(arguments, message):
    with pytest.raises(ProblemError, match=message):
        SubtreeProblem(*arguments)


@pytest.mark.parametrize(
    ("sizes", "capacity", "message"),
    [
        ([1.9, 1.9], 2, "sizes: expected whole numbers"),
        ([[1, 2], [1, 2]], [2, 3, 4], "capacity: expected one limit, or one for each of the 2"),
    ],
)
def test_what_can_not_be_decoded_is_named(sizes, capacity, message):
    with pytest.raises(ProblemError, match=message):
        TreeKnapsack().decode(SubtreeProblem([1, 5], [-1, 0], sizes), capacity)


def test_tables_that_do_not_fit_the_memory_are_refused(monkeypatch):
    problem = SubtreeProblem(np.ones(9), [-1] + [0] * 8, 10**9 // 2 ** np.arange(9))
    assert TreeKnapsack().decode(problem, 10**9).certificate.is_optimal
    monkeypatch.setattr(subtree, "MOST_ENTRIES", 100)
    with pytest.raises(ProblemError, match="sizes: tables of more than 100 sums"):
        TreeKnapsack().decode(problem, 2 * 10**9)
