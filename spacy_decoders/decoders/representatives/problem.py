"""The problem of choosing representatives, validated once."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass, field
from functools import cached_property, lru_cache
from typing import TYPE_CHECKING, Any, Literal

import numpy as np
from numpy.typing import ArrayLike, NDArray

from ...arrays import (
    Booleans,
    Immutable,
    checked_each,
    checked_indices,
    checked_whole,
    owned,
    read_only,
)
from ...errors import InfeasibleError, ProblemError
from .connections import connect
from .validation import checked_distances, checked_local, checked_sets, checked_weight, with_costs

if TYPE_CHECKING:
    from ...graph import ConceptGraph

__all__ = ["Connection", "RepresentativesProblem", "vertex_keys"]

Connection = Literal["maximal", "minimal"]

#: With more sets than this, distances are first summed for each set, which is less exact.
MANY = 300


@dataclass(frozen=True, eq=False)
class RepresentativesProblem(Immutable):
    r"""Choose one vertex from each set so that the chosen ones are near each other.

    The cost to minimise, for `k` sets, is

    .. math:: \frac{w}{k - 1} \sum_{i < j} d(x_i, x_j) + \sum_i \mathrm{local}_i(x_i).

    Parameters
    ----------
    distances
        **Shape:** (v, v), symmetric: the cost of each pair of vertices. Integers are read as
        distances in a graph, where -1 means unreachable and costs one more than the largest
        distance. Floats are costs of either sign, and refused if -1 seems to mean unreachable.
    sets
        `k` arrays of rows of `distances`: the candidates. A vertex may be in several sets;
        two sets that choose the same vertex `u` pay ``distances[u, u]``.
    local
        `k` arrays parallel to `sets`: the cost of each candidate by itself; ``inf`` forbids
        a candidate, and no decoder ever chooses it.
    weight
        The weight of the distances, relative to the local costs; at least 0.
    vertices
        **Shape:** (v,): the caller's ids of the rows, by default ``0..v-1``. Solutions
        refer to these, and ties are broken by them.
    graph
        The graph that the distances come from, if any; some heuristics need it.
    connection
        How each set was connected (see :meth:`from_graph`).

    Raises
    ------
    ProblemError
        If an array has a wrong shape or a value that is not finite (except ``inf`` in
        `local`), if the distances are not symmetric, or if a set is empty or has an index out
        of range.

    Notes
    -----
    If all candidates of a set are forbidden, decoders raise ``InfeasibleError``.

    Examples
    --------
    >>> problem = RepresentativesProblem([[0, 1, 3], [1, 0, 2], [3, 2, 0]], [[0, 2], [1]])
    >>> problem.cost([0, 0]), problem.cost([1, 0])
    (1.0, 2.0)
    """

    distances: NDArray[Any]
    sets: Sequence[NDArray[np.int32]]
    local: Sequence[NDArray[np.float64]] | None = None
    weight: float = 1.0
    vertices: NDArray[np.int64] = None  # type: ignore[assignment]
    graph: ConceptGraph | None = field(default=None, repr=False)
    connection: Connection | None = None
    #: The number of sets, `k`.
    size: int = field(init=False, repr=False)
    #: Where each set begins in `members`. **Shape:** ``(k + 1,)``
    offsets: NDArray[np.int64] = field(init=False, repr=False)
    #: The rows of all sets, concatenated, and their local costs, 0 by default. **Shapes:** (n,)
    members: NDArray[np.int32] = field(init=False, repr=False)
    local_costs: NDArray[np.float64] = field(init=False, repr=False)
    #: The cost of a distance of 1 between two chosen vertices: weight / (k - 1).
    pair_weight: float = field(init=False, repr=False)

    def __post_init__(self) -> None:
        distances = owned(checked_distances(self.distances), self.distances)
        rows = len(distances)
        members, offsets = checked_sets(self.sets, rows)
        local: NDArray[np.float64] | None = None
        if self.local is not None:
            local = checked_local(self.local, np.diff(offsets).tolist())
        vertices = self.vertices
        if vertices is None:
            vertices = np.arange(rows)
        checked = checked_indices("vertices", vertices, (rows,), dtype=np.int64)
        self.__dict__.update(
            distances=distances,
            vertices=owned(checked, vertices),
            weight=checked_weight(self.weight),
        )
        self._lay_out(offsets, members, local)

    @classmethod
    def of_checked(
        cls,
        distances: NDArray[np.float64],
        offsets: NDArray[np.int64],
        local: NDArray[np.float64],
        vertices: NDArray[np.int64],
        graph: ConceptGraph | None = None,
    ) -> RepresentativesProblem:
        """Return a problem from arrays that are known to be valid and not shared.

        Each candidate has a row of its own, in the order of the sets. **Shapes:** distances
        (n, n), already weighted; offsets (k + 1,), where each set begins; local and vertices (n,).
        """
        problem = object.__new__(cls)
        problem.__dict__.update(
            distances=read_only(distances),
            vertices=vertices,
            weight=float(max(1, len(offsets) - 2)),
            graph=graph,
            connection=None,
        )
        problem._lay_out(offsets, np.arange(len(local), dtype=np.int32), read_only(local))
        return problem

    def _lay_out(
        self,
        offsets: NDArray[np.int64],
        members: NDArray[np.int32],
        local: NDArray[np.float64] | None,
    ) -> None:
        own = [*map(slice, offsets[:-1].tolist(), offsets[1:].tolist())]
        # a frozen dataclass allows no assignment
        self.__dict__.update(
            sets=tuple(map(members.__getitem__, own)),
            local=None if local is None else tuple(map(local.__getitem__, own)),
            size=len(own),
            offsets=read_only(offsets),
            members=members,
            local_costs=read_only(np.zeros(len(members))) if local is None else local,
            pair_weight=self.weight / (len(own) - 1) if len(own) > 1 else 0.0,
        )

    @classmethod
    def from_graph(
        cls,
        graph: ConceptGraph,
        candidates: Sequence[ArrayLike],
        connection: Connection | None = None,
        *,
        same_vertex: float | None = None,
        unreachable: float | None = None,
        local: Sequence[ArrayLike] | None = None,
        weight: float = 1.0,
    ) -> RepresentativesProblem:
        """Make a problem with the distances of a concept graph.

        Parameters
        ----------
        graph
            The graph; vertices are the caller's ids throughout.
        candidates
            `k` arrays of vertices.
        connection
            ``"maximal"``: as if each set were a clique; ``"minimal"``: as if the vertex
            of highest degree in the largest component of each set were joined to one
            vertex of each other component; None: the graph as it is.
        same_vertex
            The cost of two sets choosing the same vertex, by default the largest distance
            between connected candidates. With a cost of 0, as in the paper, sets that share a
            vertex all collapse to it.
        unreachable
            The cost of a pair without a path, by default one more than the largest distance.
        local, weight
            As for the problem itself.

        Raises
        ------
        ProblemError
            If a vertex is not in the graph, a set is empty, or an option is unknown.
        """
        if connection not in (None, "maximal", "minimal"):
            raise ProblemError(
                f"connection: expected None, 'maximal' or 'minimal'; got {connection!r}."
            )
        if not hasattr(graph, "distances"):
            raise ProblemError(f"graph: expected a ConceptGraph; got {type(graph).__name__}.")
        given = checked_each("candidates", candidates, dtype=np.int64)
        flat = np.concatenate(given) if given else np.empty(0, np.int64)
        vertices, rows = np.unique(flat, return_inverse=True)
        bounds = np.cumsum([len(members) for members in given])[:-1]
        sets = np.split(rows.reshape(-1).astype(np.int32), bounds) if given else []
        distances = graph.distances(vertices)
        if connection is not None:
            distances = connect(distances, sets, connection, graph.degree[graph.rows(vertices)])
        largest = distances.max(initial=0).item()
        costs = with_costs(
            distances,
            largest + 1 if unreachable is None else unreachable,
            largest if same_vertex is None else same_vertex,
        )
        return cls(costs, sets, local, weight, vertices, graph, connection)  # type: ignore[arg-type]

    @cached_property
    def allowed(self) -> Booleans:
        """**Shape:** (n,): the allowed candidates. Raises `InfeasibleError` if a set has none."""
        allowed = read_only(self.local_costs < np.inf)
        possible = np.logical_or.reduceat(allowed, self.offsets[:-1])
        if not possible.all():
            i = int(np.argmin(possible))
            raise InfeasibleError(
                f"sets[{i}]: all {len(self.sets[i])} candidates are forbidden by a local cost of "
                "inf; allow one, or leave the set out."
            )
        return allowed

    @cached_property
    def own_set(self) -> NDArray[np.int64]:
        """**Shape:** (n,): the number of each candidate's set."""
        return np.arange(self.size).repeat(np.diff(self.offsets))

    def keys(self, seed: int) -> NDArray[np.uint64]:
        """**Shape:** (n,): the tie-breaking key of each candidate, from its id and the seed."""
        return vertex_keys(self.vertices[self.members], seed)

    def cheapest(self, costs: NDArray[np.float64], seed: int) -> NDArray[np.int64]:
        """**Shape:** (k,): the allowed candidate of least cost in each set, an index into it."""
        costs = np.where(self.allowed, costs, np.inf)
        order = np.lexsort((self.keys(seed), costs, self.own_set))
        return np.asarray(order[self.offsets[:-1]] - self.offsets[:-1])

    def graph_for(self, decoder: str) -> ConceptGraph:
        """Return the graph that the problem was made from, for a decoder that needs it."""
        if self.graph is None:
            raise ProblemError(
                f"graph: {decoder} needs the graph; make the problem with RepresentativesProblem."
                "from_graph(), or link with a knowledge base that has a graph."
            )
        return self.graph

    def checked_choices(self, choices: ArrayLike) -> NDArray[np.int32]:
        """Return the choices, one index into each set, as an int32 array."""
        array = checked_indices("choices", choices, (self.size,), low=0)
        too_high = array >= np.diff(self.offsets)
        if too_high.any():
            i = int(np.argmax(too_high))
            raise ProblemError(
                f"choices: set {i} has {len(self.sets[i])} candidates; got index {array[i]}."
            )
        return array

    def cost(self, choices: ArrayLike) -> float:
        """Return the cost of a choice, in float64: the objective to minimise."""
        return self.priced(self.offsets[:-1] + self.checked_choices(choices))[0]

    def priced(self, positions: NDArray[np.int64]) -> tuple[float, float]:
        """Return the cost of candidates, and the sum of the absolute values of its terms.

        `positions` are those of the candidates in `members`, one of each set.
        """
        own = self.local_costs[positions]
        pairs, size = self.sum_among(positions)
        cost = self.pair_weight * pairs + math.fsum(own.tolist())
        return cost, self.pair_weight * size + float(np.abs(own).sum())

    def sum_among(self, positions: NDArray[np.int64]) -> tuple[float, float]:
        """Return the sum of the distances between candidates, and of their absolute values."""
        rows = self.members[positions]
        if len(rows) > MANY:  # a list of millions of numbers takes a second
            parts = [self.distances[row].take(rows[:i]) for i, row in enumerate(rows)]
            sizes = [np.abs(part).sum() for part in parts]
            return math.fsum(part.sum() for part in parts), math.fsum(sizes)
        square: list[list[float]] = self.distances[rows[:, None], rows].tolist()
        below = [distance for i, row in enumerate(square) for distance in row[:i]]
        return math.fsum(below), math.fsum(map(abs, below))

    def distances_to(self, choices: NDArray[Any]) -> NDArray[np.float64]:
        """**Shape:** (n, k): from each candidate to the choice of each set; 0 to its own set's."""
        rows = self.members[self.offsets[:-1] + choices]
        # rows of a symmetric array are read faster than columns
        towards: NDArray[np.float64] = self.distances[rows].take(self.members, axis=1).T
        towards = np.ascontiguousarray(towards, dtype=float)
        towards[np.arange(len(self.own_set)), self.own_set] = 0.0
        return towards

    def conditional_costs(self, choices: NDArray[Any]) -> NDArray[np.float64]:
        """**Shape:** (n,): the cost of each candidate, given the choices of the other sets."""
        sums = np.zeros(len(self.members))
        for i, row in enumerate(self.members[self.offsets[:-1] + choices]):
            towards = self.distances[row].take(self.members).astype(float)
            towards[self.offsets[i] : self.offsets[i + 1]] = 0.0
            sums += towards
        return self.pair_weight * sums + self.local_costs


