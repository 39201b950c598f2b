"""A loop that errs, or a solver that lies, must not pass for a proof."""

from dataclasses import replace
from functools import partial

import numpy as np
import pytest

from spacy_decoders import Budget, InfeasibleError
from spacy_decoders.arrays import read_only
from spacy_decoders.decoders import path as core
from spacy_decoders.decoders.path import beam, exact_path, lagrangian_search, proof
from spacy_decoders.decoders.path import problem as path_problems
from spacy_decoders.decoders.path.kernels.walks import Graph
from spacy_decoders.decoders.path.published import color_coding
from spacy_decoders.decoders.programs import IntegerSolution, LinearProgram, SolverError
from spacy_decoders.errors import DecodersError
from tests.decoders.path.problems import headline_like, symmetric

LENGTH = 5
EDGES = ("edges", "reversed_edges")


@pytest.fixture
def problem():
    return symmetric(np.random.default_rng(0), 14)


@pytest.fixture
def optimum(problem):
    return core.ExactPath().decode(problem, LENGTH)


def assert_not_fooled(decoder, problem, optimum, length=LENGTH):
    """It raises, or what it calls optimal is, and what it calls a bound is one."""
    best = optimum.certificate.score
    try:
        solution = decoder.decode(problem, length)
    except DecodersError as error:
        assert not isinstance(error, InfeasibleError)
        return
    certificate = solution.certificate
    assert certificate.score == problem.score(solution.vertices)
    if certificate.status == "optimal":
        assert best - certificate.score <= 1e-9
    assert certificate.bound is None or certificate.bound >= best
    assert certificate.score < best - 1e-9, "the fault had no effect"


# what is changed is read-only as the kernels are given it, lest they be compiled for it anew


def without(vertex, scores):
    """The scores of vertices or edges, but for those that have to do with a vertex."""
    cut = np.array(scores)
    cut[vertex] = cut[..., vertex] = -np.inf
    return read_only(cut)


def dropping(kernel, vertex, arrays, *given):
    """Run a kernel that never comes to a vertex: its edges are lost on the way."""
    graph = Graph(*arrays)
    changed = {name: without(vertex, getattr(graph, name)) for name in ("start", *EDGES)}
    return kernel(tuple(graph._replace(**changed)), *given)


def without_starting_at(kernel, vertex, graph, *given):
    """Run a kernel whose graph has neither a way to a vertex nor a start there."""
    begin, edges = without(vertex, graph.start), without(vertex, graph.edges)
    return kernel(graph._replace(start=begin, edges=edges), *given)


def lose(monkeypatch, optimum, module, name, faulty=dropping):
    """Let a kernel lose a vertex of the best path."""
    kernel, vertex = getattr(module, name), int(optimum.vertices[2])
    monkeypatch.setattr(module, name, partial(faulty, kernel, vertex))


def test_a_search_that_drops_a_vertex(monkeypatch, problem, optimum):
    lose(monkeypatch, optimum, lagrangian_search, "search_once")
    assert_not_fooled(core.ExactPath(), problem, optimum)


def test_a_search_that_finds_nothing(monkeypatch, problem, optimum):
    monkeypatch.setattr(lagrangian_search, "search_once", lambda *_: -np.inf)
    certificate = core.ExactPath().decode(problem, LENGTH).certificate
    # the path comes from the proof's own search, which is then no proof of it
    assert certificate.status == "bounded"
    assert certificate.bound >= optimum.certificate.score


def test_a_walk_table_that_is_too_low(monkeypatch, problem, optimum):
    # every look ahead misses a vertex, and so do the paths that are found by it
    lost = int(optimum.vertices[2])
    walks = lagrangian_search.walk_bounds

    def too_low(arcs, last, prices, steps):
        return walks(without(lost, arcs), without(lost, last), prices, steps)

    _in_the_search_alone(monkeypatch, path_problems, "walk_bounds", too_low)
    _in_the_search_alone(monkeypatch, lagrangian_search, "walk_bounds", too_low)
    for decoder in (core.ExactPath(), core.Beam(80, lookahead=True)):
        assert_not_fooled(decoder, problem, optimum)


