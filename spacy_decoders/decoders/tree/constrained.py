"""Labels and rules: the best labelled tree that satisfies all rules, with any tree decoder.

In the relaxation every arc has its best label, and only rules about single arcs or labels hold:
its best tree bounds all others, and mostly satisfies the other rules too. If it breaks one, the
search branches (:mod:`.rule_limits`): the arcs of a token that the rule counts are required in one
child and forbidden in the other, so that each child is a relaxation of the same kind, with fewer
arcs and labels, which the decoder solves. The tree of each node, relabelled if it breaks a rule,
may become the incumbent. Most children need no decoding: they are bounded by the max-marginals of
the labelled arcs in their parent's chart.
"""

import heapq
from collections.abc import Iterator, Sequence
from contextlib import suppress
from dataclasses import dataclass, field, replace
from itertools import count
from typing import NamedTuple, Protocol

import numpy as np

from ...arrays import Booleans, Floats, Integers, Integers32
from ...budget import Budget, Clock, rest_of
from ...certificate import tolerance_of
from ...errors import DecodersError, InfeasibleError, UndecidedError
from ..conflicts import least_conflict
from .problem import TreeProblem, TreeSolution
from .proof import Through, certified, most_gained, rounding_slack
from .rule_limits import Branch, LabelledArcs, Violation
from .rules import FixedStart, Rule
from .scoring import breaks_any

__all__ = ["Incumbent", "LabelledSearch", "best_constrained", "no_tree_under"]

#: The score and the scale of a tree that breaks no rule, the tree, and its labels.
Incumbent = tuple[float, float, TreeSolution, Integers | None]

#: The most bytes of open nodes: the search then ends as if its budget were used up.
MOST_NODE_BYTES = 200_000_000

#: The share of the time for the first decoding, whose tree may not satisfy the rules.
FIRST_SHARE = 0.7

#: The most labels that are changed in a tree once a legal one is known: those of texts take one
#: or two, and a row of words that all break a rule takes one for each word.
STEPS_OF_LABELS = 16

#: The most rules that an error message lists.
MOST_NAMED = 20

NOTHING_YET = (
    "rules: the budget ended before any tree that satisfies them was found; allow more seconds or "
    "iterations, or drop a rule."
)


class PlainDecoder(Protocol):
    """What the search asks of a :class:`.TreeDecoder`."""

    def _solve(
        self, problem: TreeProblem, budget: Budget
    ) -> tuple[TreeSolution, Through | None]: ...

    def objective(
        self, problem: TreeProblem, heads: Integers32, labels: Integers | None
    ) -> tuple[float, float]: ...


class RuledNode(NamedTuple):
    """A part of the labelled trees, and an upper bound on them."""

    #: bool (n + 1, n + 1, labels), the labelled arcs that they may have.
    part: Booleans
    upper: float
    #: The restriction of `part` that is yet to be decoded; None if `part` itself was decoded.
    branch: Branch | None = None
    #: The limit that its best tree violates, if any.
    violation: Violation | None = None
    #: (n + 1, n + 1), upper bounds on the trees through each arc, less its score; None if unknown.
    others: Floats | None = None


def best_constrained(decoder: PlainDecoder, problem: TreeProblem, budget: Budget) -> TreeSolution:
    """Return the best labelled tree that satisfies the rules.

    The decoder finds the best tree of a problem without labels and rules, and bounds all others;
    the budget is for all of its searches together. Raises `InfeasibleError`, with the rules that
    conflict, if there is no such tree, and `UndecidedError` if the budget ends before the first.
    """
    search = LabelledSearch(decoder, problem, budget.start())
    try:
        return search.run()
    except InfeasibleError as error:
        if not problem.rules:
            raise
        raise _conflicting_rules(search, error) from None