# --- ties ------------------------------------------------------------------------
#
# They are broken by a random order of the vertices, drawn from the seed, and not by the order of
# the candidates in the input: retrieval puts the likely ones first, and a decoder that keeps that
# order looks better than it is.


def vertex_keys(vertices: NDArray[Any], seed: int) -> NDArray[np.uint64]:
    """Return a random key of each vertex that depends on its id and the seed alone.

    Examples
    --------
    >>> bool((vertex_keys(np.array([7, 3]), 0) == vertex_keys(np.array([3, 7]), 0)[::-1]).all())
    True
    """
    return _mixed(vertices.astype(np.int64).view(np.uint64) ^ _start(seed))


@lru_cache(typed=True)
def _start(seed: int) -> NDArray[np.uint64]:
    """What a seed contributes to the keys."""
    return _mixed(np.array([checked_whole("seed", seed, low=0)]).view(np.uint64))


def _mixed(numbers: NDArray[np.uint64]) -> NDArray[np.uint64]:
    """Scramble 64 bits: the finaliser of splitmix64."""
    z = numbers + np.uint64(0x9E3779B97F4A7C15)
    z = (z ^ (z >> np.uint64(30))) * np.uint64(0xBF58476D1CE4E5B9)
    z = (z ^ (z >> np.uint64(27))) * np.uint64(0x94D049BB133111EB)
    return z ^ (z >> np.uint64(31))
