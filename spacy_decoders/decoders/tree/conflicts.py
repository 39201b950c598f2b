"""Which rules leave no tree."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING

from ...errors import InfeasibleError
from .problem import TreeProblem

if TYPE_CHECKING:
    from .decoder import TreeDecoder

__all__ = ["conflicting_rules"]


def conflicting_rules(
    decoder: TreeDecoder, problem: TreeProblem, error: InfeasibleError
) -> InfeasibleError:
    """Return the error that names a smallest set of rules without any tree.

    Each of them is needed for the conflict: without it there is a tree. If there is none even
    without rules, `error` is returned.

    References
    ----------
    Junker (2004), QuickXplain: Preferred Explanations and Relaxations for Over-Constrained
    Problems.
    """
    if not _has_tree(decoder, problem, []):
        return error
    found = sorted(_smallest(decoder, problem, [], False, list(range(len(problem.rules)))))
    names = " and ".join(f"rules[{place}] {problem.rules[place]}" for place in found)
    which = "this rule" if len(found) == 1 else "these rules together"
    named = InfeasibleError(f"no tree satisfies {which}: {names}; drop or relax one.")
    named.rules = tuple(problem.rules[place] for place in found)
    return named


def _smallest(
    decoder: TreeDecoder, problem: TreeProblem, kept: list[int], changed: bool, rest: list[int]
) -> list[int]:
    """Return a smallest set of `rest` that conflicts with what is kept."""
    if changed and not _has_tree(decoder, problem, kept):
        return []
    if len(rest) == 1:
        return rest
    half = len(rest) // 2
    first, second = rest[:half], rest[half:]
    of_second = _smallest(decoder, problem, kept + first, True, second)
    of_first = _smallest(decoder, problem, kept + of_second, bool(of_second), first)
    return of_first + of_second


def _has_tree(decoder: TreeDecoder, problem: TreeProblem, places: list[int]) -> bool:
    rules = tuple(problem.rules[place] for place in sorted(places))
    try:
        decoder.decode(replace(problem, rules=rules))
    except InfeasibleError:
        return False
    return True