def _in_the_search_alone(monkeypatch, module, name, faulty):
    """Let a kernel err in the search for paths, and not in the reversed search."""
    right, bound = getattr(module, name), exact_path.full_bound

    def from_behind(*given, **options):
        setattr(module, name, right)
        try:
            return bound(*given, **options)
        finally:
            setattr(module, name, faulty)

    monkeypatch.setattr(module, name, faulty)
    monkeypatch.setattr(exact_path, "full_bound", from_behind)


def test_prices_that_close_the_gap_too_early(monkeypatch):
    problem, length = symmetric(np.random.default_rng(0), 40), 8
    optimum = core.ExactPath().decode(problem, length)
    _only_poor_beams(monkeypatch, optimum)
    monkeypatch.setattr(lagrangian_search, "lagrangian_bounds", lambda *_: -np.inf)
    assert_not_fooled(core.ExactPath(), problem, optimum, length)


def test_a_long_search_that_drops_a_vertex(monkeypatch):
    problem, length = symmetric(np.random.default_rng(2), 40), 8
    optimum = core.ExactPath().decode(problem, length)
    _only_poor_beams(monkeypatch, optimum)
    lost = int(optimum.vertices[2])
    faulty = partial(without_starting_at, lagrangian_search.search, lost)
    _in_the_search_alone(monkeypatch, lagrangian_search, "search", faulty)
    assert_not_fooled(core.ExactPath(), problem, optimum, length)


def test_colorings_that_lose_a_vertex(monkeypatch, problem, optimum):
    lose(monkeypatch, optimum, color_coding, "best_colorful", without_starting_at)
    assert_not_fooled(core.ColorCoding(colors=14), problem, optimum)


def _lose_all_sets(monkeypatch):
    """Let tables over sets of colours come to their end and have seen no path."""
    monkeypatch.setattr(color_coding, "best_colorful", lambda *_: False)


def _only_poor_beams(monkeypatch, optimum):
    """Let beams and short searches miss the optimum."""
    beams = lagrangian_search.beam
    for vertex in optimum.vertices.tolist()[::2]:
        beams = partial(dropping, beams, vertex)
    monkeypatch.setattr(lagrangian_search, "beam", beams)
    monkeypatch.setattr(exact_path, "FIRST_NODES", 10)


@pytest.mark.parametrize("decoder", [core.ExactPath(), core.Beam(3), core.Beam(3, lookahead=True)])
def test_a_beam_or_a_walk_whose_path_is_wrong(monkeypatch, decoder, problem):
    # the path is swapped for another; what the loop says it is worth is that of the best
    optimum = core.ExactPath().decode(problem, LENGTH)
    swapped = np.array([v for v in range(14) if v not in optimum.vertices][:LENGTH])

    def wrong(*given):
        return np.array([optimum.certificate.score]), swapped[None].astype(np.int32)

    for module in (lagrangian_search, beam):
        monkeypatch.setattr(module, "beam", wrong)
    found = partial(_finds, swapped, optimum.certificate.score)
    monkeypatch.setattr(lagrangian_search, "search_once", found)
    assert_not_fooled(decoder, problem, optimum)


def _finds(path, score, arrays, bounds, prices, ranking, *limits):
    """Stand in for a search: it finds that path, and says that it is worth so much."""
    scores, paths = ranking
    scores[0], paths[0] = score, path
    return -np.inf


@pytest.mark.parametrize("path", [[0, 1, 0, 2, 3], [0, 0, 0, 0, 0], [0, -1, 1, 2, 3]])
def test_a_path_that_is_none(monkeypatch, path, problem):
    monkeypatch.setattr(lagrangian_search, "search_once", partial(_finds, path, 9.0))
    with pytest.raises(DecodersError, match="without a class twice"):
        core.ExactPath().decode(problem, LENGTH)


def test_a_forbidden_edge_on_the_path(monkeypatch):
    weights = np.ones((4, 4))
    weights[0, 1] = -np.inf
    problem = core.PathProblem(np.zeros(4), weights, np.zeros(4), np.arange(4))
    monkeypatch.setattr(lagrangian_search, "search_once", partial(_finds, [0, 1, 2], 9.0))
    with pytest.raises(DecodersError, match="forbidden start"):
        core.ExactPath().decode(problem, 3)


