"""Labels and rules: the best labelled tree that satisfies all, with any decoder of trees.

At first every arc has its best label, and the rules that no single arc or label breaks are left
out: the best tree of this relaxation bounds all others, and mostly satisfies the rules already.
Where it breaks one, the search branches (:mod:`.rule_limits`): those arcs of a token that a rule
counts are demanded in one child and forbidden in the other, so that each child is a relaxation of
the same kind, with fewer arcs and labels, which the decoder solves. The tree of each, with other
labels where its own break a rule, may be the best so far. Most children need no decoding: they are
bounded by the best trees of their parent with each labelled arc, which its chart tells of.
"""

import heapq
from collections.abc import Iterator, Sequence
from contextlib import suppress
from dataclasses import replace
from itertools import count
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from ...budget import Budget, Clock, rest_of
from ...certificate import tolerance_of
from ...errors import DecodersError, InfeasibleError, UndecidedError
from ..conflicts import least_conflict
from .decoder import TreeDecoder, certified, most_gained, rounding_slack
from .problem import TreeProblem, TreeSolution
from .rule_limits import Branch, LabelledArcs, Mask, Violation
from .rules import FixedStart, Rule
from .scoring import breaks_any

__all__ = ["LabelledSearch", "best_constrained", "no_tree_under"]

Floats = NDArray[np.float64]
Labels = NDArray[np.int64]
#: A tree that breaks no rule, with its score and labels.
_Found = tuple[float, TreeSolution, Labels | None]

#: The most bytes of open nodes: the search ends there as with its budget.
MOST_NODE_BYTES = 200_000_000

#: What of the time the first decoding may take, which seldom satisfies the rules.
FIRST_SHARE = 0.7

#: The most labels that are changed in a tree once a legal one is known: those of texts take one
#: or two, and a row of words that all break a rule takes one for each word.
STEPS_OF_LABELS = 16

#: The most rules that a message names.
MOST_NAMED = 20

NOTHING_YET = (
    "rules: the budget ended before any tree that satisfies them was found; allow more seconds or "
    "iterations, or drop a rule."
)


class RuledNode(NamedTuple):
    """A part of the labelled trees, and what none of them exceeds."""

    #: bool (n + 1, n + 1, labels), the labelled arcs that they may have.
    part: Mask
    upper: float
    #: What they are among those; None for all, of which the best tree was found.
    branch: Branch | None = None
    #: What that tree breaks, if anything.
    violation: Violation | None = None
    #: (n + 1, n + 1), what bounds those with each arc, less its score; None where unknown.
    others: Floats | None = None


def best_constrained(decoder: TreeDecoder, problem: TreeProblem, budget: Budget) -> TreeSolution:
    """Return the best labelled tree that satisfies the rules.

    The decoder finds the best tree of a problem without labels and rules, and bounds all others;
    the budget is for all of its searches together. Raises `InfeasibleError` if there is no such
    tree, which names the rules that exclude each other, and `UndecidedError` if the budget ends
    before any was found.
    """
    search = LabelledSearch(decoder, problem, budget.start())
    try:
        return search.run()
    except InfeasibleError as error:
        if not problem.rules:
            raise
        raise _conflicting_rules(search, error) from None


