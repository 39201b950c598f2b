"""Exact decoding by an integer program, as published and position by position."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, Literal

import numpy as np
from numpy.typing import NDArray

from ....budget import UNLIMITED, Budget, Clock
from ....errors import InfeasibleError, ProblemError
from ...programs import IntegerSolution, LinearProgram, Solver, SolverError, checked_solver
from ..beam import Beam
from ..decoder import PathDecoder
from ..exact_path import ExactPath
from ..problem import Integers, PathProblem, PathSolution
from ..proof import quick_bound

__all__ = ["IntegerProgram"]

#: Beyond this, a solver's arithmetic can't tell scores apart.
LARGEST = 1e9


@dataclass(frozen=True)
class IntegerProgram(PathDecoder):
    """The best path by an integer linear program: slow, and an independent check.

    Parameters
    ----------
    solver
        ``"HIGHS"``, or ``"CBC"`` (needs the extra ``solvers``).
    formulation
        ``"flow"``: the paper's, an indicator and a number for each edge, where the numbers
        run from k+1 at the start to 1 at the end and so leave no room for cycles.
        ``"time_expanded"``: an indicator for each edge and position, several times faster.

    Raises
    ------
    ProblemError
        If an option is unknown.

    Notes
    -----
    Mended from the published program: balance (5) holds at inner vertices only, for the
    source has no way in; redundancy (6) covers classes of one vertex too, without which a
    vertex may be passed twice; edges within a class, self-loops among them, are left out.

    References
    ----------
    Deshpande, Barzilay, Karger (2007), section 5, equations 1-13.

    Examples
    --------
    >>> from spacy_decoders.decoders.path import PathProblem
    >>> problem = PathProblem([2, 1], [[0, 0], [9, 0]], [0, 0], classes=[0, 1])
    >>> IntegerProgram(formulation="time_expanded").decode(problem, 2).vertices
    array([1, 0], dtype=int32)
    """

    solver: Solver = "HIGHS"
    formulation: Literal["flow", "time_expanded"] = "time_expanded"

    def __post_init__(self) -> None:
        checked_solver(self.solver)
        if self.formulation not in ("flow", "time_expanded"):
            raise ProblemError(
                f"formulation: expected 'flow' or 'time_expanded', got {self.formulation!r}."
            )

    def decode(
        self, problem: PathProblem, length: int, *, budget: Budget = UNLIMITED
    ) -> PathSolution:
        """Find the best path of `length` vertices.

        Writing the program and solving it stop at the budget's seconds; a beam's path and
        the best walk stand in for what is not found by then. The solver's own bound is no
        proof: a path is called optimal if the exact decoder comes to a bound as low.

        Raises
        ------
        InfeasibleError
            If there is no such path.
        ProblemError
            If scores are too large for a solver's arithmetic.
        """
        length = problem.checked_length(length)
        clock = budget.start()
        _check_magnitude(problem)
        best = Beam(80, lookahead=True).decode(problem, length, budget=budget)
        path, proven = self._solved(problem, length, clock)
        if path is None or problem.score(path) < problem.score(best.vertices):
            path = best.vertices
        bound = quick_bound(problem, length, problem.score(path), nodes=0)
        if proven and clock.seconds_left > 0.0:
            # the solver's word is no proof: it is one that another decoder comes to the same
            own = ExactPath().decode(problem, length, budget=_what_is_left(clock)).certificate
            bound = min(bound, np.inf if own.bound is None else own.bound)
        return PathSolution.certified("IntegerProgram", problem, path, bound)

    def _solved(
        self, problem: PathProblem, length: int, clock: Clock
    ) -> tuple[Integers | None, bool]:
        """The solver's path, if it gives one, and whether it claims to have ended."""
        program = LinearProgram(self.solver, maximize=True, clock=clock)
        write = _flow if self.formulation == "flow" else _time_expanded
        try:
            edges = write(program, problem, length)
            solved = program.solve(clock)
        except (InfeasibleError, SolverError):
            # there is a path: one is known already
            return None, False
        if solved is None:
            return None, False
        return _follow(edges, solved, problem, length), solved.proven


def _what_is_left(clock: Clock) -> Budget:
    seconds = clock.seconds_left
    return Budget(seconds=None if seconds == np.inf else seconds)


def _check_magnitude(problem: PathProblem) -> None:
    for name in ("start", "weights", "end"):
        scores = getattr(problem, name)
        if np.abs(scores[np.isfinite(scores)]).max(initial=0.0) > LARGEST:
            raise ProblemError(
                f"{name}: a solver can't tell scores beyond {LARGEST:.0e} apart. Use -inf for "
                "what is forbidden, or ExactPath."
            )


def _edges(problem: PathProblem) -> tuple[Integers, NDArray[np.float64]]:
    """All allowed edges (tail, head) with their worth; -1 stands for source and sink."""
    first = np.flatnonzero(problem.start > -np.inf)
    last = np.flatnonzero(problem.end > -np.inf)
    tails, heads = np.nonzero(problem.edges > -np.inf)
    outside = -1
    ends = np.concatenate(
        [
            np.stack([np.full(len(first), outside), first], axis=1),
            np.stack([tails, heads], axis=1),
            np.stack([last, np.full(len(last), outside)], axis=1),
        ]
    ).astype(np.int32)
    worth = [problem.start[first], problem.edges[tails, heads], problem.end[last]]
    return ends, np.concatenate(worth)


