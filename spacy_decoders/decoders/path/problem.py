"""Selection-and-ordering problems and their solutions."""

from __future__ import annotations

import math
import operator
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from functools import cached_property
from itertools import pairwise
from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

from ...arrays import checked_indices, checked_scores, owned, read_only, refuse_beyond_memory
from ...certificate import Certificate
from ...errors import DecodersError, InfeasibleError, ProblemError
from .kernels.graph import Graph
from .kernels.walks import walk_bounds

__all__ = ["PathProblem", "PathSolution"]

Floats = NDArray[np.float64]
Integers = NDArray[np.int32]

#: The tolerance of `optimal`, relative to 1 plus the sum of a path's absolute scores.
PRECISION = 1e-9


@dataclass(frozen=True, eq=False)
class PathProblem:
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
    classes: Integers

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

    @classmethod
    def of_valid(
        cls, start: Floats, weights: Floats, end: Floats, classes: Integers
    ) -> PathProblem:
        """Return a problem of contiguous arrays that are known to be right and no one else's."""
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
    def dense_classes(self) -> Integers:
        """The classes, renumbered contiguously from 0. **Shape:** ``(n,)``"""
        numbers = np.unique(self.classes, return_inverse=True)[1]
        return read_only(np.ascontiguousarray(numbers.reshape(-1), dtype=np.int32))

    @cached_property
    def class_count(self) -> int:
        """The number of classes, which no path is longer than."""
        return int(self.dense_classes.max()) + 1 if self.size else 0

    @cached_property
    def edges(self) -> Floats:
        """The weights, with ``-inf`` where both ends are of one class. **Shape:** ``(n, n)``"""
        classes = self.dense_classes
        same = classes[:, None] == classes[None, :]
        return read_only(np.where(same, -np.inf, self.weights))

    @cached_property
    def reversed_edges(self) -> Floats:
        """The transpose of `edges`: row = the edge's target. **Shape:** ``(n, n)``"""
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
        """The same problem from behind: its paths are those of this one in reverse."""
        backwards = self.of_valid(self.end, self.weights.T, self.start, self.classes)
        backwards.__dict__.update(
            edges=self.reversed_edges,
            reversed_edges=self.edges,
            dense_classes=self.dense_classes,
            class_count=self.class_count,
        )
        return backwards

    def completions(self, length: int) -> Floats:
        """The best walk of l vertices after v to an end, up to `length`: **shape** (length, n)."""
        table: Floats = walk_bounds(self.reversed_edges, self.end, np.zeros(self.size), length - 1)
        return table

    @cached_property
    def _largest(self) -> tuple[float, float, float]:
        """The largest start, weight and end, none less than 0."""
        start, step, end = self.start, self.weights, self.end
        first, onward, last = (float(scores.max(initial=0.0)) for scores in (start, step, end))
        return first, onward, last

    def parts(self, vertices: Sequence[int] | Integers) -> list[float]:
        """The scores that make up a path: its start, its edges and its end."""
        path = vertices if isinstance(vertices, list) else np.asarray(vertices).tolist()
        steps = [self.weights.item(edge) for edge in pairwise(path)]
        return [self.start.item(path[0]), *steps, self.end.item(path[-1])]

    def score(self, vertices: Sequence[int] | Integers) -> float:
        """The score of a path by definition, rounded once."""
        return math.fsum(self.parts(vertices))

    def ranked(self, paths: Iterable[Integers]) -> list[Integers]:
        """The paths, best first: the sums of a kernel may order equal ones otherwise."""
        return sorted(paths, key=self.score, reverse=True)

    def total(self, prices: Floats) -> float:
        """The most that a path pays that visits every class, rounded once."""
        by_class = np.zeros(self.class_count)
        np.maximum.at(by_class, self.dense_classes, prices)
        return math.fsum(by_class)

    def restrict(self, vertices: NDArray[np.int64]) -> PathProblem:
        """The problem restricted to some vertices, given in ascending order."""
        weights = self.weights.take(vertices, axis=0).take(vertices, axis=1)
        return self.of_valid(
            self.start[vertices], weights, self.end[vertices], self.classes[vertices]
        )

    def checked_length(self, length: int) -> int:
        """Return a length that the number of classes allows.

        Raises
        ------
        ProblemError
            If it is not an integer of at least 1.
        InfeasibleError
            If there are fewer classes than that.
        """
        try:
            length = operator.index(length)
        except TypeError as error:
            raise ProblemError(f"length: expected a whole number, got {length!r}.") from error
        if length < 1:
            raise ProblemError(f"length: a path has at least 1 vertex, got {length}.")
        if length > self.class_count:
            raise InfeasibleError(
                f"No path of {length} vertices: a path meets no class twice, and there are "
                f"{self.class_count} classes among {self.size} vertices."
            )
        return length

    def rounding(self, length: int, score: float, prices: float = 0.0) -> float:
        """The largest rounding error in the score of any path that scores at least `score`.

        Such a path has terms whose magnitudes add up to at most twice its positive part,
        plus ``|score|``: however low the scores it leaves out, they cost no precision. A sum
        of m floats is off by at most m units in the last place of that. `prices` is what a
        relaxation adds to both sides.
        """
        first, step, last = self._largest
        magnitude = 2.0 * (first + (length - 1) * step + last) + abs(score) + 4.0 * prices
        return float(4.0 * (length + 3) * np.finfo(np.float64).eps * magnitude)


@dataclass(frozen=True, eq=False)
class PathSolution:
    """A path, and how good it is.

    Attributes
    ----------
    vertices
        The vertices in order; empty if the certificate says infeasible.
        **Shape:** ``(k,)``
    certificate
        What is proven about it.
    """

    vertices: Integers
    certificate: Certificate

    def __post_init__(self) -> None:
        vertices = np.ascontiguousarray(self.vertices, dtype=np.int32)
        object.__setattr__(self, "vertices", read_only(vertices))

    @classmethod
    def certified(
        cls,
        decoder: str,
        problem: PathProblem,
        vertices: Sequence[int] | Integers,
        bound: float,
        *,
        confidence: float | None = None,
        iterations: int = 1,
    ) -> PathSolution:
        """Return the solution whose certificate compares a path's score with a bound.

        Raises
        ------
        DecodersError
            If it is not a path of the problem, which is an error in `decoder`.
        """
        path = np.asarray(vertices).tolist()
        if len(set(map(problem.classes.item, path))) < len(path) or min(path) < 0:
            raise DecodersError(f"{decoder}: the path {path} meets a class twice.")
        parts = problem.parts(path)
        if min(parts) == -np.inf:
            raise DecodersError(f"{decoder}: the path {path} has a forbidden part.")
        scale = math.fsum(map(abs, parts))
        certificate = Certificate.from_bound(
            decoder,
            math.fsum(parts),
            bound,
            tolerance=PRECISION * (1.0 + scale),
            scale=scale,
            confidence=confidence,
            iterations=iterations,
        )
        return cls(np.asarray(vertices, dtype=np.int32), certificate)


def infeasible_message(length: int) -> str:
    """Return the message for problems whose forbidden scores leave no path."""
    return (
        f"No path of {length} vertices: the forbidden (-inf) starts, edges and ends, and the "
        "classes, leave none. Ask for a shorter path, or forbid less."
    )