class LabelledSearch:
    """Best-first search over the nodes; the newest first as long as no tree is known.

    Searches that share a budget share its clock, and are told how many iterations are done. One
    for `any_tree` ends at the first.
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
        self.arcs = LabelledArcs(problem.rules, problem.arcs, problem.labels)
        self.best: _Found | None = None
        self.most_gained = 0.0
        self.ends: list[RuledNode] = []
        self.leaves: list[Mask] = []
        self.solution: TreeSolution | None = None

    def relaxations(self) -> list[TreeProblem]:
        """Search; return problems without labels and rules that together have all legal trees.

        A legal tree scores in one of them what it does under the rules, or more. There are none if
        the budget ends before the first tree.
        """
        with suppress(InfeasibleError, UndecidedError):
            self.solution = self.run()
        parts = [self.arcs.taken(node.part, node.branch) for node in self.ends]
        self.leaves = [part for part in parts if part is not None]
        return [self.relaxed.with_arcs(self.arcs.arcs_with(part)) for part in self.leaves]

    def run(self) -> TreeSolution:
        opened: list[tuple[float, int, RuledNode]] = []
        age, closed = count(), -np.inf

        def put(node: RuledNode) -> None:
            key = -np.inf if self.best is None else -node.upper
            heapq.heappush(opened, (key, -next(age), node))

        put(self._solved(self.arcs.possible, np.inf, FIRST_SHARE if self.arcs.is_limited else 1.0))
        fallback = None if self.best is not None else self._chain()
        if self.any_tree and self.best is None:
            self.best = fallback
        while opened and not (self.any_tree and self.best is not None):
            node = heapq.heappop(opened)[-1]
            if (node.branch or node.violation) is None or self._closes(node.upper):
                closed = max(closed, node.upper)
                self.ends.append(node)
                continue
            try:
                for other in self._replacing(node):
                    put(other)
            except UndecidedError:
                put(node)  # it stays open
                break
            if len(opened) * self.arcs.possible.nbytes > MOST_NODE_BYTES:
                break
        self.ends += [entry[-1] for entry in opened]
        self.best = self.best or fallback
        if self.best is None:
            if opened:
                raise UndecidedError(NOTHING_YET)
            raise InfeasibleError("no tree satisfies all rules.")
        bound = max([closed, *(entry[-1].upper for entry in opened)])
        return self._certified(self.best[1], self.best[2], bound)

    def _replacing(self, node: RuledNode) -> Iterator[RuledNode]:
        """Yield what takes the place of a node: itself with its best tree, or its children."""
        if node.violation is not None:
            for branch in self.arcs.branches(node.part, node.violation, node.others):
                upper = node.upper
                if node.others is not None and np.isfinite(branch.upper):
                    slack = rounding_slack(8 * self.problem.n, branch.upper, self.most_gained)
                    upper = min(upper, branch.upper + slack)
                yield RuledNode(node.part, upper, branch)
            return
        if self.clock.exhausted(self.iterations):
            raise UndecidedError(NOTHING_YET)
        part = self.arcs.taken(node.part, node.branch)
        if part is not None:
            with suppress(InfeasibleError):
                yield self._solved(part, node.upper)

    def _closes(self, upper: float) -> bool:
        """Return whether no tree of a part with this bound can be better than the best."""
        if self.best is None:
            return False
        return upper - self.best[0] <= tolerance_of(abs(self.best[0]))

    def _solved(self, part: Mask, upper: float, share: float = 1.0) -> RuledNode:
        """Decode a part; keep its best tree, or that with other labels, if it breaks no rule."""
        arcs, budget = self.arcs.arcs_with(part), rest_of(self.clock, self.iterations)
        if budget.seconds is not None:
            budget = replace(budget, seconds=share * budget.seconds)
        relaxed = self.relaxed.with_arcs(arcs)
        try:
            solution, find_through = self.decoder.decode_with_bounds(relaxed, budget)
        except InfeasibleError:
            self.iterations += 1
            raise
        self.iterations += solution.certificate.iterations
        heads, bound = solution.heads, solution.certificate.bound
        labels = self.arcs.best_labels(part, heads)
        if not part[heads, np.arange(1, len(heads) + 1), labels].all():
            raise DecodersError("rules: a tree has a label that was excluded.")
        violation, others = self.arcs.violation(heads, labels), None
        if violation is not None:
            steps = None if self.best is None else STEPS_OF_LABELS
            legal = self.arcs.relabelled(heads, violation, steps=steps)
            if legal is not None:
                self._offer(solution, legal)
            if find_through is not None and bound is not None:
                # the first node has all arcs
                self.most_gained = self.most_gained or most_gained(relaxed)
                others = find_through() - np.where(arcs > -np.inf, arcs, np.inf)
        elif not self._offer(solution, labels):
            raise DecodersError("rules: the search returned a tree that breaks one.")
        upper = upper if bound is None else min(upper, bound)
        return RuledNode(part, upper, None, violation, others)

    def _chain(self) -> _Found | None:
        """Return a legal tree in which as many tokens as possible hang on a neighbour.

        A head with one dependant exceeds no number of them, so that rules which hardly any tree
        satisfies have one before the search begins. It is no iteration of the budget, and does not
        change the order of the search.
        """
        given, everything = self.problem, self.arcs.possible.any(axis=2)
        starts = self.relaxed.boundaries
        found = None
        for side in (1, -1):
            arcs = np.where(everything, np.eye(given.n + 1, k=side), -np.inf)
            arcs[0, side] += 1.0  # the outermost token is the root
            bare = TreeProblem(
                arcs,
                projective=given.projective,
                single_root=given.single_root,
                boundaries=None if starts is None else np.where(starts > -np.inf, 0.0, starts),
            )
            with suppress(InfeasibleError, UndecidedError):
                tree = self.decoder.decode(bare, budget=rest_of(self.clock, self.iterations))
                labels = self.arcs.relabelled(tree.heads)
                if labels is not None:
                    found = max(found, self._legal(tree, labels), key=_score_of)
        return found

    def _offer(self, solution: TreeSolution, labels: Labels) -> bool:
        """Keep a tree if it is the best so far; return whether it is legal."""
        found = self._legal(solution, labels)
        self.best = max(self.best, found, key=_score_of)
        return found is not None

    def _legal(self, solution: TreeSolution, labels: Labels) -> _Found | None:
        """Return a tree with its score in the problem; None if it is forbidden or illegal."""
        own = None if self.problem.labels is None else labels
        score, _ = self.decoder.objective(self.problem, solution.heads, own)
        legal = score > -np.inf and not breaks_any(self.problem.rules, solution.heads, own)
        return (score, solution, own) if legal else None

    def _certified(
        self, solution: TreeSolution, labels: Labels | None, bound: float
    ) -> TreeSolution:
        """Return a solution whose certificate compares its score with the bound on all."""
        problem, own = self.problem, solution.certificate
        score, scale = self.decoder.objective(problem, solution.heads, labels)
        if score == -np.inf:
            raise DecodersError(f"{own.decoder}: the search returned a forbidden tree.")
        given = (problem, solution.heads, score, scale, bound, 0.0, self.iterations)
        found = certified(own.decoder, *given, tolerance=own.tolerance)
        return replace(found, labels=None if labels is None else labels.astype(np.int32))


def _score_of(found: _Found | None) -> float:
    return -np.inf if found is None else found[0]


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
    return problem.unchecked(boundaries=boundaries)


def _conflicting_rules(search: LabelledSearch, error: InfeasibleError) -> InfeasibleError:
    """Return the error that names a least set of rules without any tree.

    Each of them is needed for the conflict: without it there is a tree. If there is none even
    without rules, the error says why. Where the budget ends before, the set still has no tree,
    but may be larger than needed, and the message says so. The clock of the search that raised the
    given error goes on.
    """
    problem, is_least, iterations = search.problem, True, search.iterations
    every = list(dict.fromkeys(problem.rules))
    kept_together: list[set[Rule]] = []  # the rules that a tree keeps, of each that was found

    def has_tree(rules: list[Rule]) -> bool:
        """Return False only where it is proven that no tree satisfies these rules."""
        nonlocal error, is_least, iterations
        if rules and search.clock.exhausted(iterations):
            is_least = False
            return True
        if any(kept.issuperset(rules) for kept in kept_together):
            return True
        inner = LabelledSearch(
            search.decoder,
            problem.unchecked(rules=tuple(rules)),
            search.clock,
            iterations=iterations,
            any_tree=True,
        )
        try:
            tree = inner.run()
            labels = None if problem.labels is None else tree.labels
            kept_together.append(
                {rule for rule in every if not breaks_any([rule], tree.heads, labels)}
            )
        except InfeasibleError as cause:
            error = error if rules else cause
            return False
        except UndecidedError:
            is_least = False
        finally:
            iterations = inner.iterations
        return True

    bare = np.flatnonzero(~search.arcs.possible[:, 1:].any(axis=(0, 2))) + 1
    for token in bare[:1].tolist():  # what is said of one without arcs mostly suffices
        own = [one for one in every if any(token in of.members.tokens for of in one.limits)]
        every = every if has_tree(own) else own
    found = least_conflict(every, has_tree)
    return no_tree_under(problem.rules, found, is_least) if found else error


def no_tree_under(rules: Sequence[Rule], found: Sequence[Rule], is_least: bool) -> InfeasibleError:
    """Return the error that names some of the rules, which no tree satisfies together."""
    named = [f"rules[{rules.index(rule)}] {rule}" for rule in found[:MOST_NAMED]]
    if len(found) > MOST_NAMED:
        named.append(f"{len(found) - MOST_NAMED} more")
    which = "this rule" if len(found) == 1 else "these rules together"
    advice = "drop or relax one."
    if not is_least:
        advice = "the budget ended before a smallest set of them was found."
    conflict = InfeasibleError(f"no tree satisfies {which}: {' and '.join(named)}; {advice}")
    conflict.rules, conflict.is_least = tuple(found), is_least
    return conflict
