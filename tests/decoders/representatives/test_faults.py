"""Corrupted kernels: whatever they return, no wrong choice is called optimal.

Each fault is one that leads to wrong choices, or would if its kernel were believed: the tests
say so, and would fail if a decoder stated its bound instead of comparing it.
"""

from functools import cache, partial

import numpy as np
import pytest

from spacy_decoders.decoders import representatives as core
from spacy_decoders.decoders.representatives import (
    branch_and_bound,
    exact,
    fixed_point,
    local_search,
    margins,
    subproblem,
)
from spacy_decoders.decoders.representatives.kernels.descent import descend
from spacy_decoders.decoders.representatives.kernels.enumeration import Found
from spacy_decoders.decoders.representatives.kernels.layout import LARGEST
from spacy_decoders.decoders.representatives.published import decomposable
from spacy_decoders.graph import ConceptGraph
from tests.oracles import all_representatives


def drawn(case: int) -> core.RepresentativesProblem:
    """Four or five sets of four: whole distances, or real ones with local costs and a mask."""
    rng = np.random.default_rng(case)
    k, size = 4 + case % 2, 18
    raw = rng.integers(1, 30, (size, size)) if case % 2 else rng.random((size, size))
    distances = np.triu(raw, 1) + np.triu(raw, 1).T
    sets = [rng.choice(size, 4, replace=False) for _ in range(k)]
    local = None
    if case % 2 == 0:
        local = [rng.random(4) for _ in sets]
        local[0][1] = 1e9
    return core.RepresentativesProblem(distances, sets, local, weight=k - 1.0)


priced = cache(all_representatives)


def wrong_and_optimal(decoder, problems) -> tuple[int, int]:
    """Count the choices that are not the cheapest, and those of them that are called so."""
    wrong = certified = 0
    for problem in problems:
        least = float(min(priced(problem).values()))
        solution = decoder.decode(problem)
        if problem.cost(solution.choices) > least + 1e-9 * (1 + abs(least)):
            wrong += 1
            certified += solution.certificate.is_optimal
        certificate = solution.certificate
        if certificate.bound is not None and certificate.status != "optimal":
            assert certificate.bound <= certificate.score
    return wrong, certified


@pytest.fixture
def blind(monkeypatch):
    """Local search that finds nothing: the first candidate of each set, and no change."""

    def unimproved(costs, choices, frozen):
        return descend(costs, choices.copy(), frozen)

    def first(costs, *_):
        return np.zeros(costs.arrays.size, dtype=np.int64), 1

    monkeypatch.setattr(exact, "improve", first)
    monkeypatch.setattr(branch_and_bound, "descend", unimproved)


PROBLEMS = [drawn(case) for case in range(24)]


def test_without_a_fault_nothing_is_wrong(blind):
    assert wrong_and_optimal(core.ExactRepresentatives(), PROBLEMS) == (0, 0)


def corrupt(monkeypatch, module, name, fault):
    """Let a fault stand in for a kernel, which it is given."""
    monkeypatch.setattr(module, name, partial(fault, getattr(module, name)))


def sweep_claims_too_much(whole, *given):
    return True, LARGEST // 4


def sweep_spoils_its_messages(whole, costs, messages, *rest):
    result = whole(costs, messages, *rest)
    messages += np.arange(messages.size).reshape(messages.shape).astype(messages.dtype) ** 2
    return result


def sweep_leaves_the_range(whole, costs, messages, *rest):
    messages[...] = np.iinfo(messages.dtype).max // 2
    return True, 0


@pytest.mark.parametrize(
    "fault", [sweep_claims_too_much, sweep_spoils_its_messages, sweep_leaves_the_range]
)
def test_potentials_are_only_proposals(blind, monkeypatch, fault):
    """Bad ones cost time: what they prove is looked up, and the rest is searched."""
    corrupt(monkeypatch, subproblem, "sweep", fault)
    # a believed claim would leave the first candidates, of which almost none are right
    assert wrong_and_optimal(core.ExactRepresentatives(), PROBLEMS) == (0, 0)


def bounds_far_too_high(whole, *given):
    return whole(*given)[0], 2**45


def bounds_without_end(whole, *given):
    return whole(*given)[0], LARGEST // 2


def bounds_of_one_set_too_high(whole, costs, box, potentials):
    found = whole(costs, box, potentials)
    found[0].unary[: box.ends[1]] += 2**50
    return found


@pytest.mark.parametrize(
    "fault", [bounds_far_too_high, bounds_without_end, bounds_of_one_set_too_high]
)
def test_bounds_that_are_too_high_contradict_the_score(blind, monkeypatch, fault):
    corrupt(monkeypatch, fixed_point, "reduced", fault)
    wrong, certified = wrong_and_optimal(core.ExactRepresentatives(), PROBLEMS)
    assert wrong > len(PROBLEMS) / 3 and certified == 0


def search_finds_nothing(whole, costs, *given):
    return Found(LARGEST, LARGEST, np.full(costs.size, -1), 0)


def search_keeps_its_find(whole, *given):
    return whole(*given)._replace(best=LARGEST)


def search_finds_the_wrong_one(whole, costs, *given):
    return whole(costs, *given)._replace(choices=costs.offsets[1:] - 1)


