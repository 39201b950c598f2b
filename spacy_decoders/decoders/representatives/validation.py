"""Checking the arrays of a problem: distances, and what candidates cost by themselves."""

from collections.abc import Sequence
from contextlib import suppress
from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

from ...arrays import (
    LARGEST_SCORE,
    checked_indices,
    checked_scores,
    is_number,
    read_only,
    refuse_beyond_memory,
)
from ...errors import ProblemError

__all__ = ["checked_distances", "checked_local", "checked_sets", "checked_weight", "with_costs"]


def checked_distances(values: Any) -> NDArray[Any]:
    """Return distances as a symmetric array, of int32 where whole numbers were given."""
    given = np.asarray(values) if not hasattr(values, "dtype") else values
    size = max(given.shape, default=0)
    refuse_beyond_memory("distances", f"{size} vertices", 24 * size**2, "give fewer candidates")
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
                f"distances: must be symmetric; got {array[u, v]} at ({u}, {v}) but "
                f"{array[v, u]} at ({v}, {u})."
            )
        # rounding of the caller's own arithmetic
        array = read_only((array + array.T) / 2)
    if array.dtype.kind == "i" and (array < 0).any():
        array = with_costs(array, int(array.max(initial=0)) + 1, None)
    elif array.dtype.kind == "f":
        _refuse_marks(array)
    return array


def _refuse_marks(distances: NDArray[np.float64]) -> None:
    """Raise if a graph's distances still have its marks of pairs without a path.

    They seem to where -1 is the only negative value, and divides the rows into parts within which
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
            f"distances: -1 at ({u}, {v}) would be a cost of -1, and seems to mean that there is "
            "no path; give what such a pair costs, such as one more than the largest distance, or "
            "let RepresentativesProblem.from_graph() do so."
        )


def checked_sets(
    sets: Sequence[ArrayLike], size: int
) -> tuple[NDArray[np.int32], NDArray[np.int64]]:
    """Return the candidates of all sets, which are below `size`, end to end.

    And where each set begins.
    """
    parts = [
        checked_indices(f"sets[{i}]", members, (None,), low=0, high=size)
        for i, members in enumerate(sets)
    ]
    lengths = [*map(len, parts)]
    if 0 in lengths:
        raise ProblemError(f"sets[{lengths.index(0)}]: no candidates; leave out what has none.")
    members = np.concatenate([np.empty(0, np.int32), *parts])
    return read_only(members), np.cumsum([0, *lengths], dtype=np.int64)


def checked_local(local: Sequence[ArrayLike], sizes: Sequence[int]) -> NDArray[np.float64]:
    """Return what the candidates of sets of these sizes cost by themselves; inf forbids one."""
    if len(local) != len(sizes):
        raise ProblemError(f"local: expected {len(sizes)} arrays, one per set; got {len(local)}.")
    parts = [
        _checked_costs(f"local[{i}]", costs, (size,))
        for i, (costs, size) in enumerate(zip(local, sizes, strict=True))
    ]
    return read_only(np.concatenate([np.empty(0), *parts]))


def _checked_costs(name: str, values: ArrayLike, shape: tuple[int | None]) -> NDArray[np.float64]:
    forbidden, finite = np.zeros(1, bool), values
    if not isinstance(values, np.ma.MaskedArray):
        with suppress(TypeError, ValueError):  # what are no numbers is refused below
            forbidden = np.isposinf(np.asarray(values, dtype=np.float64))
            finite = np.where(forbidden, 0.0, values) if forbidden.any() else values
    try:
        costs = checked_scores(name, finite, shape, dtype=np.float64, forbidden=False)
    except ProblemError as error:
        raise ProblemError(f"{error} A candidate is forbidden by a cost of inf.") from error
    return read_only(np.where(forbidden, np.inf, costs)) if forbidden.any() else costs


def checked_weight(weight: Any) -> float:
    """Return the weight of the pairs as a float."""
    if not is_number(weight) or not 0 <= weight <= LARGEST_SCORE:
        raise ProblemError(
            f"weight: expected a number from 0 to {LARGEST_SCORE:g}, so that costs are finite; "
            f"got {weight!r}."
        )
    return float(weight)


def with_costs(
    distances: NDArray[Any], unreachable: float, same_vertex: float | None
) -> NDArray[Any]:
    """Put costs in place of -1 and, unless None, of the diagonal; in int32 where they fit."""
    for name, cost in (("unreachable", unreachable), ("same_vertex", same_vertex)):
        if cost is not None and not np.isfinite(cost):
            raise ProblemError(f"{name}: must be a finite cost; got {cost!r}.")
    whole = float(unreachable).is_integer() and float(same_vertex or 0).is_integer()
    whole = whole and distances.dtype.kind == "i"
    # a negative cost among whole numbers would read as unreachable
    whole = whole and 0 <= unreachable < 2**31 - 1 and 0 <= (same_vertex or 0) < 2**31 - 1
    costs = distances.astype(np.int32 if whole else np.float64)
    costs[distances < 0] = unreachable
    if same_vertex is not None:
        np.fill_diagonal(costs, same_vertex)
    return costs
