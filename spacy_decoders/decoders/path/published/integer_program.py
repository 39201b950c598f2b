"""Exact decoding by an integer program: the published formulation and a time-expanded one."""

from __future__ import annotations

from collections.abc import Sequence
from contextlib import suppress
from dataclasses import dataclass
from itertools import pairwise
from typing import Any, Literal, NamedTuple

import numpy as np
from numpy.typing import NDArray

from ....arrays import Integers32
from ....budget import Clock, rest_of
from ....errors import InfeasibleError, ProblemError, UndecidedError
from ...programs import IntegerSolution, LinearProgram, Sense, Solver, SolverError, checked_solver
from ..beam import solved_by_beam
from ..decoder import PathDecoder
from ..exact_path import ExactPath
from ..problem import PathProblem, PathSolution
from ..proof import quick_bound

__all__ = ["IntegerProgram"]

#: Beyond this, a solver's tolerance exceeds the differences between scores.
LARGEST = 1e9
#: Seconds to write the program, for each pair of vertices on a slow machine.
WRITING = 1e-7


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
        If an option is unknown; in decoding, if scores are too large for a solver.

    Notes
    -----
    Writing and solving the program stop at the budget's seconds; the fallbacks are a beam's path
    and the bound of the best walk. The solver's own bound is no proof: a path is optimal only if
    `ExactPath` proves it.

    Corrections to the published program: balance (5) holds at inner vertices only, since the
    source has no incoming edge; redundancy (6) covers classes of one vertex too, or a vertex
    could be visited twice; edges within a class, including self-loops, are left out.

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

    def _solve(
        self, problem: PathProblem, length: int, k: int, clock: Clock
    ) -> list[PathSolution]:
        _check_magnitude(problem)
        best = solved_by_beam("IntegerProgram", problem, length, 1, 80, clock)[0]
        path, proven = None, False
        if WRITING * problem.size**2 < clock.seconds_left:
            path, proven = self._solved(problem, length, clock)
        if path is None or problem.score(path) < problem.score(best.vertices):
            path = best.vertices
        bound = quick_bound(problem, length, problem.score(path), 0, clock)
        if proven and clock.seconds_left > 0.0:
            # the solver's claim is no proof
            with suppress(UndecidedError):
                own = ExactPath().decode(problem, length, budget=rest_of(clock, 0)).certificate
                bound = min(bound, np.inf if own.bound is None else own.bound)
        return [PathSolution.certified("IntegerProgram", problem, path, bound)]

    def _solved(
        self, problem: PathProblem, length: int, clock: Clock
    ) -> tuple[Integers32 | None, bool]:
        """The solver's path, if there is one, and whether the solver claims that it is optimal."""
        program = LinearProgram(self.solver, clock=clock)
        write = _flow if self.formulation == "flow" else _time_expanded
        try:
            edges = write(program, problem, length)
            solved = program.solve(clock)
        except (InfeasibleError, SolverError):
            # infeasible by mistake: the beam has found a path
            return None, False
        if solved is None:
            return None, False
        return _follow(edges, solved, problem, length), solved.proven


def _check_magnitude(problem: PathProblem) -> None:
    for name in ("start", "weights", "end"):
        scores = getattr(problem, name)
        if np.abs(scores[np.isfinite(scores)]).max(initial=0.0) > LARGEST:
            raise ProblemError(
                f"{name}: scores beyond {LARGEST:.0e} exceed a solver's precision. Use -inf for "
                "what is forbidden, or ExactPath."
            )


class _Edges(NamedTuple):
    """Allowed edges with their weights; -1 denotes source and sink. **Shape:** ``(m,)``"""

    tails: NDArray[np.int64]
    heads: NDArray[np.int64]
    weights: NDArray[np.float64]

    @classmethod
    def of(cls, problem: PathProblem) -> tuple[_Edges, _Edges, _Edges]:
        """Return the edges from the source, the inner edges, and the edges to the sink."""
        first, last = (np.flatnonzero(ends > -np.inf) for ends in (problem.start, problem.end))
        tails, heads = np.nonzero(problem.edges > -np.inf)
        return (
            cls(np.full(len(first), -1), first, problem.start[first]),
            cls(tails, heads, problem.edges[tails, heads]),
            cls(last, np.full(len(last), -1), problem.end[last]),
        )

    def joined(self, *others: _Edges) -> _Edges:
        """Return these edges and others."""
        return _Edges(*map(np.concatenate, zip(self, *others, strict=True)))


