"""Selection-and-ordering problems, and their solutions."""

from __future__ import annotations

import math
from collections.abc import Iterable, Sequence
from contextlib import suppress
from dataclasses import dataclass
from functools import cached_property
from itertools import pairwise
from typing import Any

import numpy as np
from numpy.typing import ArrayLike

from ...arrays import (
    Floats,
    Immutable,
    Integers,
    Integers32,
    checked_indices,
    checked_scores,
    checked_whole,
    owned,
    read_only,
    refuse_beyond_memory,
)
from ...budget import Clock
from ...certificate import Certificate, tolerance_of
from ...errors import DecodersError, InfeasibleError, ProblemError
from .kernels.walks import Graph, walk_bounds

__all__ = ["WALK", "PathProblem", "PathSolution"]

#: Seconds for each pair of vertices on a slow machine: to compute a layer of walks, and to build
#: the edges with their transpose.
WALK, EDGES = 2e-9, 3e-8
#: Seconds that tables may still take when the budget has run out.
OVERTIME = 0.015


@dataclass(frozen=True, eq=False)
class PathProblem(Immutable):
    """A weighted graph in which to find the best path of a given length.

    A path of k vertices ``v1 ... vk`` has the score
    ``start[v1] + weights[v1, v2] + ... + weights[vk-1, vk] + end[vk]``
    and visits no equivalence class twice (so no vertex either). Scores are maximised;
    ``-inf`` forbids a start, an edge or an end.

    Parameters
    ----------
    start
        Score of starting at each vertex. **Shape:** ``(n,)``
    weights
        Score of the edge from the row's vertex to the column's. **Shape:** ``(n, n)``
    end
        Score of ending at each vertex. **Shape:** ``(n,)``
    classes
        Equivalence class of each vertex, any integers: a path visits at most one vertex of
        each class. **Shape:** ``(n,)``

    Raises
    ------
    ProblemError
        If a shape does not fit, or a score is NaN or ``+inf``.

    References
    ----------
    Deshpande, Barzilay, Karger (2007). Randomized Decoding for Selection-and-Ordering
    Problems. Section 2.1.

    Examples
    --------
    >>> problem = PathProblem([0, 1], [[0, 5], [2, 0]], [0, 0], classes=[7, 9])
    >>> problem.size, problem.class_count, problem.score([0, 1])
    (2, 2, 5.0)
    """

    start: Floats
    weights: Floats
    end: Floats
    classes: Integers32

    def __init__(
        self, start: ArrayLike, weights: ArrayLike, end: ArrayLike, classes: ArrayLike
    ) -> None:
        store = object.__setattr__

        def scores(name: str, given: ArrayLike, shape: tuple[int | None, ...]) -> Floats:
            return owned(checked_scores(name, given, shape, dtype=np.float64), given)

        store(self, "start", scores("start", start, (None,)))
        n = len(self.start)
        refuse_beyond_memory("weights", f"{n} vertices", 3 * 8 * n**2, "leave some out")
        store(self, "weights", scores("weights", weights, (n, n)))
        store(self, "end", scores("end", end, (n,)))
        indices = checked_indices("classes", classes, (n,), dtype=np.int64)
        store(self, "classes", owned(indices, classes))
        _ = self._largest  # computed now: decoders need it when their time has run out

    @classmethod
    def of_valid(
        cls, start: Floats, weights: Floats, end: Floats, classes: Integers32
    ) -> PathProblem:
        """Return a problem from contiguous arrays that are known to be valid and not shared."""
        problem = object.__new__(cls)
        scores = {"start": start, "weights": weights, "end": end}
        for name, array in scores.items():
            object.__setattr__(problem, name, read_only(array))
        object.__setattr__(problem, "classes", read_only(classes))
        return problem

    @property
    def size(self) -> int:
        """The number of vertices."""
        return len(self.start)

    @cached_property
    def dense_classes(self) -> Integers32:
        """The classes, renumbered contiguously from 0. **Shape:** ``(n,)``"""
        numbers = np.unique(self.classes, return_inverse=True)[1]
        return read_only(np.ascontiguousarray(numbers.reshape(-1), dtype=np.int32))

    @cached_property
    def class_count(self) -> int:
        """The number of classes, and so the length of the longest path."""
        return int(self.dense_classes.max()) + 1 if self.size else 0

    @cached_property
    def edges(self) -> Floats:
        """The weights, ``-inf`` where both vertices are of one class. **Shape:** ``(n, n)``"""
        classes = self.dense_classes
        same = classes[:, None] == classes[None, :]
        return read_only(np.where(same, -np.inf, self.weights))

    @cached_property
    def reversed_edges(self) -> Floats:
        """The transpose of `edges`: the row is the edge's target. **Shape:** ``(n, n)``"""
        return read_only(np.ascontiguousarray(self.edges.T))

    @cached_property
    def graph(self) -> Graph:
        """The arrays as the kernels take them."""
        return Graph(*self.arrays)

    @cached_property
    def arrays(self) -> tuple[Any, ...]:
        """The same as a plain tuple, which numba unpacks faster."""
        edges = (self.edges, self.reversed_edges)
        return (self.start, *edges, self.end, self.dense_classes, self.class_count)

    @cached_property
    def reversed(self) -> PathProblem:
        """The problem on the reversed graph: its paths are those of this one backwards."""
        backwards = self.of_valid(self.end, self.weights.T, self.start, self.classes)
        backwards.__dict__.update(
            edges=self.reversed_edges,
            reversed_edges=self.edges,
            dense_classes=self.dense_classes,
            class_count=self.class_count,
        )
        return backwards

    def completions(self, length: int) -> Floats:
        """The score of the best walk of l vertices after v, with its end. **Shape:** (length, n)

        It bounds every completion of a path that has reached v and lacks l vertices.
        """
        return walk_bounds(self.reversed_edges, self.end, np.zeros(self.size), length - 1)

    def lacks_time(self, clock: Clock, length: int, tables: int = 1) -> bool:
        """Return whether computing so many tables of walks may exceed the time left."""
        each = WALK * length * tables + (0.0 if "reversed_edges" in vars(self) else EDGES)
        return each * self.size**2 > clock.seconds_left + OVERTIME

    def simple_bound(self, length: int) -> float:
        """An upper bound on all paths from the largest scores alone, in next to no time."""
        first, step, last = self._largest
        bound = first + (length - 1) * step + last
        return bound + self.rounding(length, bound)

    @cached_property
    def _largest(self) -> tuple[float, float, float]:
        """The largest start, weight and end, each at least 0."""
        start, step, end = self.start, self.weights, self.end
        first, onward, last = (float(scores.max(initial=0.0)) for scores in (start, step, end))
        return first, onward, last

    def parts(self, vertices: Sequence[int] | Integers32) -> list[float]:
        """The scores that make up a path: its start, its edges and its end."""
        path = vertices if isinstance(vertices, list) else np.asarray(vertices).tolist()
        with suppress(IndexError, TypeError, ValueError):
            if min(path) >= 0 and len(set(map(self.classes.item, path))) == len(path):
                steps = [self.weights.item(edge) for edge in pairwise(path)]
                return [self.start.item(path[0]), *steps, self.end.item(path[-1])]
        raise ProblemError(
            f"vertices: expected one or more numbers below {self.size} without a class twice; got "
            f"{path}."
        )

    def score(self, vertices: Sequence[int] | Integers32) -> float:
        """The score of a path by definition, rounded once."""
        return math.fsum(self.parts(vertices))

    def ranked(self, paths: Iterable[Integers32]) -> list[Integers32]:
        """The paths, best first by exact score: a kernel's rounded sums may order ties wrongly."""
        return sorted(paths, key=self.score, reverse=True)

    def total(self, prices: Floats) -> float:
        """The sum of the prices, each class counted once; rounded once."""
        by_class = np.zeros(self.class_count)
        np.maximum.at(by_class, self.dense_classes, prices)
        return math.fsum(by_class)

    def restrict(self, vertices: Integers) -> PathProblem:
        """The problem restricted to some vertices, given in ascending order."""
        weights = self.weights.take(vertices, axis=0).take(vertices, axis=1)
        return self.of_valid(
            self.start[vertices], weights, self.end[vertices], self.classes[vertices]
        )

    def checked_length(self, length: int) -> int:
        """Return the length as an int.

        Raises `ProblemError` if it is not a whole number of at least 1, and `InfeasibleError` if
        there are fewer classes than that.
        """
        length = checked_whole("length", length, low=1)
        if length > self.class_count:
            raise InfeasibleError(
                f"length: no path has {length} vertices; there are {self.class_count} classes "
                f"among {self.size} vertices, and it visits each at most once. Ask for no more."
            )
        return length

    def rounding(self, length: int, score: float, prices: float = 0.0) -> float:
        """The largest rounding error in the score of any path that scores at least `score`.

        The magnitudes of such a path's terms add up to at most twice its positive part plus
        ``|score|``, so very low scores that it avoids cost no precision. A sum of m floats is off
        by at most m units in the last place of that. `prices` is the total that a relaxation
        subtracts and adds back.
        """
        first, step, last = self._largest
        magnitude = 2.0 * (first + (length - 1) * step + last) + abs(score) + 4.0 * prices
        return float(4.0 * (length + 3) * np.finfo(np.float64).eps * magnitude)


