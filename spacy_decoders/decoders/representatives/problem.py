"""What a choice of representatives is: distances, sets of candidates, and what comes back."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field
from functools import cached_property
from typing import TYPE_CHECKING, Any, Literal

import numpy as np
from numpy.typing import ArrayLike, NDArray

from ...arrays import checked_indices, checked_scores, read_only
from ...certificate import Certificate
from ...errors import ProblemError
from .connections import connect
from .ties import vertex_keys

if TYPE_CHECKING:
    from ...graph import ConceptGraph

__all__ = ["Connection", "RepresentativesProblem", "RepresentativesSolution"]

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
        than the largest; floats are taken as they are, of either sign.
    sets
        `k` arrays of rows of `distances`: the candidates. A vertex may be in several sets;
        two sets that choose the same vertex `u` pay ``distances[u, u]``.
    local
        `k` arrays parallel to `sets`: what each candidate costs by itself.
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
        If an array has a wrong shape or a value that is not finite, if the distances are
        not symmetric, or if a set is empty or leaves the range.

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
        distances = _checked_distances(self.distances)
        size = len(distances)
        sets = tuple(
            checked_indices(f"sets[{i}]", members, (None,), low=0, high=size)
            for i, members in enumerate(self.sets)
        )
        for i, members in enumerate(sets):
            if not len(members):
                raise ProblemError(f"sets[{i}]: no candidates; leave out what has none.")
        if self.local is not None:
            if len(self.local) != len(sets):
                raise ProblemError(
                    f"local: expected {len(sets)} arrays, one per set; got {len(self.local)}."
                )
            local = tuple(
                checked_scores(
                    f"local[{i}]", costs, (len(members),), dtype=np.float64, forbidden=False
                )
                for i, (costs, members) in enumerate(zip(self.local, sets, strict=True))
            )
            object.__setattr__(self, "local", local)
        try:
            weight = float(self.weight)
        except (TypeError, ValueError) as error:
            raise ProblemError(f"weight: expected a number; got {self.weight!r}.") from error
        if not 0 <= weight < np.inf:
            raise ProblemError(f"weight: must be finite and not negative; got {weight!r}.")
        vertices = np.arange(size) if self.vertices is None else self.vertices
        object.__setattr__(self, "distances", distances)
        object.__setattr__(self, "sets", sets)
        object.__setattr__(self, "weight", weight)
        object.__setattr__(
            self, "vertices", checked_indices("vertices", vertices, (size,), dtype=np.int64)
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
        largest = int(distances.max(initial=0))
        costs = _with_costs(
            distances,
            largest + 1 if unreachable is None else unreachable,
            largest if same_vertex is None else same_vertex,
        )
        return cls(costs, sets, local, weight, vertices, graph, connection)  # type: ignore[arg-type]

    @property
    def size(self) -> int:
        """The number of sets, `k`."""
        return len(self.sets)

    @cached_property
    def offsets(self) -> NDArray[np.int64]:
        """**Shape:** (k + 1,): where each set begins when all are laid end to end."""
        return np.cumsum([0, *(len(members) for members in self.sets)], dtype=np.int64)

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

    @property
    def pair_weight(self) -> float:
        """What a distance of 1 between two chosen vertices costs: weight / (k - 1)."""
        return self.weight / (self.size - 1) if self.size > 1 else 0.0

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
        rows = self.members[self.offsets[:-1] + self.checked_choices(choices)]
        among = self.distances[np.ix_(rows, rows)].astype(np.float64)
        return float(np.triu(among, 1).sum())

    def cost(self, choices: ArrayLike) -> float:
        """Return what a choice costs, in float64: the objective to minimise."""
        positions = self.offsets[:-1] + self.checked_choices(choices)
        return self.pair_weight * self.pair_sum(choices) + float(self.local_costs[positions].sum())

    def conditional_costs(self, choices: NDArray[Any]) -> NDArray[np.float64]:
        """**Shape:** (n,): the cost of each candidate, its set apart and the others as chosen."""
        rows = self.members[self.offsets[:-1] + choices]
        towards = self.distances[np.ix_(self.members, rows)].astype(np.float64)
        own = np.repeat(np.arange(self.size), np.diff(self.offsets))
        towards[np.arange(len(own)), own] = 0.0
        costs: NDArray[np.float64] = self.pair_weight * towards.sum(axis=1) + self.local_costs
        return costs


@dataclass(frozen=True, eq=False)
class RepresentativesSolution:
    """One candidate chosen from each set.

    Attributes
    ----------
    choices
        **Shape:** (k,), int32: an index into each set.
    vertices
        **Shape:** (k,), int64: the caller's ids of the chosen vertices.
    margins
        **Shape:** (k,), float32: how much more it would cost to choose otherwise in each
        set; infinite where there is no other candidate. What the others may then do
        depends on the decoder: from an exact one it is the best cost with another
        candidate there less the best cost; from a heuristic all other choices stay, and
        the margin may be negative.
    certificate
        The cost, and what is known of the least one.
    problem
        What was solved.
    """

    choices: NDArray[np.int32]
    vertices: NDArray[np.int64]
    margins: NDArray[np.float32]
    certificate: Certificate
    problem: RepresentativesProblem = field(repr=False)

    @classmethod
    def of(
        cls,
        problem: RepresentativesProblem,
        choices: ArrayLike,
        certificate: Certificate,
        margins: NDArray[Any] | None = None,
    ) -> RepresentativesSolution:
        """Make a solution; without `margins`, the conditional ones."""
        array = problem.checked_choices(choices)
        if margins is None:
            margins = conditional_margins(problem, array)
        vertices = problem.ids(problem.members[problem.offsets[:-1] + array])
        return cls(
            read_only(array),
            read_only(vertices),
            read_only(np.asarray(margins, dtype=np.float32)),
            certificate,
            problem,
        )

    @property
    def distance_cost(self) -> float:
        """The sum of distances over ordered pairs of sets: the paper's f(S)."""
        return 2.0 * self.problem.pair_sum(self.choices)


