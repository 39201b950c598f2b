"""How the search for the best labelled tree branches on a rule that is broken."""

from __future__ import annotations

from collections.abc import Iterator
from functools import cached_property
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from ...errors import DecodersError
from .label_classes import marked, named_labels
from .problem import TreeProblem
from .rules import AtMost, Constituent, Leaves

__all__ = ["RuleBranching", "Subset", "Violation"]

Floats = NDArray[np.float64]
Heads = NDArray[np.int32]
Labels = NDArray[np.int64]
Mask = NDArray[np.bool_]


class Subset(NamedTuple):
    """Some of the labelled trees."""

    #: bool (n + 1, n + 1), the arcs that they may have.
    arcs: Mask
    #: bool (n + 1, n + 1, labels), the labels that each arc may have.
    labels: Mask


class Violation(NamedTuple):
    """A broken rule, by its place; the head, leaf or 0; and the tokens that break it."""

    rule: int
    head: int
    tokens: list[int]


class RuleBranching:
    """Arcs and labels of a problem, and the parts that rules cut its trees into.

    Parameters
    ----------
    arcs
        float64 (n + 1, n + 1), ``-inf`` where a rule forbids the arc.
    labels
        float64 (n + 1, n + 1, labels), ``-inf`` where a rule forbids the label; None without any.
    """

    def __init__(self, problem: TreeProblem, arcs: Floats, labels: Floats | None) -> None:
        self.rules = problem.rules
        self.arcs = arcs
        self.is_labelled = labels is not None
        self.labels = np.zeros((*arcs.shape, 1)) if labels is None else labels
        count = self.labels.shape[2]
        # of each rule, the labels that it counts or that mark leaves, and those that it exempts
        self.named = [marked(named_labels(rule, count), count) for rule in self.rules]
        self.exempt = [marked(getattr(rule, "exempt", ()), count) for rule in self.rules]
        # those that no relabelling mends come first: then most trees can be repaired
        self._order = sorted(
            range(len(self.rules)),
            key=lambda place: not isinstance(self.rules[place], Constituent),
        )
        self.everything = Subset(arcs > -np.inf, self.labels > -np.inf)
        self.size = self.labels.size + arcs.size

    def arcs_of(self, part: Subset) -> Floats:
        """Return the scores of arcs with the best label that a part allows."""
        arcs = with_best_labels(self.arcs, part.arcs, self.labels, part.labels)
        covered = self.arcs[:, :, None] + self.labels <= arcs[:, :, None]
        if not (covered | ~(part.labels & part.arcs[:, :, None])).all():
            raise DecodersError("rules: the best label of an arc was missed.")
        return arcs

    def labels_of(self, part: Subset, heads: Heads) -> Labels | None:
        """Return the best labels of a tree that a part allows, (n,)."""
        if not self.is_labelled:
            return None
        tokens = np.arange(1, len(heads) + 1)
        scores = np.where(part.labels[heads, tokens], self.labels[heads, tokens], -np.inf)
        labels: Labels = scores.argmax(axis=1)
        return labels

    # --- what is broken ------------------------------------------------------------------------

    def violation(self, part: Subset, heads: Heads, labels: Labels | None) -> Violation | None:
        """Return a rule that a tree of a part breaks and that no mask takes care of."""
        marks = np.zeros(len(heads), int) if labels is None else labels
        if not part.labels[heads, np.arange(1, len(heads) + 1), marks].all():
            raise DecodersError("rules: a tree has a label that was excluded.")
        return self._broken(heads, marks)

    def _broken(self, heads: Heads, marks: Labels) -> Violation | None:
        places, named, most, of_heads = self._limits
        numbers = _numbers(heads, named[:, marks].T, of_heads)
        exceeded = {places[column]: h for h, column in np.argwhere(numbers > most).tolist()}
        found: Violation | None
        for place in self._order:
            rule = self.rules[place]
            if place in exceeded:
                h = exceeded[place]
                counted = (heads == h) & self.named[place][marks]
                found = Violation(place, h, (np.flatnonzero(counted) + 1).tolist())
            elif isinstance(rule, Leaves):
                found = self._not_leaf(place, rule, heads, marks)
            elif isinstance(rule, Constituent):
                inner = heads[rule.first - 1 : rule.last]
                outside = np.flatnonzero((inner < rule.first) | (inner > rule.last)) + rule.first
                found = Violation(place, 0, outside.tolist()) if len(outside) > 1 else None
            else:
                continue
            if found is not None:
                return found
        return None

    def _not_leaf(
        self, place: int, rule: Leaves, heads: Heads, labels: Labels
    ) -> Violation | None:
        below = np.flatnonzero((heads > 0) & ~self.exempt[place][labels])
        for token in below[self.named[place][labels[heads[below] - 1]]].tolist():
            if rule.tokens is None or int(heads[token]) in rule.tokens:
                return Violation(place, int(heads[token]), [token + 1])
        return None

    # --- how to branch -------------------------------------------------------------------------

    def children(self, part: Subset, found: Violation) -> Iterator[Subset]:
        """Yield up to two parts that together have all trees of a part that break no rule.

        Each leaves out all that any rule excludes there.
        """
        rule = self.rules[found.rule]
        if isinstance(rule, AtMost):
            halves = self._with_or_without(part, found)
        elif isinstance(rule, Leaves):
            halves = self._leaf_or_not(part, found)
        else:
            assert isinstance(rule, Constituent)  # all others are masks
            halves = _inside_or_outside(part, found, rule)
        for half in halves:
            narrowed = self._narrowed(half)
            if narrowed is not None:
                yield narrowed

    def _narrowed(self, part: Subset) -> Subset | None:
        """Leave out what rules exclude beside what a part demands; None if nothing is left."""
        possible: Mask = part.labels & part.arcs[:, :, None]
        heads: Mask = np.asarray(possible.any(axis=2))
        choices = heads[:, 1:].sum(axis=0)
        if not choices.all():
            return None
        # the tokens that have one head left
        fixed = np.flatnonzero(choices == 1) + 1
        above = heads[:, fixed].argmax(axis=0)
        own = possible[above, fixed]
        labels = part.labels.copy()
        _, named, most, of_heads = self._limits
        all_counted = ~(own[:, None] & ~named).any(axis=2)
        numbers = _numbers(above, all_counted, of_heads)
        if (numbers > most).any():
            return None
        for h, column in np.argwhere((numbers == most) & of_heads).tolist():
            counted = (above == h) & all_counted[:, column]
            others = np.ones(len(heads), bool)
            others[fixed[counted]] = False
            labels[h] &= ~(others[:, None] & named[column])
        if not any(isinstance(rule, Leaves) for rule in self.rules):
            return Subset(part.arcs, labels)
        # dependants that some label of a head allows, and labels that some dependant allows
        below = self._below
        own_labels: Mask = np.asarray(possible.any(axis=0))[1:]
        labels[1:] &= np.asarray((own_labels[:, :, None] & below[1:]).any(axis=1))[:, None]
        of_heads = np.ones((len(heads), labels.shape[2]), bool)
        np.logical_and.at(of_heads, above, (below[above] & own[:, None]).any(axis=2))
        labels &= of_heads
        return Subset(part.arcs, labels)

    @cached_property
    def _limits(self) -> tuple[list[int], Mask, NDArray[np.int64], Mask]:
        """Of rules on numbers: places, labels that count (r, labels), limits, heads (n + 1, r)."""
        places = [
            place
            for place, rule in enumerate(self.rules)
            if isinstance(rule, AtMost) and rule.count > 0
        ]
        rules: list[AtMost] = [self.rules[place] for place in places]  # type: ignore[misc]
        named = np.array([self.named[place] for place in places], bool)
        of_heads = np.zeros((len(self.arcs), len(rules)), bool)
        for column, rule in enumerate(rules):
            of_heads[slice(None) if rule.heads is None else list(rule.heads), column] = True
        most = np.array([rule.count for rule in rules], np.int64)
        return places, named.reshape(len(rules), self.labels.shape[2]), most, of_heads

    @cached_property
    def _below(self) -> Mask:
        """By token and its label, which labels its dependants may have."""
        count = self.labels.shape[2]
        found = np.ones((len(self.arcs), count, count), bool)
        for place, rule in enumerate(self.rules):
            if isinstance(rule, Leaves):
                every = range(1, len(self.arcs))
                about = np.array(list(every if rule.tokens is None else rule.tokens), np.int64)
                found[np.ix_(about, np.flatnonzero(self.named[place]))] &= self.exempt[place]
        return found

    def _with_or_without(self, part: Subset, found: Violation) -> Iterator[Subset]:
        """Forbid or demand one of the arcs with a label that is counted."""
        named, h = self.named[found.rule], found.head
        allowed = np.where(part.labels[h], self.labels[h], -np.inf)
        # the token that loses most without such a label, of those that may go without
        chosen = max(found.tokens, key=lambda m: _loss(part, m, allowed[m], named))
        labels = part.labels.copy()
        labels[h, chosen, named] = False
        yield Subset(part.arcs, labels)
        arcs, labels = part.arcs.copy(), part.labels.copy()
        arcs[:, chosen] = False
        arcs[h, chosen] = part.arcs[h, chosen]
        labels[h, chosen, ~named] = False
        yield Subset(arcs, labels)

    def _leaf_or_not(self, part: Subset, found: Violation) -> Iterator[Subset]:
        """Demand or forbid that a token is a leaf by its label."""
        leaf, exempt = self.named[found.rule], self.exempt[found.rule]
        labels = part.labels.copy()
        labels[:, found.head, ~leaf] = False
        labels[found.head, :, ~exempt] = False
        yield Subset(part.arcs, labels)
        labels = part.labels.copy()
        labels[:, found.head, leaf] = False
        yield Subset(part.arcs, labels)

    def relabelled(self, heads: Heads, least: float = -np.inf) -> Labels | None:
        """Return good labels of a tree that break no rule; None if none were found.

        Of the parts of its labellings the search goes on with the second, never back. It ends
        where the labels' scores sum up to `least` at most.
        """
        if not self.is_labelled:
            return None
        tokens = np.arange(1, len(heads) + 1)
        scores, own = self.labels[heads, tokens], self.everything.labels[heads, tokens]
        if not self.everything.arcs[heads, tokens].all():
            return None
        while self._narrows(heads, own):
            labels: Labels = np.where(own, scores, -np.inf).argmax(axis=1)
            if scores[tokens - 1, labels].sum() <= least:
                return None
            found = self._broken(heads, labels)
            if found is None:
                return labels
            named = self.named[found.rule]
            if isinstance(self.rules[found.rule], AtMost):
                # the token that loses most keeps such a label
                allowed = np.where(own, scores, -np.inf)[np.array(found.tokens) - 1]
                without = allowed[:, ~named].max(axis=1, initial=-np.inf)
                lost = allowed[:, named].max(axis=1) - without
                own[found.tokens[int(lost.argmax())] - 1] &= named
            elif isinstance(self.rules[found.rule], Leaves):
                own[found.head - 1] &= ~named
            else:
                return None
        return None

    def _narrows(self, heads: Heads, own: Mask) -> bool:
        """Take from the labels of a tree what rules exclude; False if a token has none left.

        As :meth:`_narrowed` for parts of which every token has one head.
        """
        _, named, most, of_heads = self._limits
        counted: Mask = np.asarray(~(own[:, None] & ~named).any(axis=2))
        numbers = _numbers(heads, counted, of_heads)
        if (numbers > most).any():
            return False
        full = ((numbers == most) & of_heads)[heads] & ~counted
        own &= ~(full[:, :, None] & named).any(axis=1)
        if any(isinstance(rule, Leaves) for rule in self.rules):
            below = self._below
            of_heads_labels = np.ones((len(heads) + 1, own.shape[1]), bool)
            of_heads_labels[1:] = own
            own &= (of_heads_labels[heads][:, :, None] & below[heads]).any(axis=1)
            np.logical_and.at(of_heads_labels, heads, (below[heads] & own[:, None]).any(axis=2))
            own &= of_heads_labels[1:]
        return bool(own.any(axis=1).all())


