"""What every path decoder promises of any problem, judged by exact arithmetic."""

from collections import Counter
from collections.abc import Iterator
from fractions import Fraction
from typing import NamedTuple
from unittest.mock import patch

import numpy as np
from hypothesis import strategies as st

from spacy_decoders import Budget, InfeasibleError, ProblemError, verify
from spacy_decoders.decoders import path as core
from spacy_decoders.decoders.path import exact_path
from tests.decoders.claims import check_claim
from tests.decoders.draws import EVERY_KIND, drawn
from tests.oracles import Path, all_paths

__all__ = ["Question", "check", "problems"]

DECODERS: dict[str, tuple[core.PathDecoder, Budget]] = {
    "ExactPath": (core.ExactPath(), Budget()),
    "ExactPath, 1 iteration": (core.ExactPath(), Budget(iterations=1)),
    "ExactPath, hardly any time": (core.ExactPath(), Budget(seconds=1e-9)),
    "Beam, wide": (core.Beam(10_000), Budget()),
    "Beam, wide, look-ahead": (core.Beam(10_000, lookahead=True), Budget()),
    "Beam": (core.Beam(2), Budget()),
    "Beam, look-ahead": (core.Beam(2, lookahead=True), Budget()),
    "ColorCoding": (core.ColorCoding(failure=0.5), Budget()),
    "ColorCoding, sure": (core.ColorCoding(failure=1e-9), Budget()),
    "ColorCoding, 2 iterations": (core.ColorCoding(failure=0.5), Budget(iterations=2)),
    "ColorCoding, hardly any time": (core.ColorCoding(), Budget(seconds=1e-9)),
}
#: Those that find the best paths, if they have the time.
COMPLETE = (core.ExactPath(), core.Beam(10_000), core.Beam(10_000, lookahead=True))
PROGRAMS = [
    core.IntegerProgram(solver, formulation)
    for solver in ("CBC", "HIGHS")
    for formulation in ("flow", "time_expanded")
]


class Question(NamedTuple):
    """A problem, and the length that is asked for."""

    problem: core.PathProblem
    length: int


@st.composite
def questions(draw: st.DrawFn) -> Question:
    """A problem small enough to enumerate."""
    n = draw(st.integers(1, 6))
    classes = draw(st.lists(st.integers(0, n), min_size=n, max_size=n))
    rng = np.random.default_rng(draw(st.integers(0, 2**32 - 1)))
    kind = st.sampled_from(EVERY_KIND)
    start, weights, end = (drawn(rng, draw(kind), shape) for shape in ((n,), (n, n), (n,)))
    problem = core.PathProblem(start, weights, end, np.array(classes))
    return Question(problem, draw(st.integers(1, min(n, 5))))


problems = questions()


def check(question: Question) -> Counter[str]:
    """Run every decoder on a problem; count the statuses, raise where a promise is broken."""
    known = all_paths(*question)
    program = PROGRAMS[(question.problem.size + question.length) % 4]
    met = check_program(question, program, known)
    for name, (decoder, budget) in DECODERS.items():
        met.update(f"{name} {status}" for status in _statuses(decoder, question, budget, known))
    with patch.object(exact_path, "FIRST_NODES", 1):  # small problems, too, go through all stages
        statuses = list(_statuses(core.ExactPath(), question, Budget(), known))
    met.update(f"ExactPath, in every stage {status}" for status in statuses)
    return met


def check_program(
    question: Question, decoder: core.IntegerProgram, known: list[Path]
) -> Counter[str]:
    """Run an integer program once: it takes longer, and refuses scores that are too large."""
    name = f"IntegerProgram, {decoder.solver}, {decoder.formulation}"
    try:
        solution = decoder.decode(*question)
    except InfeasibleError:
        assert not known, "called infeasible, but there is a path"
        return Counter([f"{name} infeasible"])
    except ProblemError:
        return Counter([f"{name} refused"])
    _check_solution(question.problem, solution, known)
    return Counter([f"{name} {solution.certificate.status}"])


def _statuses(
    decoder: core.PathDecoder, question: Question, budget: Budget, known: list[Path]
) -> Iterator[str]:
    problem, length = question
    try:
        solution = decoder.decode(problem, length, budget=budget)
    except InfeasibleError:
        assert not known, "called infeasible, but there is a path"
        yield "infeasible"
        return
    _check_solution(problem, solution, known)
    yield solution.certificate.status
    ranked = decoder.k_best(problem, length, 3, budget=budget)
    assert len({tuple(one.vertices.tolist()) for one in ranked}) == len(ranked)
    scores = [one.certificate.score for one in ranked]
    assert scores == sorted(scores, reverse=True)
    for one in ranked:
        _check_solution(problem, one, known)
    largest = _largest(problem)
    if decoder in COMPLETE and budget == Budget():
        _check_best(ranked, known, largest)
        _check_best(core.PathDecoder.k_best(decoder, problem, length, 3), known, largest)
    if isinstance(decoder, core.ColorCoding) and budget == Budget():
        share = solution.certificate.confidence
        assert share is None or share >= 1 - decoder.failure
        if decoder.failure < 1e-6 and largest < 100:
            assert share is not None
            _check_best([solution], known[:1], largest)
    several = decoder.decode_lengths(problem, [length, problem.size + 1], budget=budget)
    _check_solution(problem, several[0], known)
    assert several[1].certificate.status == "infeasible"


def _largest(problem: core.PathProblem) -> float:
    """The largest magnitude of a score: also where no path is legal, it rounds sums."""
    scores = np.concatenate([problem.start, problem.weights.ravel(), problem.end])
    return float(np.abs(scores[scores > -np.inf]).max(initial=0.0))


def _check_best(ranked: list[core.PathSolution], known: list[Path], largest: float) -> None:
    """Raise unless the paths are the best three."""
    assert len(ranked) == min(3, len(known))
    for one, truth in zip(ranked, known, strict=False):
        score = Fraction(one.certificate.score)
        assert abs(score - truth.worth) <= Fraction(1e-8) * (1 + Fraction(largest))
    if known and largest < 100 and ranked[0].certificate.decoder == "ExactPath":
        assert ranked[0].certificate.is_optimal


def _check_solution(
    problem: core.PathProblem, solution: core.PathSolution, known: list[Path]
) -> None:
    """Raise where a certificate claims what is not so."""
    path = tuple(solution.vertices.tolist())
    own = next((truth for truth in known if truth.vertices == path), None)
    assert own is not None, f"{path} is no legal path"
    best, scale = known[0].worth, float(own.scale)
    check_claim(solution.certificate, own.worth, best, scale, rounding=1e-15 * scale + 1e-300)
    assert verify(problem, solution).outcome != "refuted"
