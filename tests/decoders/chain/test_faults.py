"""Kernels that return what is wrong: none of it may be called optimal.

The kernel that finds the labels is made to lie, or a table by which it drops some, or the repair
or the bound. What is asked of certificates would fail if a decoder took its bound from its score.
"""

from __future__ import annotations

from collections.abc import Callable
from functools import cache
from importlib import import_module
from typing import Any, NamedTuple

import numpy as np
import pytest

from spacy_decoders.arrays import read_only
from spacy_decoders.budget import Budget
from spacy_decoders.decoders.chain import (
    Beam,
    ChainDecoder,
    ChainModel,
    ChainSolution,
    ColumnGeneration,
    ForwardDominance,
    PrunedViterbi,
    Viterbi,
    k_best,
    max_marginal_margins,
    proof,
    zero_one_oracle,
)
from spacy_decoders.decoders.chain.kernels.layout import LANES
from spacy_decoders.decoders.chain.published.label_trees import LabelTree
from spacy_decoders.errors import DecodersError, InfeasibleError, ProblemError

from .judge import ONE, Chain, Judge
from .promises import check_solution

LENGTHS = [4, 1, 3]

#: The dense kernel where it decodes in float32: in float64 it repairs what others find.
IN_FLOAT32 = " in float32"
NARROW = "kernels.dense" + IN_FLOAT32

#: Each decoder that promises the best, with the module of its kernel.
DECODERS: dict[str, tuple[str, ChainDecoder]] = {
    "Viterbi": (NARROW, Viterbi()),
    "PrunedViterbi": ("published.kernels.beam", PrunedViterbi()),
    "ForwardDominance": ("kernels.search", ForwardDominance()),
    "ColumnGeneration both": ("published.kernels.column_generation", ColumnGeneration()),
    "ColumnGeneration left": (
        "published.kernels.column_generation",
        ColumnGeneration(reduced_cost="left"),
    ),
    "ColumnGeneration split": (
        "published.kernels.column_generation",
        ColumnGeneration(reduced_cost="split"),
    ),
}
each_decoder = pytest.mark.parametrize(("kernel", "decoder"), DECODERS.values(), ids=DECODERS)

#: Labels that are wrong, made from the right ones and the number of labels.
WRONG: dict[str, Callable[[np.ndarray, int], np.ndarray]] = {
    "one label everywhere": lambda labels, size: np.full_like(labels, labels[0]),
    "all others": lambda labels, size: (labels + 1) % size,
    "one wrong back pointer": lambda labels, size: np.r_[(labels[0] + 1) % size, labels[1:]],
    "a token late": lambda labels, size: np.roll(labels, 1),
}
IMPOSSIBLE: dict[str, Callable[[np.ndarray, int], np.ndarray]] = {
    "too large": lambda labels, size: labels + size,
    "negative": lambda labels, size: labels - size,
}


class Case(NamedTuple):
    """A batch whose sentences have one best labelling each, and their judges."""

    model: ChainModel
    emissions: np.ndarray
    judges: list[Judge]

    @classmethod
    def drawn(cls, size: int, forbidden: float = 0.0) -> Case:
        chain, judges = drawn(size, forbidden)
        # tests change the tables of a model, and emissions
        return cls(ChainModel(*chain[:3]), chain.emissions.copy(), judges)

    def decoded(self, decoder: ChainDecoder, **options: Any) -> list[ChainSolution]:
        return decoder.decode_batch(self.model, self.emissions, LENGTHS, **options)

    def optimal(self, solutions: list[ChainSolution]) -> list[bool]:
        """Check all certificates; return which of them say optimal."""
        for judge, solution in zip(self.judges, solutions, strict=True):
            check_solution(judge, judge.best, solution)
        return [solution.certificate.is_optimal for solution in solutions]

    def right(self, solutions: list[ChainSolution]) -> list[bool]:
        """Return which labellings are best."""
        return [
            judge.labelling(tuple(solution.labels.tolist())).score == judge.best.score
            for judge, solution in zip(self.judges, solutions, strict=True)
        ]


@cache
def drawn(size: int, forbidden: float) -> tuple[Chain, list[Judge]]:
    """Draw the scores of a batch, and judge its sentences."""
    rng = np.random.default_rng(size)
    links = rng.normal(size=(size, size)).astype(np.float32)
    links[rng.random(links.shape) < forbidden] = -np.inf
    start, end = rng.normal(size=(2, size)).astype(np.float32)
    emissions = rng.normal(size=(sum(LENGTHS), size)).astype(np.float32)
    rows = np.split(emissions, np.cumsum(LENGTHS)[:-1])
    return (
        Chain(links, start, end, emissions),
        [Judge(Chain(links, start, end, part)) for part in rows],
    )


