"""Building and solving the decoding problem of a sentence."""

from __future__ import annotations

from bisect import bisect_left
from collections.abc import Sequence
from contextlib import suppress
from dataclasses import dataclass, replace
from functools import cached_property
from itertools import accumulate
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np

from ...arrays import Integers, Integers32
from ...budget import Budget, Clock, rest_of
from ...certificate import Certificate
from ...errors import DecodersError, InfeasibleError, UndecidedError
from .boundaries import MOST_WORDS
from .factors import FactorTemplates
from .patterns import Patterns, TooManyMatches
from .tree_scores import SentenceScores

if TYPE_CHECKING:
    from ...decoders.protocols import TreeDecoding
    from ...decoders.tree import Rule, TreeProblem, TreeSolution

__all__ = ["DecodedTree", "FirstTree", "TreeParser"]

#: Seconds that the labels of an arc and the rules on them may take, on a slow machine; and seconds
#: by which the budget may be exceeded.
LABELLING, OVERTIME = 3e-6, 0.03


class DecodedTree(NamedTuple):
    """The best tree, its problem, and the scores that the problem was made from.

    If there are rules about labels, the problem's labels are classes of the parser's labels. Arcs
    that have no label in the scores yet have upper bounds in the problem, and are not in the tree.
    """

    problem: TreeProblem
    solution: TreeSolution
    sentence: SentenceScores
    #: int32 (n,), the parser's own labels.
    labels: Integers32
    #: int32 (n + 1, n + 1, classes), the best label of each class; None without classes.
    best: Integers32 | None = None

    def labels_of(self, solution: TreeSolution) -> Integers32:
        """Return the parser's own labels of any tree of the problem, int32 (n,)."""
        tokens = np.arange(1, self.problem.n + 1)
        if self.best is None:
            return self.sentence.labels[solution.heads, tokens]
        return self.best[solution.heads, tokens, solution.labels]


class FirstTree(NamedTuple):
    """The best tree of a sentence without rules, also in terms of its document."""

    solution: TreeSolution
    #: int64 (n,) and int32 (n,), what :meth:`.SentenceScores.tree` returns for it.
    heads: Integers
    labels: Integers32
    #: Whether it is known to break no rule.
    is_legal: bool