def _flow(program: LinearProgram, problem: PathProblem, length: int) -> _Edges:
    """Write the published program; return the edges of its first columns."""
    source, inner, sink = _Edges.of(problem)
    edges, most = source.joined(inner, sink), length + 1.0
    chosen = program.add_columns(edges.weights, integer=True)
    number = program.add_columns(np.zeros(len(chosen)), upper=most)
    into, out = edges.heads >= 0, edges.tails >= 0
    program.add_row(chosen[~out], 1.0, "=", 1.0)  # (2)
    program.add_row(chosen[~into], 1.0, "=", 1.0)  # (3)
    program.add_row(chosen, 1.0, "=", most)  # (4)
    entering, leaving = (chosen[into], edges.heads[into]), (chosen[out], edges.tails[out])
    flow = (*entering, 1.0), (*leaving, -1.0)
    _add_grouped(program, problem.size, flow, "=", 0.0)  # (5)
    # (8)-(11): the number falls by one at each vertex of the path
    falling = (number[into], edges.heads[into], 1.0), (number[out], edges.tails[out], -1.0)
    _add_grouped(program, problem.size, (*falling, (*entering, -1.0)), "=", 0.0)
    visits = [(chosen[out], problem.dense_classes[edges.tails[out]], 1.0)]
    _add_grouped(program, problem.class_count, visits, "<=", 1.0)  # (6)
    program.add_rows(np.stack([number, chosen], axis=1), [1.0, -most], "<=", 0.0)  # (7)
    program.add_row(number[~out], 1.0, "=", most)  # (12)
    program.add_row(number[~into], 1.0, "=", 1.0)  # (13)
    return edges


def _time_expanded(program: LinearProgram, problem: PathProblem, length: int) -> _Edges:
    """Write the program with a copy of each edge for each position; return all copies."""
    source, inner, sink = _Edges.of(problem)
    layers = [source, *[inner] * (length - 1), sink]
    columns = [program.add_columns(edges.weights, integer=True) for edges in layers]
    program.add_row(columns[0], 1.0, "=", 1.0)
    passing = []
    for (into, out), (entering, leaving) in zip(pairwise(layers), pairwise(columns), strict=True):
        flow = (entering, into.heads, 1.0), (leaving, out.tails, -1.0)
        _add_grouped(program, problem.size, flow, "=", 0.0)
        passing.append((entering, problem.dense_classes[into.heads], 1.0))
    _add_grouped(program, problem.class_count, passing, "<=", 1.0)
    return source.joined(*layers[1:])


def _add_grouped(
    program: LinearProgram,
    count: int,
    parts: Sequence[tuple[NDArray[np.int64], NDArray[Any], float]],
    sense: Sense,
    side: float,
) -> None:
    """Add a row for each vertex or class; a part is (columns, the row of each, their weight)."""
    columns, rows = (np.concatenate(given) for given in list(zip(*parts, strict=True))[:2])
    weights = np.repeat([part[2] for part in parts], [len(part[0]) for part in parts])
    order = np.argsort(rows, kind="stable")
    starts = np.searchsorted(rows[order], np.arange(count + 1))
    program.add_rows(columns[order], weights[order], sense, side, starts)


def _follow(
    edges: _Edges, solved: IntegerSolution, problem: PathProblem, length: int
) -> Integers32 | None:
    """Read the path off the chosen edges; None if they make none."""
    chosen = np.flatnonzero(solved.values[: len(edges.weights)] > 0.5)
    onward = dict(zip(edges.tails[chosen].tolist(), edges.heads[chosen].tolist(), strict=True))
    path = [onward.get(-1, -1)]
    while len(path) < length:
        path.append(onward.get(path[-1], -1))
    if min(path) < 0 or len(set(problem.dense_classes[path].tolist())) < length:
        return None
    return np.array(path, dtype=np.int32) if problem.score(path) > -np.inf else None