def conditional_margins(
    problem: RepresentativesProblem, choices: NDArray[Any]
) -> NDArray[np.float64]:
    """**Shape:** (k,): the extra cost of the best other candidate, all other choices fixed."""
    costs = problem.conditional_costs(choices)
    margins = np.full(problem.size, np.inf)
    for i, choice in enumerate(choices):
        of_set = costs[problem.offsets[i] : problem.offsets[i + 1]]
        if len(of_set) > 1:
            margins[i] = np.delete(of_set, choice).min() - of_set[choice]
    return margins


def _checked_distances(values: Any) -> NDArray[Any]:
    given = np.asarray(values) if not hasattr(values, "dtype") else values
    if given.dtype.kind in "iub":
        array = checked_indices(
            "distances",
            given.astype(np.int64) if given.dtype.kind == "b" else given,
            (None, None),
            low=-1,
            high=2**31 - 1,
        )
    else:
        array = checked_scores("distances", given, (None, None), dtype=np.float64, forbidden=False)
    if array.shape[0] != array.shape[1]:
        raise ProblemError(f"distances: expected a square matrix, got shape {array.shape}.")
    if not np.array_equal(array, array.T):
        whole = array.dtype.kind == "i"  # whole numbers have no rounding to forgive
        near = array == array.T if whole else np.isclose(array, array.T, rtol=1e-6, atol=1e-9)
        unequal = np.argwhere(~near)
        if len(unequal):
            u, v = (int(x) for x in unequal[0])
            raise ProblemError(
                f"distances: must be symmetric; got {array[u, v]!r} at ({u}, {v}) but "
                f"{array[v, u]!r} at ({v}, {u})."
            )
        # rounding of the caller's own arithmetic
        array = read_only((array + array.T) / 2)
    if array.dtype.kind == "i" and (array < 0).any():
        array = _with_costs(array, int(array.max(initial=0)) + 1, None)
    return array


def _with_costs(
    distances: NDArray[np.int32], unreachable: float, same_vertex: float | None
) -> NDArray[Any]:
    """Put costs in place of -1 and, unless None, of the diagonal; in int32 where they fit."""
    for name, cost in (("unreachable", unreachable), ("same_vertex", same_vertex)):
        if cost is not None and not np.isfinite(cost):
            raise ProblemError(f"{name}: must be a finite cost; got {cost!r}.")
    whole = float(unreachable).is_integer() and float(same_vertex or 0).is_integer()
    # a negative cost among whole numbers would read as unreachable
    whole = whole and 0 <= unreachable < 2**31 - 1 and 0 <= (same_vertex or 0) < 2**31 - 1
    costs = distances.astype(np.int32 if whole else np.float64)
    costs[distances < 0] = unreachable
    if same_vertex is not None:
        np.fill_diagonal(costs, same_vertex)
    return costs
