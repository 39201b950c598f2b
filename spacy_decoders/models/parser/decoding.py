"""Building and solving the decoding problem of a sentence."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from functools import cache
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np

from ...budget import Budget, allowing_for_compilation
from ...certificate import Certificate
from ...errors import InfeasibleError
from .factor_templates import FactorTemplates
from .pattern_matches import SentencePatterns, TooManyPlaces
from .tree_scores import SentenceScores

if TYPE_CHECKING:
    from ...decoders.protocols import TreeDecoding
    from ...decoders.tree import Rule, TreeProblem, TreeSolution

__all__ = ["DecodedTree", "TreeParser"]


# An import inside of a function, sentence by sentence, takes longer than to look for this.
@cache
def _problem_class() -> type[TreeProblem]:
    from ...decoders.tree import TreeProblem

    return TreeProblem


class DecodedTree(NamedTuple):
    """The best tree, the problem that it is the best of, and the scores that this was made of.

    The labels of the solution are the parser's own; the problem's may be classes of them. Arcs
    that have no label in the scores have upper bounds in the problem, and are not in the tree.
    """

    problem: TreeProblem
    solution: TreeSolution
    sentence: SentenceScores


@dataclass(frozen=True)
class TreeParser:
    """The decoder of sentences and its settings.

    Parameters
    ----------
    decoder
        The tree decoder.
    templates
        Non-local factors; None for arcs alone.
    projective
        Whether arcs may not cross.
    beam
        Keep the likely heads of each token only where there are templates or patterns, as
        :func:`~spacy_decoders.decoders.tree.prune` does; None for all.
    longest
        Longer sentences, and those in which a pattern has too many places, are parsed by their
        arcs alone, in little memory. The certificate then compares the tree's score, factors
        included, with a bound on all trees.
    budget
        For one sentence.
    exempt
        Labels that rules count, and those that they exempt: an arc whose best label is counted
        does not get an exempt one instead, which would only evade the rule, unless a
        `FixedLabel` demands it.
    k
        Keep at most so many heads of each token where there are templates or patterns, too; None
        for all.
    """

    decoder: TreeDecoding
    templates: FactorTemplates | None = None
    projective: bool = True
    beam: float | None = None
    longest: int = 150
    budget: Budget = Budget()  # noqa: RUF009 - frozen
    exempt: tuple[tuple[Sequence[int], Sequence[int]], ...] = ()
    k: int | None = None

    def problem(self, sentence: SentenceScores) -> TreeProblem:
        """Return the decoding problem of a sentence; arcs without a label have upper bounds."""
        try:
            return self.full_problem(sentence)
        except TooManyPlaces:
            return self._by_arcs_alone.full_problem(sentence)

    @property
    def _by_arcs_alone(self) -> TreeParser:
        """The same for sentences in which a pattern has too many places."""
        return replace(self, longest=0)

    def full_problem(self, sentence: SentenceScores) -> TreeProblem:
        """Return the decoding problem of a sentence, or raise if patterns have too many places."""
        is_long = len(sentence.tokens) > self.longest
        templates, patterns = (None, None) if is_long else (self.templates, sentence.patterns)
        arcs: Any = sentence.arcs.astype("d")
        boundaries: Any = sentence.boundaries
        if templates is not None:
            templates.add_to_arcs(sentence, arcs)
        TreeProblem = _problem_class()
        if not arcs.sum() < np.inf:  # there is NaN or +inf, which is refused
            problem = TreeProblem(arcs, projective=self.projective, boundaries=boundaries)
        else:
            if boundaries is not None:
                boundaries = boundaries.astype("d")
            problem = TreeProblem.of_valid(arcs, self.projective, boundaries)
        if templates is None and patterns is None:
            # no pruning of unlikely heads: it would not change the tree
            return problem
        if self.k is not None or self.beam is not None:
            from ...decoders.tree import prune

            problem = prune(problem, self.k, beam=self.beam)
        more: dict[str, Any] = {}
        if templates is not None:
            more = templates.scores(sentence, problem.allowed)
        if patterns is not None:
            more["factors"] = patterns.factors(problem.allowed)
        return problem.completed(**more) if more else problem

    def decode(
        self, sentence: SentenceScores, rules: Sequence[Rule] = (), *, every_label: bool = False
    ) -> DecodedTree:
        """Find the best tree of a sentence that satisfies some rules.

        Every arc has its best label at first, without the rules about labels: if the best tree
        satisfies these, no other is better. Only if it breaks one, other labels are scored: the
        best of those that no rule tells apart, or each.

        Parameters
        ----------
        sentence
            The scores.
        rules
            What the tree must satisfy.
        every_label
            Whether the problem that is returned must have all labels. Where rules leave no tree it
            has, so that the error names the rules as they are given.
        """
        try:
            return self._decode(sentence, rules, every_label)
        except TooManyPlaces:
            return self._by_arcs_alone._decode(sentence, rules, every_label)

    def _decode(
        self, sentence: SentenceScores, rules: Sequence[Rule], every_label: bool
    ) -> DecodedTree:
        if sentence.partly and (every_label or not self.takes_parts(len(sentence.tokens))):
            sentence = sentence.completed()
        problem = self._ruled_arcs(sentence, rules)
        solution = self._decoded(sentence, problem)
        if sentence.partly and not _are_labelled(sentence, solution):
            return self._decode(sentence.completed(), rules, False)
        if not _breaks(rules, sentence, solution):
            return DecodedTree(problem, solution, sentence)
        try:
            found = self._labelled(problem, sentence, rules, every_label)
        except InfeasibleError:
            if every_label:
                raise
            return self._labelled(
                self._ruled_arcs(sentence.completed(), rules), sentence.completed(), rules, True
            )
        labels = found.solution.labels
        if labels is not None and labels.min() < 0:
            return self._decode(sentence.completed(), rules, False)
        return found

    def takes_parts(self, n: int = 1) -> bool:
        """Whether upper bounds on the scores of unlikely arcs do for sentences of n tokens."""
        if self.beam is not None:
            return False
        return self.templates is None or (n <= self.longest and self.templates.of_arcs_alone)

    def _ruled_arcs(self, sentence: SentenceScores, rules: Sequence[Rule]) -> TreeProblem:
        """Return the problem of a sentence under the rules that need no labels."""
        problem = self.full_problem(sentence)
        of_arcs = tuple(rule for rule in rules if not rule.needs_labels)
        return problem.ruled(of_arcs) if of_arcs else problem

    def _labelled(
        self,
        problem: TreeProblem,
        sentence: SentenceScores,
        rules: Sequence[Rule],
        every_label: bool,
    ) -> DecodedTree:
        """Find the best tree with other labels than the best ones, whose scores arcs include."""
        from ...decoders.tree import AtMost, FixedLabel
        from ...decoders.tree.label_classes import rules_on_classes

        count = sentence.label_count
        # exempt labels are told apart from others by a rule that no tree breaks
        rules = (*rules, *(AtMost(escapes, len(sentence.tokens)) for _, escapes in self.exempt))
        class_of, classes, stated = np.arange(count), count, tuple(rules)
        if not every_label:
            class_of, classes, stated = rules_on_classes(rules, count)
        arcs = np.array(problem.arcs)
        if sentence.label_scores is not None:
            arcs -= sentence.label_scores
        scores, best = sentence.best_labels(class_of, classes)
        # a label that is demanded evades no rule
        free = np.ones(problem.n + 1, bool)
        free[[rule.token for rule in rules if isinstance(rule, FixedLabel)]] = False
        for counted, escapes in self.exempt:
            own = (np.isin(sentence.labels, counted) & free)[:, :, None]
            scores[own & np.isin(np.arange(classes), class_of[list(escapes)])] = -np.inf
        problem = problem.ruled(stated, arcs=arcs, labels=scores)
        solution = self._decoded(sentence, problem)
        tokens = np.arange(1, problem.n + 1)
        labels = best[solution.heads, tokens, solution.labels]
        return DecodedTree(problem, replace(solution, labels=labels), sentence)

    def _decoded(self, sentence: SentenceScores, problem: TreeProblem) -> TreeSolution:
        templates, patterns = self.templates, sentence.patterns
        if len(sentence.tokens) > self.longest and (templates or patterns):
            return self._decode_long(sentence, problem, patterns)
        budget = allowing_for_compilation(self.budget, self.decoder)
        return self.decoder.decode(problem, budget=budget)

    def _decode_long(
        self, sentence: SentenceScores, problem: TreeProblem, patterns: SentencePatterns | None
    ) -> TreeSolution:
        from ...decoders.tree import ChuLiuEdmonds, Eisner

        first: TreeDecoding = Eisner() if self.projective else ChuLiuEdmonds()
        found = first.decode(problem, budget=self.budget)
        arcs = found.certificate
        assert arcs.score is not None  # infeasible problems have raised an error
        score, most = arcs.score, 0.0
        if self.templates is not None:
            score += self.templates.tree_score(sentence, found.heads)
            most += self.templates.most(problem.n)
        if patterns is not None:
            least, of_all = patterns.bounds(found.heads)
            score, most = score + least, most + of_all
        name = type(first).__name__
        if arcs.bound is None:
            certificate = Certificate.heuristic(name, score, scope=arcs.scope)
        else:
            # the factors' sum is rounded in single precision, their bound in double
            bound = arcs.bound + most + 1e-6 * most
            certificate = Certificate.from_bound(
                name, score, bound, tolerance=arcs.tolerance, scope=arcs.scope
            )
        return replace(found, certificate=certificate)


def _are_labelled(sentence: SentenceScores, solution: TreeSolution) -> bool:
    heads = solution.heads
    return bool(sentence.labels[heads, np.arange(1, len(heads) + 1)].min() >= 0)


def _breaks(rules: Sequence[Rule], sentence: SentenceScores, solution: TreeSolution) -> bool:
    """Whether a tree whose arcs have their best labels breaks a rule about labels."""
    if all(not rule.needs_labels for rule in rules):
        return False
    from ...decoders.tree.label_classes import breaks_any

    heads = solution.heads
    labels = sentence.labels[heads, np.arange(1, len(heads) + 1)]
    return breaks_any(rules, heads, labels)