@pytest.fixture(params=[(4, 0.0), (4, 0.3), (70, 0.0), (70, 0.3)], ids=str)
def case(request: pytest.FixtureRequest) -> Case:
    return Case.drawn(*request.param)


#: Kernels that leave sentences to others: which of their results lists these.
LEAVES = {
    "kernels.search": 1,
    "published.kernels.column_generation": 2,
}


def lie(monkeypatch, place: str, change: Callable[[tuple[Any, ...], Any], Any]) -> None:
    """Let a function of the chain core return what `change` makes of arguments and result."""
    module, name = place.rsplit(".", 1)
    home = home_of(module)
    true = getattr(home, name)

    def lying(*given: Any) -> Any:
        result = true(*given)
        return result if is_repair(module, given) else change(given, result)

    monkeypatch.setattr(home, name, lying)


def home_of(kernel: str) -> Any:
    """Return the module of a kernel."""
    return import_module(f"spacy_decoders.decoders.chain.{kernel.removesuffix(IN_FLOAT32)}")


def is_repair(kernel: str, given: tuple[Any, ...]) -> bool:
    """Return whether this is the call in float64 that repairs what the kernel has found."""
    return kernel.endswith(IN_FLOAT32) and given[-2].dtype == np.float64


def kernel_for(kernel: str, size: int) -> str:
    """Return which kernel stands in for forward dominance over so few labels."""
    return "kernels.dense" if kernel == "kernels.search" and size <= LANES else kernel


def corrupt(monkeypatch, case: Case, kernel: str, change: Any) -> None:
    """Let a kernel return other labels, and say that all is well."""
    kernel = kernel_for(kernel, case.model.size)

    def corrupted(given: tuple[Any, ...], result: Any) -> Any:
        # it returns the labels, or fills in its last argument
        fills = not isinstance(result, tuple) or isinstance(result[0], int)
        labels = given[-1] if fills else result[0]
        labels[:] = change(labels.copy(), case.model.size)
        if kernel in LEAVES:  # nor does it leave any sentence to others
            left = LEAVES[kernel]
            return (*result[:left], result[left][:0], *result[left + 1 :])
        return result

    lie(monkeypatch, f"{kernel}.decode", corrupted)


def no_repair(monkeypatch) -> None:
    """Let the fallback in float64 leave the labels as they are."""
    monkeypatch.setattr("spacy_decoders.decoders.chain.proof.decode_exactly", lambda *given: None)


# --- wrong labels ------------------------------------------------------------


@each_decoder
@pytest.mark.parametrize("wrong", {**WRONG, **IMPOSSIBLE})
def test_wrong_labels_are_noticed_and_repaired(monkeypatch, case, kernel, decoder, wrong):
    corrupt(monkeypatch, case, kernel, {**WRONG, **IMPOSSIBLE}[wrong])
    if kernel_for(kernel, case.model.size) == "kernels.dense":
        # which repairs, too: what is wrong stays so, and is not called optimal
        if wrong in WRONG and not case.model.has_forbidden:
            solutions = case.decoded(decoder)
            assert case.optimal(solutions) == case.right(solutions)
        return
    solutions = case.decoded(decoder)
    assert all(case.optimal(solutions)) and all(case.right(solutions))


@each_decoder
@pytest.mark.parametrize("wrong", WRONG)
@pytest.mark.parametrize("size", [4, 70])
def test_wrong_labels_are_not_called_optimal(monkeypatch, kernel, decoder, wrong, size):
    case = Case.drawn(size)
    corrupt(monkeypatch, case, kernel, WRONG[wrong])
    no_repair(monkeypatch)
    solutions = case.decoded(decoder)
    assert case.optimal(solutions) == case.right(solutions) != [True] * len(LENGTHS)


@each_decoder
@pytest.mark.parametrize("wrong", IMPOSSIBLE)
def test_labels_that_are_none_are_an_error(monkeypatch, case, kernel, decoder, wrong):
    corrupt(monkeypatch, case, kernel, IMPOSSIBLE[wrong])
    no_repair(monkeypatch)
    with pytest.raises(ProblemError):
        list(case.decoded(decoder))


@pytest.mark.parametrize("width", [1, 3])
def test_a_beam_never_says_optimal(monkeypatch, width):
    case = Case.drawn(70)
    corrupt(monkeypatch, case, "published.kernels.beam", WRONG["all others"])
    assert not any(case.optimal(case.decoded(Beam(width))))