@pytest.mark.parametrize(
    "fault", [search_finds_nothing, search_keeps_its_find, search_finds_the_wrong_one]
)
def test_a_search_that_says_there_is_nothing_is_not_believed(blind, monkeypatch, fault):
    corrupt(monkeypatch, branch_and_bound, "search", fault)
    # no sweeps: all is left to the search
    monkeypatch.setattr(subproblem.Subproblem, "raise_bound", lambda *given: None)
    wrong, certified = wrong_and_optimal(core.ExactRepresentatives(), PROBLEMS)
    assert wrong > len(PROBLEMS) / 3 and certified == 0


def prices_in_another_order(whole, *given):
    costs, *others = whole(*given)
    return costs[::-1].copy(), *others


def prices_too_low(whole, *given):
    costs, *others = whole(*given)
    return -np.arange(len(costs)) / 2, *others


@pytest.mark.parametrize("fault", [prices_in_another_order, prices_too_low])
def test_wrong_prices_leave_a_gap(monkeypatch, fault):
    monkeypatch.setattr(exact, "FEW", 1024)
    assert wrong_and_optimal(core.ExactRepresentatives(), PROBLEMS) == (0, 0)
    corrupt(monkeypatch, exact, "price_all", fault)
    wrong, certified = wrong_and_optimal(core.ExactRepresentatives(), PROBLEMS)
    assert wrong > len(PROBLEMS) / 3 and certified == 0


def unimproved_start(costs, begins):
    """The cheapest choices beside one candidate, as they are, priced by `total`."""
    unary, _, _, offsets = costs
    choices = np.array([part.argmin() for part in np.split(unary, offsets[1:-1])])
    first, member = begins[0]
    choices[first] = member
    return choices, branch_and_bound.total(costs, choices)


@pytest.mark.parametrize("share", [0.5, 0.0, -1.0])
def test_a_choice_priced_too_low_leaves_a_gap(monkeypatch, share):
    corrupt(monkeypatch, branch_and_bound, "total", lambda whole, *given: share * whole(*given))
    monkeypatch.setattr(local_search, "best_descent", unimproved_start)
    monkeypatch.setattr(branch_and_bound, "descend", lambda *given: given[0][0].copy())
    wrong, certified = wrong_and_optimal(core.ExactRepresentatives(starts=1), PROBLEMS)
    assert wrong and certified == 0


def test_starts_that_are_wrong_are_only_starts(monkeypatch):
    def worst(costs, begins):
        *_, offsets = costs
        return np.diff(offsets) - 1, 0.0

    monkeypatch.setattr(local_search, "best_descent", worst)
    assert wrong_and_optimal(core.ExactRepresentatives(), PROBLEMS) == (0, 0)
    assert wrong_and_optimal(core.LocalSearch(), PROBLEMS)[0] > 0


def alternatives_too_cheap(whole, *given):
    choices, cost = whole(*given)
    return choices, cost - abs(cost) / 2


def alternatives_that_are_the_choice(whole, costs, values, choices, *_):
    return choices, branch_and_bound.total(costs, choices)


def alternatives_unimproved(whole, costs, values, choices, i, candidate):
    choices = np.zeros_like(choices)
    choices[i] = candidate
    return choices, branch_and_bound.total(costs, choices)


@pytest.mark.parametrize(
    "fault", [alternatives_too_cheap, alternatives_that_are_the_choice, alternatives_unimproved]
)
def test_margins_do_not_believe_the_alternatives(monkeypatch, fault):
    corrupt(monkeypatch, margins, "beside", fault)
    for problem in PROBLEMS[:20]:
        solution = core.ExactRepresentatives().decode(problem)
        costs = priced(problem)
        for i, (margin, proven) in enumerate(
            zip(solution.margins, solution.exact_margins, strict=True)
        ):
            otherwise = float(min(c for x, c in costs.items() if x[i] != solution.choices[i]))
            true, slack = otherwise - float(min(costs.values())), 1e-6 * (1 + otherwise)
            assert abs(margin - true) <= slack if proven else margin <= true + slack


def decomposable_problems() -> list[core.RepresentativesProblem]:
    """Stars of five on a path: each set is a whole star, its centre in the middle."""
    problems = []
    for case in range(12):
        rng = np.random.default_rng(case)
        edges, sets = [], []
        for at in range(4):
            edges += [[5 * at, 5 * at + leaf] for leaf in range(1, 5)]
            sets.append(rng.permutation(np.arange(5 * at, 5 * at + 5)))
            if at:
                edges.append([5 * at - 5 + int(rng.integers(5)), 5 * at + int(rng.integers(5))])
        graph = ConceptGraph.from_edges(np.array(edges))
        problems.append(core.RepresentativesProblem.from_graph(graph, sets))
    return problems


@pytest.mark.parametrize("times", [-1, 0], ids=["far ends first", "nothing beyond"])
def test_the_bound_of_decomposable_is_its_own(monkeypatch, times):
    problems = decomposable_problems()
    assert all(core.Decomposable().decode(problem).certificate.is_optimal for problem in problems)
    corrupt(monkeypatch, decomposable, "_beyond", lambda whole, *given: times * whole(*given))
    wrong, certified = wrong_and_optimal(core.Decomposable(), problems)
    assert wrong > len(problems) / 2 and certified == 0
