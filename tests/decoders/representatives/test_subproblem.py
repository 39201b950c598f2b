"""Message passing that is stopped halfway leaves a bound that holds."""

from spacy_decoders import Budget
from spacy_decoders.decoders.representatives import RepresentativesProblem, subproblem
from spacy_decoders.decoders.representatives.costs import cost_table
from spacy_decoders.decoders.representatives.fixed_point import quantise
from tests.decoders.representatives.drawn import random_problem
from tests.oracles import all_representatives


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
        distances, sets, local, weight = random_problem(rng, case)
        problem = RepresentativesProblem(distances, sets, local, weight)
        best = all_representatives(distances, sets, local, weight)[0][0]
        costs = cost_table(problem, 0, Budget().start())
        numbers = quantise(costs, best / costs.unit + 1.0, Budget().start())
        root = subproblem.Subproblem.of(numbers)
        clock = Clock(case % 7 + 1)
        root.raise_bound(numbers.cutoff(best / costs.unit + 1.0), clock, 40)
        assert clock.looks >= 0
        lower = costs.priced(numbers.lower(int(root.bounds().min())))
        assert lower <= best + 1e-12 * max(1.0, abs(best))
        bounds.add(lower)
    assert len(bounds) > 10
