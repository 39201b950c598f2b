"""Limits of time: costs are laid out as far as it suffices, and what is known then holds."""

import numpy as np
import pytest

from spacy_decoders import Budget
from spacy_decoders.decoders import representatives as core
from spacy_decoders.decoders.representatives import costs, subproblem
from spacy_decoders.decoders.representatives.fixed_point import quantise
from tests.oracles import all_representatives


def random_problem(rng, case: int):
    """Small whole or real costs, with and without local ones, some of them enormous."""
    k, v = int(rng.integers(1, 6)), int(rng.integers(1, 12))
    scale = 10.0 ** rng.integers(-3, 4)
    raw = rng.integers(0, 9, (v, v)) if case % 4 < 2 else scale * rng.normal(size=(v, v))
    sizes = rng.integers(1, min(v, 5) + 1, k)
    sets, local = [rng.choice(v, size, replace=False) for size in sizes], None
    if case % 3 == 0:
        local = [np.where(rng.random(n) < 0.1, 1e30, rng.normal(size=n)) for n in sizes]
    weight = float(rng.choice([0.0, 1.0, 2.5]))
    return core.RepresentativesProblem(np.triu(raw) + np.triu(raw, 1).T, sets, local, weight)


@pytest.fixture
def ticking(monkeypatch, ticks):
    """The clock is read before each set of the costs."""
    for module, name, value in (
        (costs, "OVERTIME", 0.0),
        (costs, "UNTIMED_COSTS", -1),
        (subproblem, "COSTS_PER_CHECK", 1),
    ):
        monkeypatch.setattr(module, name, value)
    return ticks


@pytest.mark.parametrize("decoder", [core.ExactRepresentatives(), core.LocalSearch()])
def test_an_answer_in_time_has_a_true_bound(decoder, ticking, rng):
    ends = set()
    for case in range(60):
        problem = random_problem(rng, case)
        best = float(min(all_representatives(problem).values()))
        for budget in (*map(Budget, (0.5, 4.5, 12.5, 30.5, 1e6)), Budget(iterations=1)):
            begun = next(ticking)
            found = decoder.decode(problem, budget=budget)
            slack = 1e-9 * (1.0 + abs(best))
            assert problem.cost(found.choices) == found.certificate.score >= best - slack
            bound = found.certificate.bound
            assert bound is None or bound <= best + slack
            if budget.seconds is not None and budget.seconds < 1e6:
                assert next(ticking) - begun < budget.seconds + 100
            ends.add(found.certificate.status)
    is_exact = isinstance(decoder, core.ExactRepresentatives)
    assert ends - {"heuristic"} == ({"bounded", "optimal"} if is_exact else set())


def test_nothing_is_laid_out_without_time(monkeypatch, rng):
    monkeypatch.setattr(costs, "PASS", 1e9)
    monkeypatch.setattr(costs, "CostTable", None)  # which fails where it is made
    for case in range(40):
        problem = random_problem(rng, case)
        ranked = {choices: float(cost) for choices, cost in all_representatives(problem).items()}
        found = core.ExactRepresentatives().decode(problem, budget=Budget(seconds=1e3))
        score, bound = found.certificate.score, found.certificate.bound
        if problem.size > 1:
            assert bound <= min(ranked.values()) + 1e-9 <= score + 2e-9
        for i, margin in enumerate(found.margins):
            others = [cost for choices, cost in ranked.items() if choices[i] != found.choices[i]]
            least = min(others, default=np.inf) - score
            assert margin <= least + 1e-5 * (1.0 + abs(score))
        core.LocalSearch().decode(problem, budget=Budget(seconds=1e3))


def test_costs_are_not_laid_out_to_the_end_when_the_time_has_ended(monkeypatch):
    monkeypatch.setattr(costs, "UNTIMED_COSTS", 0)
    distances = np.ones((40, 40))
    problem = core.RepresentativesProblem(distances, np.split(np.arange(40), 4))
    assert costs.cost_table(problem, 0, Budget(seconds=1e-9).start()) is None
    assert costs.cost_table(problem, 0, Budget(seconds=1e9).start()) is not None


def test_sets_that_the_time_does_not_reach_count_for_nothing(ticking):
    # the first set prefers 1 and 3, all sets 2 and 4
    distances = np.full((5, 5), 9)
    distances[0, 1:] = distances[1:, 0] = [1, 2, 1, 2]
    distances[2, 4] = distances[4, 2] = 1
    problem = core.RepresentativesProblem(distances, [[0], [1, 2], [3, 4]])
    for seconds, expected in ((0.5, [0, 0, 0]), (1e6, [0, 1, 1])):
        begun = next(ticking)
        found = core.HittingDistance().decode(problem, budget=Budget(seconds=seconds))
        assert next(ticking) - begun < seconds + 4
        assert found.choices.tolist() == expected
        assert problem.cost(found.choices) == found.certificate.score


def test_the_clock_is_looked_at_within_a_sweep(rng, monkeypatch):
    """Whatever part of the pairs had their turn, the bound holds and time is kept."""

    class Clock:
        def __init__(self, looks):
            self.looks = looks

        @property
        def seconds_left(self):
            self.looks -= 1
            return float(self.looks > 0)

    monkeypatch.setattr(subproblem, "COSTS_PER_CHECK", 1)
    bounds = set()
    for case in range(60):
        problem = random_problem(rng, case)
        best = float(min(all_representatives(problem).values()))
        table = costs.cost_table(problem, 0, Budget().start())
        numbers = quantise(table, best / table.unit + 1.0, Budget().start())
        root = subproblem.Subproblem.of(numbers)
        clock = Clock(case % 7 + 1)
        root.raise_bound(numbers.cutoff(best / table.unit + 1.0), clock, 40)
        assert clock.looks >= 0
        lower = table.priced(numbers.lower(int(root.bounds().min())))
        assert lower <= best + 1e-12 * max(1.0, abs(best))
        bounds.add(lower)
    assert len(bounds) > 10