def test_a_proof_whose_bound_lies_below_the_score(monkeypatch, problem):
    for lie in (-np.inf, 0.0):
        monkeypatch.setattr(proof, "bound_at_once", lambda *_, lie=lie: lie)
        for decoder in (core.ExactPath(), core.Beam(lookahead=True), core.ColorCoding(colors=14)):
            certificate = decoder.decode(problem, LENGTH).certificate
            assert certificate.status in ("heuristic", "probable")
            assert certificate.bound is None


def test_a_proof_that_drops_a_vertex(monkeypatch, problem, optimum):
    lose(monkeypatch, optimum, proof, "bound_at_once")
    for decoder in (core.ExactPath(), core.ColorCoding(colors=14)):
        certificate = decoder.decode(problem, LENGTH).certificate
        assert certificate.status in ("heuristic", "probable")
        assert certificate.score == optimum.certificate.score


def test_a_rank_that_is_lost_leaves_the_first_without_proof(monkeypatch, problem, optimum):
    lose(monkeypatch, optimum, lagrangian_search, "search_once")
    ranked = core.ExactPath().k_best(problem, LENGTH, 5)
    assert {solution.certificate.status for solution in ranked} == {"bounded"}
    assert all(s.certificate.bound >= optimum.certificate.score for s in ranked)


class Lying:
    """What a solver may say that is not so."""

    @staticmethod
    def infeasible(program, clock=None):
        raise InfeasibleError("No point satisfies all rows of the program.")

    @staticmethod
    def failing(program, clock=None):
        raise SolverError("The solver returned a point that breaks row 3.")

    @staticmethod
    def nothing(program, clock=None):
        return IntegerSolution(np.zeros(program.column_count), proven=True)


@pytest.mark.parametrize("lie", [Lying.infeasible, Lying.failing, Lying.nothing])
@pytest.mark.parametrize("formulation", ["flow", "time_expanded"])
def test_a_solver_that_finds_nothing(monkeypatch, lie, formulation):
    problem = headline_like(np.random.default_rng(0), 12)
    best = core.ExactPath().decode(problem, 4)
    monkeypatch.setattr(LinearProgram, "solve", lie)
    solution = core.IntegerProgram(formulation=formulation).decode(problem, 4)
    assert solution.certificate.score <= best.certificate.score
    assert solution.certificate.bound >= best.certificate.score


@pytest.mark.parametrize("formulation", ["flow", "time_expanded"])
def test_a_solver_that_calls_another_path_the_best(monkeypatch, formulation, problem, optimum):
    add, solve = LinearProgram.add_columns, LinearProgram.solve

    def add_without_sense(program, objective, **options):
        return add(program, np.zeros(len(objective)), **options)

    def lie(program, clock=None):
        return replace(solve(program, clock), proven=True)

    monkeypatch.setattr(LinearProgram, "add_columns", add_without_sense)
    monkeypatch.setattr(LinearProgram, "solve", lie)
    monkeypatch.setattr(
        "spacy_decoders.decoders.path.published.integer_program.solved_by_beam",
        lambda decoder, problem, length, *_: core.Beam(1).k_best(problem, length, 1),
    )
    assert_not_fooled(core.IntegerProgram(formulation=formulation), problem, optimum)


@pytest.mark.parametrize(
    "decoder", [core.ExactPath(), core.Beam(1), core.ColorCoding(), core.IntegerProgram()]
)
def test_loops_that_find_nothing_are_no_proof_of_infeasibility(monkeypatch, decoder):
    # one way alone from 0 to 4
    weights = np.full((6, 6), -np.inf)
    for tail, head in ((0, 1), (1, 2), (2, 3), (3, 4), (5, 1)):
        weights[tail, head] = 1.0
    problem = core.PathProblem([0, 0, 0, 0, 0, 9], weights, [0] * 6, [0, 1, 2, 3, 4, 0])
    nothing = (np.empty(0), np.empty((0, LENGTH), dtype=np.int32))
    for module in (lagrangian_search, beam):
        monkeypatch.setattr(module, "beam", lambda *_: nothing)
    _lose_all_sets(monkeypatch)
    monkeypatch.setattr(LinearProgram, "solve", Lying.infeasible)
    solution = decoder.decode(problem, LENGTH, budget=Budget(iterations=1))
    assert solution.vertices.tolist()[1:] == [1, 2, 3, 4]
