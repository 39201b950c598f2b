"""Labels and rules: the best labelled tree that satisfies all, with any decoder of trees.

At first every arc has its best label, and the rules that no single arc or label breaks are left
out: the best tree of this relaxation bounds all others, and mostly satisfies the rules already.
Where it breaks one, the search branches (:mod:`.rule_branching`): a label of an arc, a token as a
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
from ...certificate import Certificate
from ...errors import DecodersError, InfeasibleError
from .label_classes import allowed_arcs, allowed_labels
from .problem import TreeProblem, TreeSolution
from .rules import FixedStart

if TYPE_CHECKING:
    from .decoder import TreeDecoder
    from .rule_branching import RuleBranching, Subset

__all__ = ["best_constrained"]

Floats = NDArray[np.float64]
Labels = NDArray[np.int64]

#: The most open nodes of a search: more would exhaust the memory, so it ends with a gap.
MOST_NODE_BYTES = 200_000_000

#: The most decodings by arcs alone that look for a first tree: a few, and some more a token.
FIRST_DECODINGS, FIRST_DECODINGS_A_TOKEN = 100, 4

#: Relative slack within which a bound closes a node, as in the search over trees.
TOLERANCE = 1e-9


class _ClockEnded(DecodersError):
    """The clock ended before there was a tree or a proof that there is none."""


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
    """
    search = LabelledSearch(decoder, problem, budget.start())
    try:
        return search.run()
    except InfeasibleError as error:
        if not problem.rules:
            raise
        from .conflicts import conflicting_rules

        raise conflicting_rules(search, error) from None


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
        Whether to end at the first tree, and with the clock even if there is none yet.
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

    def has_tree(self) -> bool | None:
        """Return whether there is any labelled tree; None if the clock ended before an answer."""
        try:
            self.run()
        except InfeasibleError:
            return False
        except _ClockEnded:
            return None
        return True

    def run(self) -> TreeSolution:
        if self.labels is None:
            first = LabelledNode(None, self._decoded(self.arcs), None)
        else:
            solution = self._decoded(self._branching.arcs_of(self._branching.everything))
            labels = self._branching.labels_of(self._branching.everything, solution.heads)
            first = LabelledNode(None, solution, labels)
        bound = _bound_of(first.solution)
        if self._breaks_none(first.solution, first.labels):
            return self._certified(first.solution, first.labels, bound)
        return self._branch(first, bound)

    @cached_property
    def _branching(self) -> RuleBranching:
        from .rule_branching import RuleBranching  # compiled where it is first needed

        return RuleBranching(self.problem, self.arcs, self.labels)

    def _decoded(self, arcs: Floats) -> TreeSolution:
        budget = rest_of(self.clock, self.iterations)
        solution = self.decoder.decode(self.relaxed.with_arcs(arcs), budget=budget)
        self.iterations += solution.certificate.iterations
        return solution

    def _breaks_none(self, solution: TreeSolution, labels: Labels | None) -> bool:
        heads = [-1, *solution.heads.tolist()]
        given = [-1] * len(heads) if labels is None else [-1, *labels.tolist()]
        return not any(rule.is_broken(heads, given) for rule in self.problem.rules)

    def _branch(self, first: LabelledNode, bound: float) -> TreeSolution:
        """Search the parts that the rules cut the labelled trees into."""
        branching = self._branching
        order, closed = count(), -np.inf
        heap = [(-bound, next(order), first._replace(part=branching.everything))]
        while heap:
            bound = -heap[0][0]
            if self.best is not None and (
                self.any_tree
                or bound <= self.best[0] + TOLERANCE * max(1.0, abs(self.best[0]))
                or self.clock.exhausted(self.iterations)
                or len(heap) * branching.size > MOST_NODE_BYTES
            ):
                break
            if self.any_tree and self.best is None and self.clock.exhausted(self.iterations):
                raise _ClockEnded
            node = heapq.heappop(heap)[2]
            assert node.part is not None  # every node of the heap is a part
            violation = branching.violation(node.solution.heads, node.labels)
            if violation is None:
                self._offer(node.solution, node.labels, 0.0)
                closed = max(closed, bound)
                continue
            self._offer_repaired(branching, node)
            if self.best is None and node.part is branching.everything:
                self._look_for_any(branching)
            for part in branching.children(node.part, violation):
                if self.best is not None and self.clock.exhausted(self.iterations):
                    heapq.heappush(heap, (-bound, next(order), node))  # it stays open
                    break
                child = self._solved(branching, part)
                if child is not None:
                    upper = min(bound, _bound_of(child.solution))
                    heapq.heappush(heap, (-upper, next(order), child))
        if self.best is None:
            raise InfeasibleError("no tree satisfies all rules.")
        if heap:
            closed = max(closed, -heap[0][0])
        if not self._breaks_none(self.best[1], self.best[2]):
            raise DecodersError("rules: the search returned a tree that breaks one.")
        return self._certified(self.best[1], self.best[2], closed)

    def _look_for_any(self, branching: RuleBranching) -> None:
        """Look for any tree that satisfies the rules, depth first and by arcs alone.

        So the budget may end at any time after this, and a first tree lets bounds close nodes.
        """
        from .chu_liu_edmonds import ChuLiuEdmonds
        from .eisner import Eisner

        problem, parts = self.problem, [branching.everything]
        of_arcs = self.relaxed.completed()  # without grandparents, siblings and factors
        decoder: TreeDecoder = ChuLiuEdmonds()
        if problem.projective or problem.boundaries is not None:
            # several sentences whose arcs may cross would take a search of their own
            decoder, of_arcs = Eisner(), replace(of_arcs, projective=True, labels=None, rules=())
        for _ in range(FIRST_DECODINGS + FIRST_DECODINGS_A_TOKEN * problem.n):
            if not parts or (self.any_tree and self.clock.exhausted(self.iterations)):
                return
            part = parts.pop()
            try:
                found = decoder.decode(of_arcs.with_arcs(branching.arcs_of(part)))
            except InfeasibleError:
                continue
            own = branching.labels_of(part, found.heads)
            violation = branching.violation(found.heads, own)
            labels = own if violation is None else branching.relabelled(found.heads)
            if (own is None) == (labels is None) and self._breaks_none(found, labels):
                score, _ = self.decoder.objective(problem, found.heads, labels)
                if score > -np.inf:
                    name = type(self.decoder).__name__
                    certificate = Certificate.heuristic(name, score, scope=problem.scope)
                    self.best = score, replace(found, certificate=certificate), labels
                    return
            if violation is not None:
                parts += branching.children(part, violation)

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
        if better and self._breaks_none(solution, labels):
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
            tolerance=max(own.tolerance, TOLERANCE * (1.0 + scale)),
            scale=scale,
            scope=problem.scope,
            iterations=self.iterations,
        )
        kept = None if labels is None else labels.astype(np.int32)
        return replace(solution, certificate=certificate, labels=kept)


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
