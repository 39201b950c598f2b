"""Kernels that return what is wrong: none of it may be called optimal.

The kernel that finds the labels is made to lie, or a table by which it drops some, or the repair
or the bound. What is asked of certificates would fail if a decoder took its bound from its score.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

from spacy_decoders.arrays import read_only
from spacy_decoders.budget import Budget
from spacy_decoders.decoders.chain import Beam, ColumnGeneration, ForwardDominance, Viterbi, proof
from spacy_decoders.decoders.chain.published import column_generation
from spacy_decoders.errors import InfeasibleError, ProblemError

from . import faults
from .judge import ONE


@pytest.fixture(params=[(4, 0.0), (4, 0.3), (70, 0.0), (70, 0.3)], ids=str)
def case(request: pytest.FixtureRequest) -> faults.Case:
    return faults.Case.drawn(*request.param)


# --- wrong labels ------------------------------------------------------------


@faults.each_decoder
@pytest.mark.parametrize("wrong", {**faults.WRONG, **faults.IMPOSSIBLE})
def test_wrong_labels_are_noticed_and_repaired(monkeypatch, case, kernel, decoder, wrong):
    faults.corrupt(monkeypatch, case, kernel, {**faults.WRONG, **faults.IMPOSSIBLE}[wrong])
    if faults.kernel_for(kernel, case.model.size) == "kernels.dense":
        # which repairs, too: what is wrong stays so, and is not called optimal
        if wrong in faults.WRONG and not np.isneginf(case.model.transitions).any():
            solutions = case.decoded(decoder)
            assert case.optimal(solutions) == case.right(solutions)
        return
    solutions = case.decoded(decoder)
    assert all(case.optimal(solutions)) and all(case.right(solutions))


@faults.each_decoder
@pytest.mark.parametrize("wrong", faults.WRONG)
@pytest.mark.parametrize("size", [4, 70])
def test_wrong_labels_are_not_called_optimal(monkeypatch, kernel, decoder, wrong, size):
    case = faults.Case.drawn(size)
    faults.corrupt(monkeypatch, case, kernel, faults.WRONG[wrong])
    faults.no_repair(monkeypatch)
    solutions = case.decoded(decoder)
    assert case.optimal(solutions) == case.right(solutions) != [True] * len(faults.LENGTHS)


@faults.each_decoder
@pytest.mark.parametrize("wrong", faults.IMPOSSIBLE)
def test_labels_that_are_none_are_an_error(monkeypatch, case, kernel, decoder, wrong):
    faults.corrupt(monkeypatch, case, kernel, faults.IMPOSSIBLE[wrong])
    faults.no_repair(monkeypatch)
    with pytest.raises(ProblemError):
        list(case.decoded(decoder))


@pytest.mark.parametrize("width", [1, 3])
def test_a_beam_never_says_optimal(monkeypatch, width):
    case = faults.Case.drawn(70)
    faults.corrupt(monkeypatch, case, "published.kernels.beam", faults.WRONG["all others"])
    assert not any(case.optimal(case.decoded(Beam(width))))


@pytest.mark.parametrize(
    ("decoder", "budget"),
    [(ColumnGeneration(gap=0.5), Budget()), (ColumnGeneration(), Budget(iterations=1))],
    ids=["gap", "iterations"],
)
def test_columns_that_end_early_say_how_far(monkeypatch, decoder, budget):
    case = faults.Case.drawn(70)
    faults.corrupt(
        monkeypatch, case, "published.kernels.column_generation", faults.WRONG["all others"]
    )
    solutions = case.decoded(decoder, budget=budget)
    assert not any(case.optimal(solutions))
    assert {solution.certificate.status for solution in solutions} == {"bounded"}


# --- tables by which labels are dropped ----------------------------------------


@pytest.mark.parametrize("size", [4, 70])
def test_dropped_survivors_are_noticed(size):
    case = faults.Case.drawn(size)
    links = case.model.links
    links.gains[:], links.ready[:] = -1e6, 1  # nothing can gain on the pivot
    solutions = case.decoded(ForwardDominance())
    assert all(case.optimal(solutions)) and all(case.right(solutions))


@pytest.mark.parametrize("size", [4, 70])
@pytest.mark.parametrize("name", [name for name in faults.DECODERS if name[0] == "C"])
def test_false_extremes_of_the_transitions_are_noticed(monkeypatch, size, name):
    case = faults.Case.drawn(size)
    true = column_generation.largest_transitions(case.model)
    low = [read_only(np.full_like(of, -1e3)) for of in true]
    monkeypatch.setattr(column_generation, "largest_transitions", lambda model: low)
    solutions = case.decoded(faults.DECODERS[name][1])
    assert all(case.optimal(solutions)) and all(case.right(solutions))


# --- what is legal ---------------------------------------------------------------


@pytest.mark.parametrize(
    ("name", "dead_end"),
    [
        ("Viterbi", lambda _: (0, 0)),
        ("PrunedViterbi", lambda found: (found[0], True)),
        ("ColumnGeneration both", lambda found: (*found[:-1], np.arange(len(faults.LENGTHS)))),
    ],
)
def test_a_dead_end_that_is_none(monkeypatch, case, name, dead_end):
    kernel, decoder = faults.DECODERS[name]
    faults.corrupt(monkeypatch, case, kernel, faults.WRONG["all others"])
    faults.lie(monkeypatch, f"{kernel}.decode", lambda _, found: dead_end(found))
    assert all(case.optimal(case.decoded(decoder)))


@faults.each_decoder
def test_labels_where_none_is_legal(monkeypatch, kernel, decoder):
    case = faults.Case.drawn(70)
    home = faults.home_of(kernel)
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
        return true(*(given if faults.is_repair(kernel, given) else map(zeroed, given)))

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


def best_scores(case: faults.Case) -> np.ndarray:
    return np.array([judge.best.score / ONE for judge in case.judges])


@faults.each_decoder
@pytest.mark.parametrize("wrong", faults.WRONG)
@pytest.mark.parametrize("false", FALSE_BOUNDS)
def test_a_false_bound_makes_no_wrong_labels_optimal(monkeypatch, kernel, decoder, wrong, false):
    case = faults.Case.drawn(70)
    faults.corrupt(monkeypatch, case, kernel, faults.WRONG[wrong])
    faults.no_repair(monkeypatch)
    wanted = FALSE_BOUNDS[false](best_scores(case))
    faults.lie(monkeypatch, "kernels.dual.bounds", lambda _, it: np.full_like(it, wanted))
    solutions = case.decoded(decoder)
    optimal = [solution.certificate.is_optimal for solution in solutions]
    right = case.right(solutions)
    assert not all(right)
    assert all(best for best, claimed in zip(right, optimal, strict=True) if claimed)


@faults.each_decoder
@pytest.mark.parametrize("false", FALSE_BOUNDS)
@pytest.mark.parametrize("forbidden", [0.0, 0.3])
def test_a_false_bound_makes_right_labels_no_more_than_proven(
    monkeypatch, kernel, decoder, false, forbidden
):
    case = faults.Case.drawn(70, forbidden)
    wanted = FALSE_BOUNDS[false](best_scores(case))
    faults.lie(monkeypatch, "kernels.dual.bounds", lambda _, it: np.full_like(it, wanted))
    solutions = case.decoded(decoder)
    assert all(case.right(solutions))
    # one that is too large, or none, is computed again over all labels
    below = false in ("too low", "minus infinite")
    assert case.optimal(solutions) == [not below] * len(faults.LENGTHS)


@faults.each_decoder
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
    assert case.optimal(solutions) == [True] * len(faults.LENGTHS) == case.right(solutions)


@pytest.mark.parametrize("false", FALSE_BOUNDS)
def test_a_false_bound_over_all_labels_makes_nothing_optimal(monkeypatch, case, false):
    faults.corrupt(monkeypatch, case, faults.NARROW, faults.WRONG["one wrong back pointer"])
    faults.no_repair(monkeypatch)
    wanted = FALSE_BOUNDS[false](best_scores(case))

    def bounds(given: tuple[Any, ...], _: Any) -> None:
        given[-1][:] = wanted

    faults.lie(monkeypatch, "kernels.dense.bounds", bounds)
    try:
        certificates = [solution.certificate for solution in case.decoded(Viterbi())]
    except ProblemError:
        return  # there is no number to certify
    assert not any(certificate.is_optimal for certificate in certificates)
