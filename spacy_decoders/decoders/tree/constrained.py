"""Labels and rules: the best labelled tree that satisfies all, with any decoder of trees.

At first every arc has its best label, and the rules that no single arc or label breaks are left
out: the best tree of this relaxation bounds all others, and mostly satisfies the rules already.
Where it breaks one, a chart over single arcs that keeps to the rules (:mod:`.kernels.ruled`) looks
for a first tree, and the search branches (:mod:`.rule_branching`): a label of an arc, a token as a
leaf or as the head of a constituent is demanded in one child and forbidden in the other, so that
each child is a relaxation of the same kind, with fewer arcs and labels, which the decoder solves.
"""

from __future__ import annotations

import heapq
from dataclasses import replace
from functools import cached_property
from itertools import count
from typing import TYPE_CHECKING, NamedTuple

import numpy as np
from numpy.typing import NDArray

from ...arrays import read_only
from ...budget import Budget, Clock, rest_of
from ...certificate import Certificate, agree, tolerance_of
from ...errors import DecodersError, InfeasibleError, UndecidedError
from .label_classes import allowed_arcs, allowed_labels
from .problem import TreeProblem, TreeSolution
from .rules import AtMost, Constituent, FixedStart, Leaves
from .scoring import starts_of_tree

if TYPE_CHECKING:
    from .decoder import TreeDecoder
    from .rule_branching import RuleBranching, Subset
    from .rules import Rule

__all__ = ["best_constrained"]

Floats = NDArray[np.float64]
Labels = NDArray[np.int64]

#: The most bytes of open nodes: the search ends there as with its budget.
MOST_NODE_BYTES = 200_000_000

#: The most seconds of a chart that looks for a first tree, of all that are left to the search.
FIRST_SECONDS = 0.2

#: What of the time the first decoding may take, which seldom satisfies the rules.
FIRST_SHARE = 0.7

#: The most rules that a message names.
MOST_NAMED = 20

NOTHING_YET = (
    "rules: the budget ended before any tree that satisfies them was found; allow more seconds or "
    "iterations, or drop a rule."
)


class LabelledNode(NamedTuple):
    """A part of the labelled trees, and the best tree of its relaxation with its labels."""

    part: Subset | None
    solution: TreeSolution
    labels: Labels | None


def best_constrained(decoder: TreeDecoder, problem: TreeProblem, budget: Budget) -> TreeSolution:
    """Return the best labelled tree that satisfies the rules.

    Parameters
    ----------
    decoder
        Finds the best tree of a problem without labels and rules, and bounds all others.
    budget
        For all of its searches together.

    Raises
    ------
    InfeasibleError
        If there is no such tree; the message names the rules that exclude each other.
    UndecidedError
        If the budget ends before any was found.
    """
    search = LabelledSearch(decoder, problem, budget.start())
    try:
        return search.run()
    except InfeasibleError as error:
        if not problem.rules:
            raise
        raise _conflicting_rules(search, error) from None


