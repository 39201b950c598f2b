"""The joint problem: nothing as a choice, mentions of one form, and what is left out of it."""

import itertools

import numpy as np
import pytest

from spacy_decoders.decoders.representatives import ExactRepresentatives
from spacy_decoders.knowledge.candidates import CandidateTable
from spacy_decoders.knowledge.texts import Known
from spacy_decoders.models.linker.together import link_problem, undominated
from spacy_decoders.models.linker.weights import FEATURES, Feature


def table_of(*sets, forms=None, spellings=None):
    """A table of candidates without a base, named by letters; all mentions are of other forms."""
    forms = np.arange(len(sets)) if forms is None else np.array(forms)
    flat = [one for members in sets for one in members]
    return CandidateTable(
        mentions=["m"] * len(sets),
        offsets=np.cumsum([0, *map(len, sets)]).astype(np.int64),
        known=[Known.of(number, one) for number, one in enumerate(flat)],
        priors=np.ones(len(flat)),
        popularity=np.ones(len(flat)),
        written=np.full(len(flat), np.nan, np.float32),
        linked=np.full(len(sets), np.nan, np.float32),
        forms=forms,
        spellings=forms if spellings is None else np.array(spellings),
        covered=np.ones(len(sets)),
        vectors=np.zeros((len(flat), 0), np.float32),
        concepts=np.empty(0, np.int64),
    )


def weights_of(**named):
    weights = np.zeros(len(FEATURES))
    for name, value in named.items():
        weights[Feature[name.upper()]] = value
    return weights


class Near:
    """Two candidates are near if their names begin alike."""

    far = 1.0

    def __call__(self, table):
        first = np.array([one[0] for one in table.ids])
        return (first[:, None] != first[None, :]).astype(float)


@pytest.mark.parametrize("seed", range(5))
def test_the_shares_of_two_forms_add_to_one(seed):
    rng = np.random.default_rng(seed)
    table = table_of(*["a"] * 7, forms=rng.integers(3, size=7)).of(range(7))
    shares = table.shares
    np.testing.assert_allclose(shares, shares.T)
    for one in range(table.form_count):
        for other in range(table.form_count):
            block = shares[np.ix_(table.forms == one, table.forms == other)]
            assert block.sum() == pytest.approx(0.0 if one == other else 1.0)


def whole_cost(joint, choices):
    """What choices among all candidates cost, those that need no decoding among them."""
    rows = joint.offsets[:-1] + np.array(choices)
    pairs = joint.between(rows, rows)
    return joint.local[rows].sum() + np.triu(pairs, 1).sum()


def test_repeats_that_agree_weigh_as_much_as_one_mention():
    """What all choices cost is that of the problem with each form once."""
    rng = np.random.default_rng(0)
    once = table_of(["a1", "b1"], ["a2", "b2", "c2"])
    own = rng.standard_normal(len(once) + 2)
    sets = ["a1", "b1"], ["a2", "b2", "c2"], ["a1", "b1"], ["a1", "b1"]
    twice = table_of(*sets, forms=[0, 1, 0, 0])
    repeated = np.concatenate([own, own[:3], own[:3]])
    weights = weights_of(pairs=5.0)
    joints = [
        link_problem(table, Near(), scores, weights, form_weight=4.0)
        for table, scores in ((once, own), (twice, repeated))
    ]
    for first in range(3):
        for second in range(4):
            alike = whole_cost(joints[1], [first, second, first, first])
            assert alike == pytest.approx(whole_cost(joints[0], [first, second]))


def test_to_differ_from_the_others_costs_the_weight_of_forms():
    sets = [["a", "b"]] * 3
    table = table_of(*sets, forms=[0, 0, 0])
    scores = np.zeros(len(table) + 3)
    joint = link_problem(table, Near(), scores, weights_of(), form_weight=6.0)
    # a third of the weight of the form is each mention's
    assert whole_cost(joint, [0, 0, 1]) == pytest.approx(6.0 / 3)
    assert whole_cost(joint, [1, 1, 1]) == whole_cost(joint, [2, 2, 2]) == 0.0
    other_case = table_of(*sets, forms=[0, 0, 0], spellings=[0, 0, 1])
    joint = link_problem(other_case, Near(), scores, weights_of(), form_weight=6.0)
    assert whole_cost(joint, [0, 0, 1]) == 0.0


def test_nothing_is_chosen_where_nothing_speaks_for_a_candidate():
    table = table_of(["a"], ["a2", "b"])
    nothing = np.array([False, True, False, False, True])
    alone = np.array([0.0, 0.0, 0.0, -0.5, 0.0])
    for bias, together, expected in (
        (-1.0, 0.0, [0, 0]),
        (1.0, 0.0, [1, 2]),
        # what is near each other is linked all the same
        (1.0, 20.0, [0, 0]),
    ):
        joint = link_problem(
            table, Near(), np.where(nothing, bias, alone), weights_of(pairs=together)
        )
        solution = ExactRepresentatives().decode(joint.problem)
        assert joint.chosen(solution.choices).tolist() == expected
        assert solution.certificate.is_optimal


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


def test_what_others_may_speak_for_is_kept():
    alone = np.array([3.0, 2.0, 1.0, 0.0, 0.0])
    near = np.zeros((5, 5))
    near[2, 3] = near[3, 2] = 1.5
    for voice, expected in ((1.0, True), (0.5, False)):
        voices = np.array([[0, voice], [voice, 0]])
        kept = undominated(np.array([0, 3, 5]), alone, alone, near, voices)
        assert kept.tolist() == [True, True, expected, True, True]
