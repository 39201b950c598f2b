"""Minimal sets of conflicting demands."""

from collections.abc import Callable, Hashable, Sequence
from typing import TypeVar

__all__ = ["least_conflict"]

Demand = TypeVar("Demand", bound=Hashable)


def least_conflict(
    demands: Sequence[Demand], solvable: Callable[[list[Demand]], bool]
) -> list[Demand]:
    """Return a minimal set of demands that can't hold together, in their order.

    All demands together have no solution; `solvable` says whether some of them do. Without any one
    of the minimal set there is a solution. It is empty if there is none even without demands.

    References
    ----------
    Junker (2004), QuickXplain: Preferred Explanations and Relaxations for Over-Constrained
    Problems.

    Examples
    --------
    >>> least_conflict([1, 2, 3, 4], lambda kept: not {2, 4} <= set(kept))
    [2, 4]
    """
    if not demands or not solvable([]):
        return []

    def needed(kept: list[Demand], changed: bool, rest: list[Demand]) -> list[Demand]:
        if changed and not solvable(kept):
            return []
        if len(rest) == 1:
            return rest
        first, second = rest[: len(rest) // 2], rest[len(rest) // 2 :]
        of_second = needed(kept + first, True, second)
        return needed(kept + of_second, bool(of_second), first) + of_second

    found = needed([], False, list(demands))
    # if boundaries change with the demands, a smaller set may have no solution either
    smaller = True
    while smaller and len(found) > 1:
        smaller = False
        for one in found:
            rest = [other for other in found if other != one]
            if not solvable(rest):
                found, smaller = rest, True
                break
    return found