class LabelledSearch:
    """Best-first search over the nodes.

    Parameters
    ----------
    decoder, problem
        As for :func:`best_constrained`.
    clock
        Of all searches that share a budget.
    iterations
        How many of the budget's are done already.
    any_tree
        Whether to end at the first tree.
    """

    def __init__(
        self,
        decoder: TreeDecoder,
        problem: TreeProblem,
        clock: Clock,
        *,
        iterations: int = 0,
        any_tree: bool = False,
    ) -> None:
        self.decoder = decoder
        self.problem = problem
        self.clock = clock
        self.iterations = iterations
        self.any_tree = any_tree
        self.relaxed = _with_starts(problem)
        allowed_by_rules = allowed_arcs(problem)
        self.arcs = problem.arcs
        if allowed_by_rules is not None:
            self.arcs = np.where(allowed_by_rules, problem.arcs, -np.inf)
        self.labels = problem.labels
        if problem.labels is not None:
            allowed = allowed_labels(problem, problem.labels.shape[2])
            if allowed is not None:
                self.labels = np.where(allowed, problem.labels, -np.inf)
        self.best: tuple[float, TreeSolution, Labels | None] | None = None

    def run(self) -> TreeSolution:
        share = FIRST_SHARE if any(map(_needs_search, self.problem.rules)) else 1.0
        if self.labels is None:
            first = LabelledNode(None, self._decoded(self.arcs, share), None)
        else:
            whole = self._branching.everything
            solution = self._decoded(self._branching.arcs_of(whole), share)
            labels = self._branching.labels_of(whole, solution.heads)
            first = LabelledNode(None, solution, labels)
        bound = _bound_of(first.solution)
        if self._breaks_none(first.solution.heads, first.labels):
            return self._certified(first.solution, first.labels, bound)
        return self._branch(first, bound)

    @cached_property
    def _branching(self) -> RuleBranching:
        from .rule_branching import RuleBranching  # compiled where it is first needed

        return RuleBranching(self.problem, self.arcs, self.labels)

    def _decoded(self, arcs: Floats, share: float = 1.0) -> TreeSolution:
        budget = rest_of(self.clock, self.iterations)
        if budget.seconds is not None:
            budget = replace(budget, seconds=share * budget.seconds)
        try:
            solution = self.decoder.decode(self.relaxed.with_arcs(arcs), budget=budget)
        except InfeasibleError:
            self.iterations += 1
            raise
        self.iterations += solution.certificate.iterations
        return solution

    def _breaks_none(self, heads: NDArray[np.int32], labels: Labels | None) -> bool:
        tree = [-1, *heads.tolist()]
        given = [-1] * len(tree) if labels is None else [-1, *labels.tolist()]
        return not any(rule.is_broken(tree, given) for rule in self.problem.rules)

    def _branch(self, first: LabelledNode, bound: float) -> TreeSolution:
        """Search the parts that the rules cut the labelled trees into.

        The node with the highest bound comes first; as long as no tree is known, the node that was
        made last, so that demands add up to one.
        """
        branching = self._branching
        self._offer_repaired(branching, first)
        if self.best is None:
            self._offer_charted(branching)
        order, closed = count(), -np.inf
        opened = [(-bound, next(order), first._replace(part=branching.everything))]
        ordered = ended = False
        while opened:
            if self.best is not None and not ordered:
                heapq.heapify(opened)
                ordered = True
            ended = ended or self.clock.exhausted(self.iterations)
            ended = ended or len(opened) * branching.size > MOST_NODE_BYTES
            if self.best is not None:
                bound = -opened[0][0]
                if ended or self.any_tree or self._closes(bound):
                    break
            elif ended:
                raise UndecidedError(NOTHING_YET)
            upper, _, node = heapq.heappop(opened) if ordered else opened.pop()
            assert node.part is not None  # every node of the search is a part
            violation = branching.violation(node.solution.heads, node.labels)
            if violation is None:
                self._offer(node.solution, node.labels, 0.0)
                closed = max(closed, -upper)
                continue
            if node.part is not branching.everything:
                self._offer_repaired(branching, node)
            halves = branching.children(node.part, violation, thorough=self.best is None)
            for part in halves:
                try:
                    if self.clock.exhausted(self.iterations):
                        raise UndecidedError(NOTHING_YET)
                    child = self._solved(branching, part)
                except UndecidedError:
                    opened.append((upper, next(order), node))  # it stays open
                    ordered, ended = False, True
                    break
                if child is not None:
                    entry = max(upper, -_bound_of(child.solution)), next(order), child
                    if ordered:
                        heapq.heappush(opened, entry)
                    else:
                        opened.append(entry)
        if self.best is None:
            raise InfeasibleError("no tree satisfies all rules.")
        if opened:
            closed = max(closed, -min(opened)[0])
        if not self._breaks_none(self.best[1].heads, self.best[2]):
            raise DecodersError("rules: the search returned a tree that breaks one.")
        return self._certified(self.best[1], self.best[2], closed)

    def _closes(self, bound: float) -> bool:
        """Return whether no tree of a part with this bound can be better than the best."""
        assert self.best is not None  # else nothing is closed
        return bound <= self.best[0] or agree(self.best[0], bound, abs(self.best[0]))

    def _offer_charted(self, branching: RuleBranching) -> None:
        """Look for a projective tree of arcs alone that satisfies the rules, by one chart.

        So the budget may end at any time after this, and a first tree lets bounds close nodes.
        Each further chart demands or forbids the head of a constituent.
        """
        limit = self.clock.budget.seconds
        beyond = 0.0 if limit is None else 0.02 + 0.1 * limit  # the first may exceed it so far
        for most in (0.0, FIRST_SECONDS):  # without any label that is counted; with them
            parts = [branching.everything]
            for _ in range(1 + 2 * len(self.problem.rules)):
                if not parts or self.best is not None:
                    break
                seconds = max(self.clock.seconds_left, beyond)
                if seconds == 0.0:
                    return
                part = parts.pop()
                found = branching.charted(part, self.relaxed, min(seconds, most))
                if most > 0.0:
                    beyond = 0.0
                if found is None:
                    continue
                heads, labels = found
                for own in (labels, branching.relabelled(heads)):
                    if (own is None) == (labels is None) and self._breaks_none(heads, own):
                        self._offer_scored(heads, own)
                violation = branching.violation(heads, labels)
                if violation is not None:
                    parts += branching.children(part, violation)

    def _offer_scored(self, heads: NDArray[np.int32], labels: Labels | None) -> None:
        """Keep a tree that breaks no rule, unless it is forbidden or worse than the best."""
        score, _ = self.decoder.objective(self.problem, heads, labels)
        if score > (-np.inf if self.best is None else self.best[0]):
            name = type(self.decoder).__name__
            certificate = Certificate.heuristic(name, score, scope=self.problem.scope)
            starts = None if self.problem.boundaries is None else starts_of_tree(heads)
            self.best = score, TreeSolution(heads, certificate, starts=starts), labels

    def _solved(self, branching: RuleBranching, part: Subset) -> LabelledNode | None:
        """Return the best tree of a part, None if it has none."""
        try:
            solution = self._decoded(branching.arcs_of(part))
        except InfeasibleError:
            return None
        return LabelledNode(part, solution, branching.labels_of(part, solution.heads))

    def _offer_repaired(self, branching: RuleBranching, node: LabelledNode) -> None:
        """Give a tree the best labels that satisfy the rules, and keep it if it is the best."""
        repaired = branching.relabelled(node.solution.heads)
        if repaired is not None:
            gain = branching.label_score(node.solution.heads, repaired)
            gain -= branching.label_score(node.solution.heads, node.labels)
            self._offer(node.solution, repaired, gain)

    def _offer(self, solution: TreeSolution, labels: Labels | None, gain: float) -> None:
        score = solution.certificate.score
        assert score is not None  # the infeasible are raised
        better = self.best is None or score + gain > self.best[0]
        if better and self._breaks_none(solution.heads, labels):
            self.best = score + gain, solution, labels

    def _certified(
        self, solution: TreeSolution, labels: Labels | None, bound: float
    ) -> TreeSolution:
        """Return a solution whose certificate compares its score with the bound on all."""
        problem, own = self.problem, solution.certificate
        score, scale = self.decoder.objective(problem, solution.heads, labels)
        if score == -np.inf:
            raise DecodersError(f"{own.decoder}: the search returned a forbidden tree.")
        certificate = Certificate.from_bound(
            own.decoder,
            score,
            bound,
            tolerance=max(own.tolerance, tolerance_of(scale)),
            scale=scale,
            scope=problem.scope,
            iterations=self.iterations,
        )
        kept = None if labels is None else labels.astype(np.int32)
        return replace(solution, certificate=certificate, labels=kept)


def _needs_search(rule: Rule) -> bool:
    """Return whether a rule is more than a mask of arcs and labels."""
    return isinstance(rule, (AtMost, Constituent, Leaves))


def _bound_of(solution: TreeSolution) -> float:
    bound = solution.certificate.bound
    return np.inf if bound is None else bound


def _with_starts(problem: TreeProblem) -> TreeProblem:
    """Forbid the boundaries that rules forbid."""
    wrong = [
        rule.token - 1
        for rule in problem.rules
        if isinstance(rule, FixedStart) and not rule.begins and rule.token > 1
    ]
    if problem.boundaries is None or not wrong:
        return problem
    boundaries = np.array(problem.boundaries)
    boundaries[wrong] = -np.inf
    return problem.with_boundaries(read_only(boundaries))


def _conflicting_rules(search: LabelledSearch, error: InfeasibleError) -> InfeasibleError:
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
        inner = LabelledSearch(
            given.decoder,
            replace(given.problem, rules=rules),
            given.clock,
            iterations=self.iterations,
            any_tree=True,
        )
        try:
            inner.run()
        except InfeasibleError:
            return False
        except UndecidedError:
            self.is_least = False
        finally:
            self.iterations = inner.iterations
        return True
