"""Which rules leave no tree."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING

from ...errors import InfeasibleError

if TYPE_CHECKING:
    from .constrained import LabelledSearch

__all__ = ["conflicting_rules"]

#: The most rules that a message names.
MOST_NAMED = 20


def conflicting_rules(search: LabelledSearch, error: InfeasibleError) -> InfeasibleError:
    """Return the error that names a least set of rules without any tree.

    Each of them is needed for the conflict: without it there is a tree. If there is none even
    without rules, `error` is returned. Where the budget ends before, the set still has no tree,
    but may be larger than needed, and the message says so.

    Parameters
    ----------
    search
        The one that found no tree; its clock goes on.
    error
        What it raised.

    References
    ----------
    Junker (2004), QuickXplain: Preferred Explanations and Relaxations for Over-Constrained
    Problems.
    """
    conflict = _ConflictSearch(search)
    if not conflict.has_tree([]):
        return error
    rules = search.problem.rules
    found = sorted(conflict.least([], False, list(range(len(rules)))))
    names = " and ".join(f"rules[{place}] {rules[place]}" for place in found[:MOST_NAMED])
    if len(found) > MOST_NAMED:
        names += f" and {len(found) - MOST_NAMED} more"
    which = "this rule" if len(found) == 1 else "these rules together"
    advice = "drop or relax one."
    if not conflict.is_least:
        advice = "the budget ended before a smallest set of them was found."
    named = InfeasibleError(f"no tree satisfies {which}: {names}; {advice}")
    named.rules, named.is_least = tuple(rules[place] for place in found), conflict.is_least
    return named


class _ConflictSearch:
    """Divides the rules until each that is left is needed, or the clock ends."""

    def __init__(self, search: LabelledSearch) -> None:
        self.search = search
        self.iterations = search.iterations
        self.is_least = True

    def least(self, kept: list[int], changed: bool, rest: list[int]) -> list[int]:
        """Return a least set of `rest` that conflicts with what is kept; all of it does."""
        if changed and not self.has_tree(kept):
            return []
        if len(rest) == 1:
            return rest
        if self.search.clock.exhausted(self.iterations):
            self.is_least = False
            return rest
        half = len(rest) // 2
        first, second = rest[:half], rest[half:]
        of_second = self.least(kept + first, True, second)
        of_first = self.least(kept + of_second, bool(of_second), first)
        return of_first + of_second

    def has_tree(self, places: list[int]) -> bool:
        """Return False only where it is proven that no tree satisfies these rules."""
        given = self.search
        rules = tuple(given.problem.rules[place] for place in sorted(places))
        inner = type(given)(
            given.decoder,
            replace(given.problem, rules=rules),
            given.clock,
            iterations=self.iterations,
            any_tree=True,
        )
        found = inner.has_tree()
        self.iterations = inner.iterations
        if found is None:
            self.is_least = False
        return found is not False