@dataclass(eq=False)
class LabelledSearch:
    """Best-first search over the nodes; newest first as long as there is no incumbent.

    Searches that share a budget share its clock and start with the `iterations` already used. With
    `any_tree`, the search ends at the first legal tree.
    """

    decoder: PlainDecoder
    problem: TreeProblem
    clock: Clock
    iterations: int = 0
    any_tree: bool = False
    best: Incumbent | None = None
    most_gained: float = 0.0
    ends: list[RuledNode] = field(default_factory=list)
    leaves: list[Booleans] = field(default_factory=list)
    solution: TreeSolution | None = None

    def __post_init__(self) -> None:
        self.relaxed = _with_starts(self.problem)
        self.arcs = LabelledArcs(self.problem.rules, self.problem.arcs, self.problem.labels)

    def relaxations(self) -> list[TreeProblem]:
        """Search; return problems without labels and rules that together cover all legal trees.

        Each legal tree is in one of them, with at least its own score. There are none if the
        budget ends before the first tree.
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
                put(node)  # stays open
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
        return self._certified(self.best, bound)

    def _replacing(self, node: RuledNode) -> Iterator[RuledNode]:
        """Yield what replaces a node: its children, or the node itself after decoding it."""
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
        """Return whether a part with this upper bound has no tree better than the incumbent."""
        if self.best is None:
            return False
        return upper - self.best[0] <= tolerance_of(abs(self.best[0]))

    def _solved(self, part: Booleans, upper: float, share: float = 1.0) -> RuledNode:
        """Decode a part; offer its best tree as the incumbent, relabelled if it breaks a rule."""
        arcs, budget = self.arcs.arcs_with(part), rest_of(self.clock, self.iterations)
        if budget.seconds is not None:
            budget = replace(budget, seconds=share * budget.seconds)
        relaxed = self.relaxed.with_arcs(arcs)
        try:
            solution, find_through = self.decoder._solve(relaxed, budget)
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
                # the first node has all arcs, so its value holds for all
                self.most_gained = self.most_gained or most_gained(relaxed)
                others = find_through() - np.where(arcs > -np.inf, arcs, np.inf)
        elif not self._offer(solution, labels):
            raise DecodersError("rules: the search returned a tree that breaks one.")
        upper = upper if bound is None else min(upper, bound)
        return RuledNode(part, upper, None, violation, others)

    def _chain(self) -> Incumbent | None:
        """Return a legal tree in which as many tokens as possible are attached to a neighbour.

        As its heads have one dependant each, it satisfies rules that hardly any other tree does.
        It is a fallback that does not count as an iteration, nor change the order of the search.
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
                tree, _ = self.decoder._solve(bare, rest_of(self.clock, self.iterations))
                labels = self.arcs.relabelled(tree.heads)
                if labels is not None:
                    found = max(found, self.legal(tree, labels), key=_score_of)
        return found

    def _offer(self, solution: TreeSolution, labels: Integers) -> bool:
        """Make a tree the incumbent if it is legal and better; return whether it is legal."""
        found = self.legal(solution, labels)
        self.best = max(self.best, found, key=_score_of)
        return found is not None

    def legal(self, solution: TreeSolution, labels: Integers) -> Incumbent | None:
        """Return a tree with its score and scale; None if forbidden or a rule is broken."""
        own = None if self.problem.labels is None else labels
        score, scale = self.decoder.objective(self.problem, solution.heads, own)
        legal = score > -np.inf and not breaks_any(self.problem.rules, solution.heads, own)
        return (score, scale, solution, own) if legal else None

    def _certified(self, found: Incumbent, bound: float) -> TreeSolution:
        """Return the solution whose certificate compares its score with the bound on all trees."""
        score, scale, solution, labels = found
        own = solution.certificate
        given = (self.problem, solution.heads, score, scale, bound, 0.0, self.iterations)
        made = certified(own.decoder, *given, tolerance=own.tolerance)
        return replace(made, labels=None if labels is None else labels.astype(np.int32))


def _score_of(found: Incumbent | None) -> float:
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
    """Return the error that names a minimal set of rules that no tree satisfies.

    Without any one of them there is a tree. If there is none even without rules, the error says
    why. If the budget ends first, still no tree satisfies the set, but it may not be minimal, and
    the message says so. The clock is that of the search that raised the given error.
    """
    problem, is_least, iterations = search.problem, True, search.iterations
    every = list(dict.fromkeys(problem.rules))
    kept_together: list[set[Rule]] = []  # for each tree found, the rules that it satisfies

    def has_tree(rules: list[Rule]) -> bool:
        """Return False only if it is proven that no tree satisfies these rules."""
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
    for token in bare[:1].tolist():  # rules about a token without arcs mostly suffice
        own = [one for one in every if any(token in of.members.tokens for of in one.limits)]
        every = every if has_tree(own) else own
    found = least_conflict(every, has_tree)
    return no_tree_under(problem.rules, found, is_least) if found else error


def no_tree_under(rules: Sequence[Rule], found: Sequence[Rule], is_least: bool) -> InfeasibleError:
    """Return the error that names some of the rules, which no tree satisfies jointly."""
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
