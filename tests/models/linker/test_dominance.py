"""Candidates that are left out before decoding change neither the best answer nor a margin."""

import itertools

import numpy as np
import pytest

from spacy_decoders.decoders.representatives import ExactRepresentatives
from spacy_decoders.models.linker.together import link_problem, undominated
from tests.models.linker.test_together import table_of, weights_of


def best_with(cost, sizes, excluded=None):
    """The least cost of all combinations, of those without one candidate of a set if given."""
    return min(
        cost(choice)
        for choice in itertools.product(*map(range, sizes))
        if excluded is None or choice[excluded[0]] != excluded[1]
    )


@pytest.mark.parametrize("seed", range(30))
def test_the_best_choice_and_all_margins_stay(seed):
    rng = np.random.default_rng(seed)
    count = int(rng.integers(2, 5))
    numbers = np.sort(rng.integers(max(1, count - 1), size=count))
    sets, named = [], {}
    for form in numbers.tolist():
        members = [f"{rng.choice(list('abc'))}{i}" for i in range(rng.integers(1, 5))]
        sets.append(named.setdefault(form, members))
    spellings = numbers * 2 + rng.integers(2, size=count)
    table = table_of(*sets, forms=numbers, spellings=spellings).of(range(count))
    closeness = {
        pair: float(rng.integers(0, 5)) / 4
        for pair in itertools.product(sorted(set(table.ids)), repeat=2)
    }

    def pairs(of):
        return np.array(
            [[closeness[min(a, b), max(a, b)] for b in of.ids] for a in of.ids], float
        ).reshape(len(of), len(of))

    scores = rng.normal(size=len(table) + count) * rng.choice([0.5, 4.0])
    scores[rng.random(len(scores)) < 0.1] = -np.inf
    scores[np.cumsum(np.diff(table.offsets) + 1) - 1] = rng.normal(size=count)
    weights, form_weight = weights_of(pairs=8.0), float(rng.choice([0.0, 2.0]))
    joint = link_problem(table, pairs, scores, weights, form_weight=form_weight)
    solution = ExactRepresentatives().decode(joint.problem)
    chosen = joint.chosen(solution.choices)

    every = np.arange(len(scores))
    together = joint.between(every, every)

    def cost(choice):
        rows = joint.offsets[:-1] + np.array(choice)
        own = joint.local[rows].sum()
        return own + sum(together[a, b] for a, b in itertools.combinations(rows, 2))

    sizes = np.diff(joint.offsets)
    best = best_with(cost, sizes)
    assert cost(chosen) == pytest.approx(best, abs=1e-9)
    assert solution.certificate.score == pytest.approx(best, abs=1e-9)
    for unit in range(count):
        other = best_with(cost, sizes, (unit, chosen[unit]))
        margin = float(solution.margins[unit])
        assert margin == pytest.approx(other - best, abs=1e-5) or (
            np.isinf(margin) and np.isinf(other)
        )
    # what each costs beside the others is known of those that were left out, too
    beside = joint.conditional_costs(chosen)
    for unit in range(count):
        for place in range(sizes[unit]):
            changed = [*chosen]
            changed[unit] = place
            step = cost(changed) - best
            at = joint.offsets[unit]
            found = beside[at + place] - beside[at + chosen[unit]]
            assert found == pytest.approx(step, abs=1e-9) or (np.isinf(found) and np.isinf(step))


def test_one_better_candidate_is_not_enough():
    """The best other choice is needed for the margin."""
    alone = np.array([3.0, 2.0, 1.0])
    kept = undominated(np.array([0, 3]), alone, alone, np.zeros((3, 3)), np.zeros((1, 1)))
    assert kept.tolist() == [True, True, False]


def test_what_others_may_speak_for_is_kept():
    alone = np.array([3.0, 2.0, 1.0, 0.0, 0.0])
    near = np.zeros((5, 5))
    near[2, 3] = near[3, 2] = 1.5
    for voice, expected in ((1.0, True), (0.5, False)):
        voices = np.array([[0, voice], [voice, 0]])
        kept = undominated(np.array([0, 3, 5]), alone, alone, near, voices)
        assert kept.tolist() == [True, True, expected, True, True]