@dataclass(frozen=True, eq=False)
class PathSolution(Immutable):
    """A path and its certificate."""

    vertices: Integers32
    """The vertices in order; empty if the certificate says infeasible. **Shape:** ``(k,)``"""
    certificate: Certificate
    """What is proven about the path's score."""

    def __post_init__(self) -> None:
        vertices = np.ascontiguousarray(self.vertices, dtype=np.int32)
        object.__setattr__(self, "vertices", read_only(vertices))

    @classmethod
    def certified(
        cls,
        decoder: str,
        problem: PathProblem,
        vertices: Sequence[int] | Integers32,
        bound: float,
        *,
        confidence: float | None = None,
        iterations: int = 1,
    ) -> PathSolution:
        """Return the solution whose certificate compares a path's score with a bound.

        Raises `DecodersError` if it is not a path of the problem, which is a bug in `decoder`.
        """
        path = np.asarray(vertices).tolist()
        parts = problem.parts(path)
        if min(parts) == -np.inf:
            raise DecodersError(f"{decoder}: the path {path} has a forbidden start, edge or end.")
        score, scale = math.fsum(parts), math.fsum(map(abs, parts))
        rounding = 2.0 * problem.rounding(len(path), score)  # a bound includes it twice
        certificate = Certificate.from_bound(
            decoder,
            score,
            bound,
            tolerance=tolerance_of(scale, rounding),
            scale=scale,
            confidence=confidence,
            iterations=iterations,
        )
        return cls(np.asarray(vertices, dtype=np.int32), certificate)
