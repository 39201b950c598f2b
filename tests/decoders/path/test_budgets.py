"""Limits of time on paths: what is done, and what is known, when too little is left."""

from functools import partial

import numpy as np
import pytest

from spacy_decoders import Budget, InfeasibleError
from spacy_decoders.decoders.path import (
    Beam,
    ColorCoding,
    ExactPath,
    IntegerProgram,
    PathDecoder,
    PathProblem,
    proof,
)
from spacy_decoders.decoders.path import lagrangian_search as lagrangian
from spacy_decoders.decoders.path import problem as problems
from spacy_decoders.decoders.path.published import integer_program
from spacy_decoders.errors import UndecidedError
from tests.decoders.draws import drawn
from tests.decoders.path.problems import assert_path, headline_like
from tests.oracles import all_paths

DECODERS = [ExactPath(), Beam(2, lookahead=True), ColorCoding(), IntegerProgram()]
each_decoder = pytest.mark.parametrize("decoder", DECODERS, ids=lambda d: type(d).__name__)


@pytest.fixture
def late(monkeypatch):
    """Tables take longer than there is time, and fail where they are made."""

    def made(*given):
        raise AssertionError("a table was made without time for it")

    for module, name in (
        (problems, "walk_bounds"),
        (lagrangian, "walk_bounds"),
        (lagrangian, "lagrangian_bounds"),
        (lagrangian, "search_once"),
        (proof, "bound_at_once"),
        (integer_program, "_time_expanded"),
    ):
        monkeypatch.setattr(module, name, made)
    monkeypatch.setattr(problems.PathProblem, "edges", property(made))
    monkeypatch.setattr(problems, "OVERTIME", 0.0)
    monkeypatch.setattr(problems, "EDGES", 1e9)
    monkeypatch.setattr(integer_program, "WRITING", 1e9)


@each_decoder
def test_tables_are_made_only_where_there_is_time(decoder, late, rng):
    found = 0
    for _ in range(100):
        n, length = rng.integers(1, 7), int(rng.integers(1, 5))
        kinds = rng.choice(["integers", "ties", "forbidden"], 3)
        scores = map(partial(drawn, rng), kinds, ((n,), (n, n), (n,)))
        problem = PathProblem(*scores, rng.integers(0, n, n))
        expected = all_paths(problem, length)
        try:
            solution = decoder.decode(problem, length, budget=Budget(seconds=1e3))
        except InfeasibleError:
            assert not expected
            continue
        assert_path(problem, length, solution)
        bound = solution.certificate.bound
        assert bound is None or bound >= expected[0].worth
        assert bound is not None or isinstance(decoder, ColorCoding)
        found += 1
    assert found > 20


def test_prices_end_with_the_time(monkeypatch, ticks):
    monkeypatch.setattr(lagrangian, "PAIRS_PER_CHECK", 1)  # a check of the clock at each step
    monkeypatch.setattr(problems, "OVERTIME", 0.0)
    problem = headline_like(np.random.default_rng(0), 40)
    best = ExactPath().decode(problem, 8).certificate.score
    for seconds in (3.5, 6.5, 12.5, 30.5):
        begun = next(ticks)
        found = ExactPath().decode(problem, 8, budget=Budget(seconds=seconds))
        assert next(ticks) - begun < seconds + 30
        assert found.certificate.score <= best + 1e-9 <= found.certificate.bound + 2e-9


@pytest.mark.parametrize("seconds", [0.5, 20.5, 40.5])
def test_the_limit_is_for_all_paths_of_a_ranking(ticks, seconds):
    problem = headline_like(np.random.default_rng(0), 20)
    begun = next(ticks)
    found = PathDecoder.k_best(ExactPath(), problem, 4, 50, budget=Budget(seconds=seconds))
    assert next(ticks) - begun < seconds + 60
    assert 1 <= len(found) < 50
    scores = [solution.certificate.score for solution in found]
    assert scores == sorted(scores, reverse=True)


@pytest.fixture
def hidden():
    """Only 0 1 ... 9 is legal; better walks among 50 vertices of six classes lead nowhere."""
    weights, start, end = np.full((60, 60), -np.inf), np.full(60, -np.inf), np.full(60, -np.inf)
    weights[range(9), range(1, 10)] = start[0] = end[9] = 0.0
    weights[10:, 10:] = weights[0, 10:] = weights[10:, 9] = 1.0
    return PathProblem(start, weights, end, [*range(10), *(10 + np.arange(50) % 6)])


@each_decoder
def test_nothing_is_called_infeasible_without_proof(hidden, ticks, decoder):
    limits = [Budget(seconds=3.5), Budget(iterations=1)]
    for budget in limits[: 1 if isinstance(decoder, ColorCoding) else 2]:  # one colouring finds it
        with pytest.raises(UndecidedError, match="there may be one"):
            decoder.decode(hidden, 10, budget=budget)
        with pytest.raises(UndecidedError):
            decoder.k_best(hidden, 10, 2, budget=budget)
        one, none = (
            x.certificate for x in decoder.decode_lengths(hidden, [10, 40], budget=budget)
        )
        assert (one.status, one.score, none.status) == ("heuristic", None, "infeasible")
