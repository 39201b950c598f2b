"""Which demands contradict each other: least sets, and how they are written to a Doc."""

from __future__ import annotations

from collections.abc import Callable, Hashable, Iterable, Mapping, Sequence
from typing import Any, NamedTuple, TypeVar

from spacy.tokens import Doc

from .. import extensions

__all__ = ["Source", "conflict", "least_conflict", "record_conflicts"]

Demand = TypeVar("Demand", bound=Hashable)


class Source(NamedTuple):
    """What demands something."""

    #: As messages name it: ``constraints[2]``, ``fixed_head``, ``present annotation``.
    name: str
    #: The tokens of the match, or of the annotation: ``doc[start:end]``.
    start: int
    end: int


def least_conflict(
    demands: Sequence[Demand], solvable: Callable[[list[Demand]], bool]
) -> list[Demand]:
    """Return a least set of demands that can't hold together, in their order.

    Without any one of them there is a solution. Empty if there is none even without demands.

    Parameters
    ----------
    demands
        Demands that have no solution together.
    solvable
        Whether there is a solution under some of them.

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
    # where boundaries move with the demands, fewer may have no solution either
    smaller = True
    while smaller and len(found) > 1:
        smaller = False
        for one in found:
            rest = [other for other in found if other != one]
            if not solvable(rest):
                found, smaller = rest, True
                break
    return found


def conflict(doc: Doc, start: int, end: int, sources: Iterable[Source]) -> dict[str, Any]:
    """Describe in plain types what contradicts itself in ``doc[start:end]``."""
    return {
        "start": start,
        "end": end,
        "demands": [
            {
                "source": source.name,
                "start": source.start,
                "end": source.end,
                "text": doc[source.start : source.end].text,
            }
            for source in dict.fromkeys(sources)
        ],
    }


def record_conflicts(doc: Doc, component: str, conflicts: Iterable[Mapping[str, Any]]) -> None:
    """Write to ``doc._.conflicts`` what :func:`conflict` returned, with the component's name."""
    entries = [dict(one) for one in conflicts]
    if entries or doc._.conflicts:
        doc._.conflicts = extensions.beside_others(doc._.conflicts, component, entries)
