"""What a selection-and-ordering decoder is given, and what it gives back."""

from __future__ import annotations

import operator
from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property
from itertools import pairwise

import numpy as np
from numpy.typing import ArrayLike, NDArray

from ...arrays import checked_indices, checked_scores, read_only
from ...certificate import Certificate
from ...errors import InfeasibleError, ProblemError

__all__ = ["PathProblem", "PathSolution"]

Floats = NDArray[np.float64]
Integers = NDArray[np.int32]


@dataclass(frozen=True, eq=False)
class PathProblem:
    """A weighted graph in which to find the best path of a given length.

    A path of k vertices ``v1 ... vk`` is worth
    ``start[v1] + weights[v1, v2] + ... + weights[vk-1, vk] + end[vk]``
    and meets no equivalence class twice (so no vertex either). Scores are maximised;
    ``-inf`` forbids a start, an edge or an end.

    Parameters
    ----------
    start
        Worth of beginning with each vertex. **Shape:** ``(n,)``
    weights
        Worth of the edge from the row's vertex to the column's. **Shape:** ``(n, n)``
    end
        Worth of ending with each vertex. **Shape:** ``(n,)``
    classes
        Equivalence class of each vertex, any whole numbers: of one class a path takes at
        most one vertex. **Shape:** ``(n,)``

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
        store(self, "start", checked_scores("start", start, (None,), dtype=np.float64))
        n = len(self.start)
        store(self, "weights", checked_scores("weights", weights, (n, n), dtype=np.float64))
        store(self, "end", checked_scores("end", end, (n,), dtype=np.float64))
        store(self, "classes", checked_indices("classes", classes, (n,), dtype=np.int64))

    @property
    def size(self) -> int:
        """The number of vertices."""
        return len(self.start)

    @cached_property
    def dense_classes(self) -> Integers:
        """The classes numbered from 0 without holes. **Shape:** ``(n,)``"""
        numbers = np.unique(self.classes, return_inverse=True)[1]
        return read_only(np.ascontiguousarray(numbers.reshape(-1), dtype=np.int32))

    @cached_property
    def class_count(self) -> int:
        """The number of classes, and so the length of the longest thinkable path."""
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
    def _largest(self) -> float:
        parts = (self.start, self.weights, self.end)
        return max(float(part.max(initial=0.0)) for part in parts)

    def score(self, vertices: Sequence[int] | Integers) -> float:
        """The worth of a path by the definition, added up in float64."""
        total = float(self.start[vertices[0]])
        for source, target in pairwise(vertices):
            total += float(self.weights[source, target])
        return total + float(self.end[vertices[-1]])

    def restrict(self, vertices: NDArray[np.int64]) -> PathProblem:
        """The problem on some of the vertices, given in ascending order."""
        return PathProblem(
            self.start[vertices],
            self.weights[np.ix_(vertices, vertices)],
            self.end[vertices],
            self.classes[vertices],
        )

    def checked_length(self, length: int) -> int:
        """Return a length that the number of classes allows.

        Raises
        ------
        ProblemError
            If it is no whole number of at least 1.
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

    def tolerance(self, length: int, score: float, prices: float = 0.0) -> float:
        """How far rounding can move the worth of any path that might beat `score`.

        A path that reaches `score` has terms whose magnitudes add up to at most twice its
        positive part, plus ``|score|``; a sum of m floats is off by at most m units in the
        last place of that. `prices` is what a relaxation adds to both sides.
        """
        terms = length + 1
        magnitude = 2.0 * terms * self._largest + abs(score) + 4.0 * prices
        return float(4.0 * (terms + 2) * np.finfo(np.float64).eps * magnitude)


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


def infeasible_message(length: int) -> str:
    """Say that the forbidden scores leave no path."""
    return (
        f"No path of {length} vertices: the forbidden (-inf) starts, edges and ends, and the "
        "classes, leave none. Ask for a shorter path, or forbid less."
    )