@pytest.mark.parametrize(
    ("decoder", "budget"),
    [
        (ColumnGeneration(gap=0.5), Budget()),
        (ColumnGeneration(), Budget(iterations=1)),
    ],
    ids=["gap", "iterations"],
)
def test_columns_that_end_early_say_how_far(monkeypatch, decoder, budget):
    case = Case.drawn(70)
    corrupt(monkeypatch, case, "published.kernels.column_generation", WRONG["all others"])
    solutions = case.decoded(decoder, budget=budget)
    assert not any(case.optimal(solutions))
    assert {solution.certificate.status for solution in solutions} == {"bounded"}


# --- tables by which labels are dropped ----------------------------------------


@pytest.mark.parametrize("size", [4, 70])
def test_dropped_survivors_are_noticed(size):
    case = Case.drawn(size)
    links = case.model.links
    links.gains[:], links.ready[:] = -1e6, 1  # nothing can gain on the pivot
    solutions = case.decoded(ForwardDominance())
    assert all(case.optimal(solutions)) and all(case.right(solutions))


@pytest.mark.parametrize("size", [4, 70])
@pytest.mark.parametrize("name", [name for name in DECODERS if name[0] == "C"])
def test_false_extremes_of_the_transitions_are_noticed(size, name):
    case = Case.drawn(size)
    low = read_only(np.full_like(case.model.bounds.most_in, -1e3))
    case.model.__dict__["bounds"] = type(case.model.bounds)(low, low)
    solutions = case.decoded(DECODERS[name][1])
    assert all(case.optimal(solutions)) and all(case.right(solutions))


# --- what is legal ---------------------------------------------------------------


@pytest.mark.parametrize(
    ("name", "dead_end"),
    [
        ("Viterbi", lambda _: (0, 0)),
        ("PrunedViterbi", lambda found: (found[0], True)),
        ("ColumnGeneration both", lambda found: (*found[:-1], np.arange(len(LENGTHS)))),
    ],
)
def test_a_dead_end_that_is_none(monkeypatch, case, name, dead_end):
    kernel, decoder = DECODERS[name]
    corrupt(monkeypatch, case, kernel, WRONG["all others"])
    lie(monkeypatch, f"{kernel}.decode", lambda _, found: dead_end(found))
    assert all(case.optimal(case.decoded(decoder)))


@each_decoder
def test_labels_where_none_is_legal(monkeypatch, kernel, decoder):
    case = Case.drawn(70)
    home = home_of(kernel)
    true = home.decode

    def zeroed(given: Any) -> Any:
        if hasattr(given, "emissions"):
            return given._replace(emissions=zeroed(given.emissions))
        is_emissions = isinstance(given, np.ndarray) and given.size == case.emissions.size
        if not is_emissions:
            return given
        zeros = np.zeros_like(given)
        # the kernel is compiled already for arrays that can, or can't, be written to
        return zeros if given.flags.writeable else read_only(zeros)

    def decode(*given: Any) -> Any:
        # as if all emissions were 0
        return true(*(given if is_repair(kernel, given) else map(zeroed, given)))

    monkeypatch.setattr(home, "decode", decode)
    case.emissions[2] = -np.inf
    with pytest.raises(InfeasibleError, match=r"sentence 0: .* token 2 of 4"):
        case.decoded(decoder)


# --- false bounds ----------------------------------------------------------------


#: Bounds that are false or say nothing, made from the best scores.
FALSE_BOUNDS: dict[str, Callable[[np.ndarray], Any]] = {
    "too low": lambda best: best - 1.0,
    "minus infinite": lambda best: -np.inf,
    "no number": lambda best: np.nan,
    "infinite": lambda best: np.inf,
    "too high": lambda best: best + 1.0,
}


def best_scores(case: Case) -> np.ndarray:
    return np.array([judge.best.score / ONE for judge in case.judges])


@each_decoder
@pytest.mark.parametrize("wrong", WRONG)
@pytest.mark.parametrize("false", FALSE_BOUNDS)
def test_a_false_bound_makes_no_wrong_labels_optimal(monkeypatch, kernel, decoder, wrong, false):
    case = Case.drawn(70)
    corrupt(monkeypatch, case, kernel, WRONG[wrong])
    no_repair(monkeypatch)
    wanted = FALSE_BOUNDS[false](best_scores(case))
    lie(monkeypatch, "kernels.dual.bounds", lambda _, it: np.full_like(it, wanted))
    solutions = case.decoded(decoder)
    optimal = [solution.certificate.is_optimal for solution in solutions]
    right = case.right(solutions)
    assert not all(right)
    assert all(best for best, claimed in zip(right, optimal, strict=True) if claimed)


