"""Validation of the arrays of a problem: distances, sets and local costs."""

from collections.abc import Sequence
from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

from ...arrays import (
    LARGEST_SCORE,
    Floats,
    Integers,
    checked_each,
    checked_indices,
    checked_list,
    checked_numbers,
    checked_scores,
    is_number,
    read_only,
    refuse_beyond_memory,
)
from ...errors import ProblemError

__all__ = ["checked_distances", "checked_local", "checked_sets", "checked_weight", "with_costs"]


def checked_distances(values: Any) -> NDArray[Any]:
    """Return distances as a symmetric array, of int32 where integers were given."""
    given = checked_numbers("distances", values)
    size = max(given.shape, default=0)
    refuse_beyond_memory("distances", f"{size} vertices", 24 * size**2, "give fewer candidates")
    if given.dtype.kind in "iu":
        array = checked_indices("distances", given, (None, None), low=-1, high=2**31 - 1)
    else:
        array = checked_scores("distances", given, (None, None), dtype=np.float64, forbidden=False)
    if array.shape[0] != array.shape[1]:
        raise ProblemError(f"distances: expected a square matrix, got shape {array.shape}.")
    if not np.array_equal(array, array.T):
        whole = array.dtype.kind == "i"  # integers have no rounding errors to tolerate
        near = array == array.T if whole else np.isclose(array, array.T, rtol=1e-6, atol=1e-9)
        unequal = np.argwhere(~near)
        if len(unequal):
            u, v = (int(x) for x in unequal[0])
            raise ProblemError(
                f"distances: must be symmetric; got {array[u, v]} at ({u}, {v}) but "
                f"{array[v, u]} at ({v}, {u})."
            )
        # symmetric but for the rounding errors of the caller's arithmetic
        array = read_only((array + array.T) / 2)
    if array.dtype.kind == "i" and (array < 0).any():
        array = with_costs(array, int(array.max(initial=0)) + 1, None)
    elif array.dtype.kind == "f":
        _refuse_marks(array)
    return array


def _refuse_marks(distances: Floats) -> None:
    """Raise if distances seem to contain -1 for pairs without a path.

    That is, if -1 is the only negative value, and separates the rows into components within which
    all distances are positive.
    """
    if distances.min(initial=0.0) >= 0:
        return
    near = distances >= 0
    alone = np.eye(len(distances), dtype=bool)
    if (
        (distances[~near] != -1.0).any()
        or ((distances == 0) != alone).any()
        or (near == alone).all()
    ):
        return
    part = near.argmax(axis=1)
    if (near == (part[:, None] == part)).all():
        u, v = np.argwhere(~near)[0].tolist()
        raise ProblemError(
            f"distances: -1 at ({u}, {v}) would be a cost of -1, but seems to mean that there is "
            "no path; replace it by the cost of such a pair, such as one more than the largest "
            "distance, or let RepresentativesProblem.from_graph() do so."
        )


def checked_sets(sets: Sequence[ArrayLike], size: int) -> tuple[NDArray[np.int32], Integers]:
    """Return the candidates of all sets, concatenated, and where each set begins.

    Each candidate is a row below `size`.
    """
    parts = checked_each("sets", sets, low=0, high=size)
    lengths = [*map(len, parts)]
    if 0 in lengths:
        raise ProblemError(f"sets[{lengths.index(0)}]: no candidates; leave out empty sets.")
    members = np.concatenate([np.empty(0, np.int32), *parts])
    return read_only(members), np.cumsum([0, *lengths], dtype=np.int64)


def checked_local(local: Sequence[ArrayLike], sizes: Sequence[int]) -> Floats:
    """Return the concatenated local costs of sets of these sizes; inf forbids a candidate."""
    local = checked_list("local", local, "arrays, one per set")
    if len(local) != len(sizes):
        raise ProblemError(f"local: expected {len(sizes)} arrays, one per set; got {len(local)}.")
    parts = [
        _checked_costs(f"local[{i}]", costs, (size,))
        for i, (costs, size) in enumerate(zip(local, sizes, strict=True))
    ]
    return read_only(np.concatenate([np.empty(0), *parts]))


def _checked_costs(name: str, values: ArrayLike, shape: tuple[int | None]) -> Floats:
    try:
        given = checked_numbers(name, values)
        forbidden = given == np.inf
        finite = np.where(forbidden, 0.0, given)
        costs = checked_scores(name, finite, shape, dtype=np.float64, forbidden=False)
    except ProblemError as error:
        raise ProblemError(f"{error} To forbid a candidate, set its cost to inf.") from error
    return read_only(np.where(forbidden, np.inf, costs))


def checked_weight(weight: Any) -> float:
    """Return the weight of the distances as a float."""
    if not is_number(weight) or not 0 <= weight <= LARGEST_SCORE:
        raise ProblemError(
            f"weight: expected a number from 0 to {LARGEST_SCORE:g}, so that costs are finite; "
            f"got {weight!r}."
        )
    return float(weight)


def with_costs(
    distances: NDArray[Any], unreachable: float, same_vertex: float | None
) -> NDArray[Any]:
    """Replace -1, and the diagonal unless None, by costs; in int32 if they fit."""
    for name, cost in (("unreachable", unreachable), ("same_vertex", same_vertex)):
        if cost is not None and not (is_number(cost) and abs(cost) <= LARGEST_SCORE):
            raise ProblemError(
                f"{name}: expected a number within ±{LARGEST_SCORE:g}; got {cost!r}."
            )
    whole = float(unreachable).is_integer() and float(same_vertex or 0).is_integer()
    whole = whole and distances.dtype.kind == "i"
    # among integers, a negative cost would be read as unreachable
    whole = whole and 0 <= unreachable < 2**31 - 1 and 0 <= (same_vertex or 0) < 2**31 - 1
    costs = distances.astype(np.int32 if whole else np.float64)
    costs[distances < 0] = unreachable
    if same_vertex is not None:
        np.fill_diagonal(costs, same_vertex)
    return costs