def _flow(program: LinearProgram, problem: PathProblem, length: int) -> Integers:
    """Write the published program; return the edges of its first columns."""
    ends, worth = _edges(problem)
    m, most = len(ends), length + 1.0
    chosen = program.add_columns(worth, integer=True)
    number = program.add_columns(np.zeros(m), upper=most)
    tails, heads = ends.T
    from_source = np.flatnonzero(tails < 0)
    to_sink = np.flatnonzero(heads < 0)
    program.add_row(chosen[from_source], np.ones(len(from_source)), "=", 1.0)  # (2)
    program.add_row(chosen[to_sink], np.ones(len(to_sink)), "=", 1.0)  # (3)
    program.add_row(chosen, np.ones(m), "=", most)  # (4)
    entering, leaving = _grouped(heads, problem.size), _grouped(tails, problem.size)
    for into, out in zip(entering, leaving, strict=True):
        both = np.concatenate([into, out])
        signs = np.concatenate([np.ones(len(into)), -np.ones(len(out))])
        program.add_row(chosen[both], signs, "=", 0.0)  # (5)
        # (8)-(11): the number falls by one where the path passes
        columns = np.concatenate([number[both], chosen[into]])
        program.add_row(columns, np.concatenate([signs, -np.ones(len(into))]), "=", 0.0)
    for of_class in _members(problem):
        out = np.concatenate([leaving[v] for v in of_class])
        program.add_row(chosen[out], np.ones(len(out)), "<=", 1.0)  # (6)
    for edge in range(m):
        program.add_row([number[edge], chosen[edge]], [1.0, -most], "<=", 0.0)  # (7)
    program.add_row(number[from_source], np.ones(len(from_source)), "=", most)  # (12)
    program.add_row(number[to_sink], np.ones(len(to_sink)), "=", 1.0)  # (13)
    return ends


def _time_expanded(program: LinearProgram, problem: PathProblem, length: int) -> Integers:
    """Write the program with a copy of each edge for each position; return all copies."""
    first = np.flatnonzero(problem.start > -np.inf)
    last = np.flatnonzero(problem.end > -np.inf)
    tails, heads = np.nonzero(problem.edges > -np.inf)
    inner = problem.edges[tails, heads]
    begin = program.add_columns(problem.start[first], integer=True)
    steps = [program.add_columns(inner, integer=True) for _ in range(length - 1)]
    finish = program.add_columns(problem.end[last], integer=True)
    program.add_row(begin, np.ones(len(begin)), "=", 1.0)
    # layer i: the columns that enter each vertex at position i, and those that leave it
    enter = [(begin, first), *((columns, heads) for columns in steps)]
    leave = [*((columns, tails) for columns in steps), (finish, last)]
    passing: list[list[NDArray[np.int64]]] = [[] for _ in range(problem.size)]
    for (incoming, into), (outgoing, out) in zip(enter, leave, strict=True):
        coming, going = _grouped(into, problem.size), _grouped(out, problem.size)
        for v in range(problem.size):
            entering, leaving = incoming[coming[v]], outgoing[going[v]]
            signs = np.concatenate([np.ones(len(entering)), -np.ones(len(leaving))])
            program.add_row(np.concatenate([entering, leaving]), signs, "=", 0.0)
            passing[v].append(entering)
    for of_class in _members(problem):
        columns = np.concatenate([part for v in of_class for part in passing[v]])
        program.add_row(columns, np.ones(len(columns)), "<=", 1.0)
    outside = np.full(problem.size, -1)
    inner_ends = np.stack([tails, heads], axis=1)
    return np.concatenate(
        [
            np.stack([outside[: len(first)], first], axis=1),
            *([inner_ends] * (length - 1)),
            np.stack([last, outside[: len(last)]], axis=1),
        ]
    ).astype(np.int32)


def _grouped(vertices: NDArray[Any], size: int) -> list[NDArray[np.int64]]:
    """The places where each vertex stands."""
    order = np.argsort(vertices, kind="stable")
    return np.split(order, np.searchsorted(vertices[order], np.arange(size + 1)))[1:-1]


def _members(problem: PathProblem) -> list[NDArray[np.int64]]:
    return [np.flatnonzero(problem.dense_classes == c) for c in range(problem.class_count)]


def _follow(
    edges: Integers, solved: IntegerSolution, problem: PathProblem, length: int
) -> Integers | None:
    """Read the path off the chosen edges; None if they make none."""
    chosen = np.flatnonzero(solved.values[: len(edges)] > 0.5)
    onward = dict(edges[chosen].tolist())
    path = [onward.get(-1, -1)]
    while len(path) < length:
        path.append(onward.get(path[-1], -1))
    if min(path) < 0 or len(set(problem.dense_classes[path].tolist())) < length:
        return None
    return np.array(path, dtype=np.int32) if problem.score(path) > -np.inf else None