def _numbers(heads: NDArray[Any], counted: Mask, of_heads: Mask) -> NDArray[np.int64]:
    """Return how many tokens of each head each rule counts, 0 for heads it is not about."""
    found = np.zeros(of_heads.shape, np.int64)
    np.add.at(found, heads, counted)
    return found * of_heads


def with_best_labels(arcs: Floats, kept: Mask, labels: Floats, allowed: Mask) -> Floats:
    """Return the scores of the arcs that are kept, each with its best allowed label."""
    best = np.where(allowed, labels, -np.inf).max(axis=2)
    return np.where(kept, arcs + best, -np.inf)


def _loss(part: Subset, m: int, allowed: Floats, named: Mask) -> float:
    """Return what a token loses without a counted label; ``-inf`` if it must have one."""
    without = float(allowed[~named].max(initial=-np.inf))
    if without == -np.inf and part.arcs[:, m].sum() == 1:
        return -np.inf
    return float(allowed[named].max()) - without


def _inside_or_outside(part: Subset, found: Violation, rule: Constituent) -> Iterator[Subset]:
    """Forbid or demand that a token is the head of a constituent."""
    chosen = found.tokens[0]
    inner = np.zeros(len(part.arcs), bool)
    inner[rule.first : rule.last + 1] = True
    arcs = part.arcs.copy()
    arcs[~inner, chosen] = False
    yield Subset(arcs, part.labels)
    arcs = part.arcs.copy()
    arcs[inner, chosen] = False
    others = inner.copy()
    others[chosen] = False
    arcs[np.ix_(~inner, others)] = False
    yield Subset(arcs, part.labels)