@each_decoder
@pytest.mark.parametrize("false", FALSE_BOUNDS)
@pytest.mark.parametrize("forbidden", [0.0, 0.3])
def test_a_false_bound_makes_right_labels_no_more_than_proven(
    monkeypatch, kernel, decoder, false, forbidden
):
    case = Case.drawn(70, forbidden)
    wanted = FALSE_BOUNDS[false](best_scores(case))
    lie(monkeypatch, "kernels.dual.bounds", lambda _, it: np.full_like(it, wanted))
    solutions = case.decoded(decoder)
    assert all(case.right(solutions))
    # one that is too large, or none, is computed again over all labels
    below = false in ("too low", "minus infinite")
    assert case.optimal(solutions) == [not below] * len(LENGTHS)


@each_decoder
@pytest.mark.parametrize("repairs", [True, False])
def test_a_search_that_takes_its_first_labels_for_proven(
    monkeypatch, case, kernel, decoder, repairs
):
    """The most plausible lie of a search: its incumbent's own score is the bound."""
    rows = np.split(case.emissions, np.cumsum(LENGTHS)[:-1])
    first = [Beam(1).decode(case.model, part).labels for part in rows]
    corrupt(monkeypatch, case, kernel, lambda labels, size: np.concatenate(first))
    if not repairs:
        no_repair(monkeypatch)
    solutions = case.decoded(decoder)
    assert case.optimal(solutions) == case.right(solutions)
    assert all(case.right(solutions)) == repairs or case.model.size == 4


@each_decoder
@pytest.mark.parametrize("seconds", [None, 60.0])
def test_a_proof_that_takes_the_score_for_the_bound(monkeypatch, case, kernel, decoder, seconds):
    """The most plausible lie of a proof: what it calls optimal is right, since the search is."""
    true = proof.proof_of

    def proof_of(*given):
        proof = true(*given)
        return proof._replace(bounds=proof.scores)

    monkeypatch.setattr(proof, "proof_of", proof_of)
    monkeypatch.setattr("spacy_decoders.decoders.chain.forward_dominance.proof_of", proof_of)
    solutions = case.decoded(decoder, budget=Budget(seconds=seconds))
    assert case.optimal(solutions) == [True] * len(LENGTHS) == case.right(solutions)


@pytest.mark.parametrize("false", FALSE_BOUNDS)
def test_a_false_bound_over_all_labels_makes_nothing_optimal(monkeypatch, case, false):
    corrupt(monkeypatch, case, NARROW, WRONG["one wrong back pointer"])
    no_repair(monkeypatch)
    wanted = FALSE_BOUNDS[false](best_scores(case))

    def bounds(given: tuple[Any, ...], _: Any) -> None:
        given[-1][:] = wanted

    lie(monkeypatch, "kernels.dense.bounds", bounds)
    try:
        certificates = [solution.certificate for solution in case.decoded(Viterbi())]
    except ProblemError:
        return  # there is no number to certify
    assert not any(certificate.is_optimal for certificate in certificates)


# --- rankings, rivals and trees ----------------------------------------------------


def lose_the_best(monkeypatch) -> None:
    """Let a ranking begin with the second best."""
    lattice = home_of("kernels.lattice")
    true = lattice.k_best

    def later(*given: Any) -> Any:
        *rest, k, share = given
        return true(*rest, k + 1, share)[1:]

    monkeypatch.setattr(lattice, "k_best", later)


@pytest.mark.parametrize("size", [4, 70])
def test_a_ranking_without_the_best_is_not_led_by_an_optimal_one(monkeypatch, size):
    case = Case.drawn(size)
    lose_the_best(monkeypatch)
    found = k_best(case.model, case.emissions[:4], 4)
    for solution in found:
        check_solution(case.judges[0], case.judges[0].best, solution)
    assert [solution.certificate.status for solution in found] == ["bounded"] * 4


@pytest.mark.parametrize("size", [4, 70])
def test_a_rival_that_is_not_the_best_is_not_optimal(monkeypatch, size):
    case, rows = Case.drawn(size), slice(0, 4)
    judge = case.judges[0]
    gold = Viterbi().decode(case.model, case.emissions[rows]).labels
    lose_the_best(monkeypatch)
    found = zero_one_oracle(case.model, case.emissions[rows], (gold + 1) % size)
    rival = judge.best_but(tuple(((gold + 1) % size).tolist()))
    check_solution(judge, rival, found)
    assert not found.certificate.is_optimal


