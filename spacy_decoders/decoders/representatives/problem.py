"""What a choice of representatives is: distances, and sets of candidates."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass, field
from functools import cached_property
from itertools import pairwise
from typing import TYPE_CHECKING, Any, Literal

import numpy as np
from numpy.typing import ArrayLike, NDArray

from ...arrays import checked_indices, owned, read_only
from ...errors import InfeasibleError, ProblemError
from .connections import connect
from .ties import vertex_keys
from .validation import checked_distances, checked_local, checked_sets, checked_weight, with_costs

if TYPE_CHECKING:
    from ...graph import ConceptGraph

__all__ = ["Connection", "RepresentativesProblem"]

Connection = Literal["maximal", "minimal"]


@dataclass(frozen=True, eq=False)
class RepresentativesProblem:
    r"""Choose one vertex from each set, such that the chosen ones are near each other.

    The cost to minimise, for `k` sets, is

    .. math:: \frac{w}{k - 1} \sum_{i < j} d(x_i, x_j) + \sum_i \mathrm{local}_i(x_i).

    Parameters
    ----------
    distances
        **Shape:** (v, v), symmetric: what each pair of vertices costs. Whole numbers are
        taken for distances in a graph, of which -1 means unreachable and costs one more
        than the largest; floats are taken as they are, of either sign, unless -1 stands where
        a graph's distances have it.
    sets
        `k` arrays of rows of `distances`: the candidates. A vertex may be in several sets;
        two sets that choose the same vertex `u` pay ``distances[u, u]``.
    local
        `k` arrays parallel to `sets`: what each candidate costs by itself; ``inf`` forbids
        a candidate, and no decoder ever chooses it.
    weight
        Of the pairs, against the local costs; not negative.
    vertices
        **Shape:** (v,): the caller's ids of the rows, by default ``0..v-1``. Solutions
        speak of these, and ties are broken by them.
    graph
        Where the distances come from, if from a graph: some heuristics look into it.
    connection
        How each set was connected within (see :meth:`from_graph`).

    Raises
    ------
    ProblemError
        If an array has a wrong shape or a value that is not finite (but for ``inf`` in
        `local`), if the distances are not symmetric, or if a set is empty or leaves the
        range.

    Notes
    -----
    Where all candidates of a set are forbidden, decoders raise ``InfeasibleError``.

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
    vertices: NDArray[np.int64] | None = None
    graph: ConceptGraph | None = field(default=None, repr=False)
    connection: Connection | None = None

    def __post_init__(self) -> None:
        distances = owned(checked_distances(self.distances), self.distances)
        size = len(distances)
        sets = checked_sets(tuple(self.sets), size)
        if self.local is not None:
            object.__setattr__(self, "local", checked_local(self.local, sets))
        vertices = np.arange(size) if self.vertices is None else self.vertices
        object.__setattr__(self, "distances", distances)
        object.__setattr__(self, "sets", sets)
        object.__setattr__(self, "weight", checked_weight(self.weight))
        object.__setattr__(
            self,
            "vertices",
            owned(checked_indices("vertices", vertices, (size,), dtype=np.int64), vertices),
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
        """Take the distances from a concept graph.

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
            What two sets pay for choosing the same vertex. By default as much as the
            farthest pair that has a path: with a cost of 0, as in the paper, sets that
            share a vertex all collapse to it.
        unreachable
            What a pair without a path pays; by default one more than the largest distance.
        local, weight
            As of the problem.

        Raises
        ------
        ProblemError
            If a vertex is not in the graph, a set is empty, or an option is unknown.
        """
        if connection not in (None, "maximal", "minimal"):
            raise ProblemError(
                f"connection: expected None, 'maximal' or 'minimal'; got {connection!r}."
            )
        given = [
            checked_indices(f"candidates[{i}]", members, (None,), dtype=np.int64)
            for i, members in enumerate(candidates)
        ]
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
    def size(self) -> int:
        """The number of sets, `k`."""
        return len(self.sets)

    @cached_property
    def offsets(self) -> NDArray[np.int64]:
        """**Shape:** (k + 1,): where each set begins when all are laid end to end."""
        return np.cumsum([0, *map(len, self.sets)], dtype=np.int64)

    @cached_property
    def members(self) -> NDArray[np.int32]:
        """**Shape:** (n,): the rows of all sets, end to end."""
        return np.concatenate(self.sets) if self.sets else np.empty(0, np.int32)

    @cached_property
    def local_costs(self) -> NDArray[np.float64]:
        """**Shape:** (n,): the local costs of all sets, end to end; 0 without any."""
        if self.local is None or not self.local:
            return np.zeros(len(self.members))
        return np.concatenate(self.local)

    @cached_property
    def pair_weight(self) -> float:
        """What a distance of 1 between two chosen vertices costs: weight / (k - 1)."""
        return self.weight / (self.size - 1) if self.size > 1 else 0.0

    @cached_property
    def allowed(self) -> NDArray[np.bool_]:
        """**Shape:** (n,): which candidates are not forbidden.

        Raises
        ------
        InfeasibleError
            If a set has none.
        """
        allowed = read_only(self.local_costs < np.inf)
        for i, (first, last) in enumerate(pairwise(self.offsets.tolist())):
            if not allowed[first:last].any():
                raise InfeasibleError(
                    f"sets[{i}]: all {last - first} candidates are forbidden, by a local cost of "
                    "inf; allow one, or leave the set out."
                )
        return allowed

    def ids(self, rows: NDArray[Any]) -> NDArray[np.int64]:
        """Return the caller's ids of rows."""
        assert self.vertices is not None
        of_rows: NDArray[np.int64] = self.vertices[rows]
        return of_rows

    def keys(self, seed: int) -> NDArray[np.uint64]:
        """**Shape:** (n,): the rank in a tie of every candidate, by its id and the seed."""
        return vertex_keys(self.ids(self.members), seed)

    def checked_choices(self, choices: ArrayLike) -> NDArray[np.int32]:
        """Return choices, one index into each set, as an int32 array."""
        array = checked_indices("choices", choices, (self.size,), low=0)
        too_high = array >= np.diff(self.offsets)
        if too_high.any():
            i = int(np.argmax(too_high))
            raise ProblemError(
                f"choices: set {i} has {len(self.sets[i])} candidates; got index {array[i]}."
            )
        return array

    def pair_sum(self, choices: ArrayLike) -> float:
        """Return the sum of the distances over unordered pairs, in float64."""
        return math.fsum(self._pairs(self._positions(choices)))

    def cost(self, choices: ArrayLike) -> float:
        """Return what a choice costs, in float64: the objective to minimise."""
        positions = self._positions(choices)
        own = math.fsum(self.local_costs[positions].tolist())
        return self.pair_weight * math.fsum(self._pairs(positions)) + own

    def scale(self, choices: ArrayLike) -> float:
        """Return the sum of the absolute costs that a choice is made of."""
        positions = self._positions(choices)
        pairs = math.fsum(map(abs, self._pairs(positions)))
        return self.pair_weight * pairs + float(np.abs(self.local_costs[positions]).sum())

    def _positions(self, choices: ArrayLike) -> NDArray[np.int64]:
        """Return where the chosen candidates are when all sets are laid end to end."""
        return self.offsets[:-1] + self.checked_choices(choices)

    def _pairs(self, positions: NDArray[np.int64]) -> list[float]:
        """Return the distances between the chosen vertices, one of each unordered pair."""
        rows = self.members[positions]
        square = self.distances[rows[:, None], rows]
        among: list[float] = square[np.triu_indices(self.size, 1)].tolist()
        return among

    def distances_to(self, choices: NDArray[Any]) -> NDArray[np.float64]:
        """**Shape:** (n, k): from each candidate to what each set has chosen; 0 to its own set."""
        rows = self.members[self.offsets[:-1] + choices]
        towards: NDArray[np.float64] = self.distances[np.ix_(self.members, rows)].astype(float)
        own = np.repeat(np.arange(self.size), np.diff(self.offsets))
        towards[np.arange(len(own)), own] = 0.0
        return towards

    def conditional_costs(self, choices: NDArray[Any]) -> NDArray[np.float64]:
        """**Shape:** (n,): the cost of each candidate, its set apart and the others as chosen."""
        distances = self.distances_to(choices).sum(axis=1)
        costs: NDArray[np.float64] = self.pair_weight * distances + self.local_costs
        return costs