@dataclass(frozen=True)
class TreeParser:
    """The decoder of sentences and its settings."""

    decoder: TreeDecoding
    #: Learnt factors; None for first-order scores.
    templates: FactorTemplates | None = None
    #: Hand-made patterns, with the tokens of the document that may match.
    patterns: Patterns | None = None
    #: Whether arcs must not cross.
    projective: bool = True
    #: If there are factors of several arcs, prune unlikely heads, as
    #: :func:`~spacy_decoders.decoders.tree.prune` does; None to keep all.
    beam: float | None = None
    #: Then keep at most this many heads of each token; None for all.
    k: int | None = None
    #: Longer sentences, and those in which a pattern has too many matches, are parsed first-order;
    #: their certificate has no bound.
    longest: int = MOST_WORDS
    #: The budget of one sentence.
    budget: Budget = Budget()  # noqa: RUF009 - frozen

    @cached_property
    def by_arcs(self) -> bool:
        """Whether only arcs are scored; then upper bounds suffice for unlikely ones."""
        return self.patterns is None and (self.templates is None or self.templates.of_arcs_alone)

    def first_trees(
        self, sentences: Sequence[SentenceScores], rules: Sequence[Rule]
    ) -> list[FirstTree | None]:
        """Return the best trees of sentences without rules, None for those decoded one by one.

        These are sentences with factors of several arcs or a time limit, and those whose tree has
        an arc without a label yet. `rules` are about labels, and are checked for all sentences at
        once.
        """
        found: list[FirstTree | None] = [None] * len(sentences)
        if not self.by_arcs or self.budget.seconds is not None:
            return found
        # stage by stage, as the code of each then stays in the processor's cache
        problems: list[tuple[int, TreeProblem]] = []
        trees: list[tuple[int, TreeSolution]] = []
        for s, sentence in enumerate(sentences):
            with suppress(DecodersError):  # raised again where the sentence is decoded by itself
                problems.append((s, self.problem(sentence)))
        for s, problem in problems:
            with suppress(DecodersError):
                trees.append((s, self.decoder.decode(problem, budget=self.budget)))
        known: list[tuple[int, TreeSolution]] = []
        marks: list[Integers32] = []
        for s, tree in trees:
            best = sentences[s].labels[tree.heads, np.arange(1, len(tree.heads) + 1)]
            if best.min() >= 0:
                known.append((s, tree))
                marks.append(best)
        if not known:
            return found
        # all trees concatenated, so that the rules are checked once
        heads, labels = np.concatenate([tree.heads for _, tree in known]), np.concatenate(marks)
        tokens = np.concatenate([sentences[s].tokens for s, _ in known])
        ends = [*accumulate(map(len, marks), initial=0)]
        is_root = heads == 0
        heads = np.where(is_root, 0, heads + np.array(ends[:-1]).repeat([*map(len, marks)]))
        given = [-1, *heads.tolist()], [-1, *labels.tolist()]
        limits = [limit for rule in rules for limit in rule.limits]
        places = sorted(set().union(*(limit.exceeded(*given) for limit in limits)))
        broken = {bisect_left(ends, place) for place in places}
        above, below = np.where(is_root, tokens, tokens[heads - 1]), np.where(is_root, -1, labels)
        for number, (s, tree) in enumerate(known):
            # a limit exceeded under the root, 0, may be broken by any of the trees
            is_legal = broken.isdisjoint((0, number + 1))
            own = slice(ends[number], ends[number + 1])
            found[s] = FirstTree(tree, above[own], below[own], is_legal)
        return found

    def problem(self, sentence: SentenceScores) -> TreeProblem:
        """Return the decoding problem of a sentence; arcs without a label have upper bounds."""
        problem, _ = self._problem(sentence)
        return problem

    def _problem(self, sentence: SentenceScores) -> tuple[TreeProblem, bool]:
        """Return the decoding problem of a sentence, and whether it includes all factors."""
        from ...decoders.tree import TreeProblem, prune

        arcs: Any = sentence.arcs.astype("d")
        of = sentence.boundaries
        boundaries: Any = None if of is None else of.astype("d")
        if self.templates is not None:
            self.templates.add_to_arcs(sentence, arcs)
        total = arcs.sum() if boundaries is None else arcs.sum() + boundaries.sum()
        if not total < np.inf:  # NaN or +inf, which validation refuses
            problem = TreeProblem(arcs, projective=self.projective, boundaries=boundaries)
        else:
            problem = TreeProblem.of_valid(arcs, self.projective, boundaries)
        # with first-order scores, pruning unlikely heads would not change the tree
        if self.by_arcs or len(sentence.tokens) > self.longest:
            return problem, self.by_arcs
        pruned = problem
        if self.k is not None or self.beam is not None:
            pruned = prune(problem, self.k, beam=self.beam)
        more: dict[str, Any] = {}
        if self.templates is not None:
            more = self.templates.scores(sentence, pruned.allowed)
        if self.patterns is not None:
            try:
                more["factors"] = self.patterns.factors(sentence, pruned.allowed)
            except TooManyMatches:
                return problem, False
        return pruned.unchecked(**more), True

    def decode(
        self,
        sentence: SentenceScores,
        rules: Sequence[Rule] = (),
        *,
        with_others: bool = False,
        clock: Clock | None = None,
        first: FirstTree | None = None,
    ) -> DecodedTree:
        """Find the best tree of a sentence that satisfies the rules.

        At first every arc has its best label, and rules about labels are left out: if the best
        tree satisfies them, no other is better. Only if it breaks one are other labels scored, the
        best of each class of labels that no rule distinguishes.

        `with_others`, the returned problem covers all legal trees: it has all labels and rules.
        `clock` is that of the sentence, if it is already running; `first` is what
        :meth:`first_trees` found for the sentence.
        """
        clock = clock or self.budget.start()
        begun = clock.seconds_left
        if with_others or not self.by_arcs:
            sentence = sentence.completed()
        problem, is_whole = self._problem(sentence)
        of_arcs = [rule for rule in rules if not rule.needs_labels]
        if of_arcs:
            problem = problem.unchecked(rules=of_arcs)
        if first is None or of_arcs:
            solution = self._solved(problem, clock)
        else:
            solution = first.solution
        labels = sentence.labels[solution.heads, np.arange(1, problem.n + 1)]
        found = DecodedTree(problem, solution, sentence, labels)
        # another decoding takes as long as this one, plus the time for labels
        left, took = clock.seconds_left, begun - clock.seconds_left
        is_late, is_illegal = left < np.inf and not with_others, False
        is_late = is_late and took + LABELLING * problem.n**2 > left + OVERTIME
        if len(rules) > len(of_arcs) and labels.min() >= 0:
            from ...decoders.tree.scoring import breaks_any

            is_illegal = breaks_any(rules, solution.heads, labels)
            if with_others or (is_illegal and not is_late):
                found = self._ruled(found, rules)
            if is_illegal and not is_late:
                found = self._relabelled(found, rules, clock)
        if is_late and (is_illegal or labels.min() < 0):
            found = self._labelled(found, rules)
        if found.labels.min() < 0:  # the best tree has arcs that were too unlikely to be labelled
            return self.decode(sentence.completed(), rules, clock=clock)
        if is_whole:
            return found
        by_arcs = found.solution.certificate
        assert by_arcs.score is not None  # infeasible problems have raised an error
        certificate = Certificate.heuristic(by_arcs.decoder, by_arcs.score, scope=by_arcs.scope)
        return found._replace(solution=replace(found.solution, certificate=certificate))

    def _ruled(
        self,
        found: DecodedTree,
        rules: Sequence[Rule],
        heads: Integers32 | None = None,
    ) -> DecodedTree:
        """Return the same with all rules, and the scores of classes of labels apart from arcs'.

        If the `heads` of a tree are given, only its arcs have labels.
        """
        from ...decoders.tree.rules import rules_on_classes

        problem, sentence = found.problem, found.sentence
        class_of, classes, stated = rules_on_classes(tuple(rules), sentence.label_count)
        arcs = problem.arcs - sentence.label_scores
        scores, best = sentence.best_labels(class_of, classes, heads)
        return found._replace(
            problem=problem.unchecked(rules=stated, arcs=arcs, labels=scores), best=best
        )

    def _relabelled(self, found: DecodedTree, rules: Sequence[Rule], clock: Clock) -> DecodedTree:
        """Decode the problem with classes of labels and all rules."""
        from ...decoders.tree.constrained import no_tree_under

        try:
            solution = self._solved(found.problem, clock)
        except InfeasibleError as error:
            given = dict(zip(reversed(found.problem.rules), reversed(rules), strict=True))
            named = [given[rule] for rule in error.rules if rule in given]
            raise no_tree_under(rules, named, error.is_least) if named else error from None
        return found._replace(solution=solution, labels=found.labels_of(solution))

    def _labelled(self, found: DecodedTree, rules: Sequence[Rule]) -> DecodedTree:
        """Relabel a tree so that it satisfies the rules, for lack of time to decode another."""
        from ...decoders.tree.constrained import NOTHING_YET
        from ...decoders.tree.rule_limits import LabelledArcs
        from ...decoders.tree.scoring import score_and_scale

        heads, own = found.solution.heads, found.solution.certificate
        ruled = self._ruled(found, rules, heads)
        problem: Any = ruled.problem
        classes = LabelledArcs(problem.rules, problem.arcs, problem.labels).relabelled(heads)
        if classes is None:
            raise UndecidedError(NOTHING_YET)
        if self.templates is not None and found.labels.min() < 0:
            # the scores of arcs that have a label only now include bounds of their templates
            tokens, sentence = np.arange(1, problem.n + 1), found.sentence
            known = sentence.labels.copy()
            likeliest = problem.labels[heads, tokens].argmax(axis=1)
            known[heads, tokens] = ruled.labels_of(replace(found.solution, labels=likeliest))
            arcs = sentence.arcs.astype("d")
            self.templates.add_to_arcs(replace(sentence, labels=known), arcs)
            problem = problem.unchecked(arcs=arcs - sentence.label_scores)
        score, scale = score_and_scale(problem, heads, classes)
        certificate = Certificate.from_bound(
            own.decoder,
            score,
            np.inf if own.bound is None else own.bound,
            tolerance=own.tolerance,
            scale=scale,
            scope=own.scope,
            iterations=own.iterations,
        )
        solution = replace(
            found.solution, certificate=certificate, labels=classes.astype(np.int32)
        )
        return found._replace(solution=solution, labels=ruled.labels_of(solution))

    def _solved(self, problem: TreeProblem, clock: Clock) -> TreeSolution:
        return self.decoder.decode(problem, budget=rest_of(clock, 0))