@pytest.mark.parametrize("wrong", IMPOSSIBLE)
@pytest.mark.parametrize("size", [4, 70])
def test_labels_that_are_none_lead_no_ranking(monkeypatch, wrong, size):
    case = Case.drawn(size)
    labels = IMPOSSIBLE[wrong](Viterbi().decode(case.model, case.emissions[:4]).labels, size)
    monkeypatch.setattr(ForwardDominance, "_search", lambda *_: labels)
    no_repair(monkeypatch)
    # the kernel would read beyond its arrays
    monkeypatch.setattr("spacy_decoders.decoders.chain.kernels.lattice.k_best", None)
    with pytest.raises(DecodersError, match="is none"):
        k_best(case.model, case.emissions[:4], 2)
    with pytest.raises(DecodersError, match="is none"):
        zero_one_oracle(case.model, case.emissions[:4], [0, 0, 0, 0])
    assert np.isnan(max_marginal_margins(case.model, case.emissions[:4])).all()


@pytest.mark.parametrize("size", [4, 70])
@pytest.mark.parametrize("is_legal", [True, False])
def test_margins_beside_labels_that_are_not_proven_are_none(monkeypatch, size, is_legal):
    case = Case.drawn(size)
    labels = ForwardDominance().decode_batch(case.model, case.emissions, LENGTHS).labels.copy()
    labels[0] = (labels[0] + 1) % size
    if not is_legal:
        case.emissions[0, labels[0]] = -np.inf
    right = max_marginal_margins(case.model, case.emissions, LENGTHS)
    no_repair(monkeypatch)
    monkeypatch.setattr(ForwardDominance, "_search", lambda *_: labels)
    found = max_marginal_margins(case.model, case.emissions, LENGTHS, cap=100.0)
    assert np.isnan(found[: LENGTHS[0]]).all()
    assert np.array_equal(found[LENGTHS[0] :], right[LENGTHS[0] :])


@pytest.mark.parametrize("kept", [[], [0], [0, 0, 0]])
@pytest.mark.parametrize("forbidden", [0.0, 0.3])
def test_labellings_that_are_lost_are_missed(monkeypatch, kept, forbidden):
    case = Case.drawn(4, forbidden)
    rows = case.emissions[:3]
    gold = Viterbi().decode(case.model, rows).labels
    lie(monkeypatch, "kernels.lattice.k_best", lambda _, paths: paths[kept])
    with pytest.raises(DecodersError, match="were found of more"):
        k_best(case.model, rows, 3)
    with pytest.raises(DecodersError, match="were found of more"):
        zero_one_oracle(case.model, rows, gold)


def test_rivals_are_bounded_though_the_best_is_lost(monkeypatch):
    case = Case.drawn(4)
    first, second = k_best(case.model, case.emissions[:4], 2)
    lose_the_best(monkeypatch)
    found = zero_one_oracle(case.model, case.emissions[:4], second.labels)
    assert found.certificate.bound >= first.certificate.score


def test_a_false_bound_on_others_makes_none_optimal(monkeypatch):
    case = Case.drawn(4)
    gold = Viterbi().decode(case.model, case.emissions[:4]).labels
    lie(monkeypatch, "published.zero_one._bound_on_others", lambda _, bound: bound - 1.0)
    found = zero_one_oracle(case.model, case.emissions[:4], gold)
    assert not found.certificate.is_optimal


@pytest.mark.parametrize("decoder", [Viterbi(), ColumnGeneration()], ids=["dense", "columns"])
def test_trees_with_wrong_labels_or_false_bounds(monkeypatch, decoder):
    case, parents = Case.drawn(4), [-1, 0, 0, 1, 1, 2, -1, 6]
    right = decoder.decode_tree(case.model, case.emissions, parents)
    assert right.certificate.is_optimal
    with monkeypatch.context() as patched:
        patched.setattr(LabelTree, "_bound", lambda tree: right.certificate.score - 1.0)
        found = decoder.decode_tree(case.model, case.emissions, parents)
        assert not found.certificate.is_optimal
    true = LabelTree._labels
    monkeypatch.setattr(LabelTree, "_labels", lambda *given: (true(*given) + 1) % 4)
    found = decoder.decode_tree(case.model, case.emissions, parents)
    assert found.certificate.status == "bounded"
