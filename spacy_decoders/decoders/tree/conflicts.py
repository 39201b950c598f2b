"""Which rules, or demands of several rules each, leave no tree."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from typing import TYPE_CHECKING

from ...budget import UNLIMITED, Budget
from ...errors import InfeasibleError
from .problem import TreeProblem

if TYPE_CHECKING:
    from .constrained import LabelledSearch
    from .decoder import TreeDecoder

__all__ = ["conflicting_rules", "least_conflict"]

#: The most rules that a message names.
MOST_NAMED = 20


def least_conflict(
    problem: TreeProblem,
    demands: Sequence[Sequence[int]],
    decoder: TreeDecoder,
    budget: Budget = UNLIMITED,
) -> tuple[list[int], bool]:
    """Return demands that no tree satisfies together, and whether each of them is needed.

    Parameters
    ----------
    problem
        One without any tree, for its rules.
    demands
        The places in ``problem.rules`` of the rules that each demand consists of, such as a fixed
        head and its label. A rule may belong to several. What is in none is never dropped.
    decoder
        Finds trees of the problem without labels and rules.
    budget
        For all searches together.

    Returns
    -------
    places : list of int
        Of the demands; none if there is no tree without all of them either.
    is_least : bool
        Whether there is a tree without any one of these demands. Otherwise the budget ended
        before; no tree satisfies these demands, but perhaps some of them are not needed.

    Examples
    --------
    >>> import numpy as np
    >>> from spacy_decoders.decoders.tree import Eisner, FixedArc, FixedStart, TreeProblem
    >>> rules = [FixedArc(0, 1), FixedArc(1, 2), FixedStart(2)]
    >>> problem = TreeProblem(np.zeros((4, 4)), boundaries=np.zeros(3), rules=rules)
    >>> least_conflict(problem, [[0], [1], [2]], Eisner())
    ([1, 2], True)
    """
    from .constrained import LabelledSearch

    return _ConflictSearch(LabelledSearch(decoder, problem, budget.start()), demands).run()


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
    """
    rules = search.problem.rules
    found, is_least = _ConflictSearch(search, [[place] for place in range(len(rules))]).run()
    if not found:
        return error
    names = " and ".join(f"rules[{place}] {rules[place]}" for place in found[:MOST_NAMED])
    if len(found) > MOST_NAMED:
        names += f" and {len(found) - MOST_NAMED} more"
    which = "this rule" if len(found) == 1 else "these rules together"
    advice = "drop or relax one."
    if not is_least:
        advice = "the budget ended before a smallest set of them was found."
    named = InfeasibleError(f"no tree satisfies {which}: {names}; {advice}")
    named.rules, named.is_least = tuple(rules[place] for place in found), is_least
    return named


class _ConflictSearch:
    """Divides the demands until each that is left is needed, or the clock ends.

    References
    ----------
    Junker (2004), QuickXplain: Preferred Explanations and Relaxations for Over-Constrained
    Problems.
    """

    def __init__(self, search: LabelledSearch, demands: Sequence[Sequence[int]]) -> None:
        self.search = search
        self.demands = demands
        self.always = set(range(len(search.problem.rules))).difference(*demands)
        self.iterations = search.iterations
        self.is_least = True

    def run(self) -> tuple[list[int], bool]:
        if not self._has_tree([]):
            return [], True
        found = sorted(self._least([], False, list(range(len(self.demands)))))
        return found, self.is_least

    def _least(self, kept: list[int], changed: bool, rest: list[int]) -> list[int]:
        """Return a least set of `rest` that conflicts with what is kept; all of it does."""
        if changed and not self._has_tree(kept):
            return []
        if len(rest) == 1:
            return rest
        if self.search.clock.exhausted(self.iterations):
            self.is_least = False
            return rest
        half = len(rest) // 2
        first, second = rest[:half], rest[half:]
        of_second = self._least(kept + first, True, second)
        of_first = self._least(kept + of_second, bool(of_second), first)
        return of_first + of_second

    def _has_tree(self, demands: list[int]) -> bool:
        """Return False only where it is proven that no tree satisfies these demands."""
        given = self.search
        places = self.always.union(*(self.demands[demand] for demand in demands))
        inner = type(given)(
            given.decoder,
            replace(given.problem, rules=tuple(given.problem.rules[at] for at in sorted(places))),
            given.clock,
            iterations=self.iterations,
            any_tree=True,
        )
        found = inner.has_tree()
        self.iterations = inner.iterations
        if found is None:
            self.is_least = False
        return found is not False
