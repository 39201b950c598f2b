"""How the search for the best labelled tree branches on a rule that is broken."""

from __future__ import annotations

import heapq
from collections.abc import Iterator, Sequence
from functools import cached_property
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from ...arrays import read_only
from ...errors import DecodersError
from .kernels import labelled as kernels
from .kernels import proofs
from .label_classes import classes_of
from .problem import TreeProblem
from .rules import AtMost, Constituent, Leaves

__all__ = ["RuleBranching", "Subset", "Violation"]

Floats = NDArray[np.float64]
Labels = NDArray[np.int64]
Mask = NDArray[np.bool_]


#: About how long a chart that counts labels takes, for each triple of tokens and two allowances.
SECONDS_A_STEP = 1e-9

#: The most bytes of such a chart, and the most labels of a rule that it counts.
MOST_CHART_BYTES, MOST_COUNTED = 100_000_000, 3

#: The most ways of sharing labels among a head's dependants that are kept from one to the next.
MOST_SHARED = 256


class Subset(NamedTuple):
    """Some of the labelled trees."""

    #: bool (n + 1, n + 1), the arcs that they may have.
    arcs: Mask
    #: bool (n + 1, n + 1, classes), the classes of labels that each arc may have.
    classes: Mask


class Violation(NamedTuple):
    """A broken rule, by its place; the head, leaf or 0; and the tokens that break it."""

    rule: int
    head: int
    tokens: list[int]


class RuleBranching:
    """Arcs and labels of a problem by what the rules distinguish.

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
        given = np.zeros((*arcs.shape, 1)) if labels is None else labels
        self._labels = labels
        self.classes = classes_of(problem.rules, given.shape[2])
        self.class_of = self.classes.of_label
        among = (read_only(arcs), read_only(given), self.class_of)
        self.scores, self.best = kernels.best_of_classes(*among, self.classes.size)
        if not proofs.covers_labels(*among, self.scores, self.best):
            raise DecodersError("labels: the compiled code missed the best label of an arc.")
        # those that no relabelling mends come first: then most trees can be repaired
        self._order = sorted(
            range(len(self.rules)),
            key=lambda place: not isinstance(self.rules[place], Constituent),
        )
        self.everything = Subset(arcs > -np.inf, self.scores > -np.inf)
        self.size = self.scores.size + arcs.size

    def arcs_of(self, part: Subset) -> Floats:
        """Return the scores of arcs with the best label that a part allows."""
        given = (read_only(self.arcs), part.arcs, self.scores, part.classes)
        arcs = with_best_classes(*given)
        if not proofs.covers_arcs(*given, arcs):
            raise DecodersError("rules: the best label of an arc was missed.")
        return arcs

    def labels_of(self, part: Subset, heads: NDArray[np.int32]) -> Labels | None:
        """Return the best labels of a tree that a part allows, (n,)."""
        if self._labels is None:
            return None
        tokens = np.arange(1, len(heads) + 1)
        allowed = part.classes[heads, tokens]
        chosen = np.where(allowed, self.scores[heads, tokens], -np.inf).argmax(axis=1)
        labels: Labels = self.best[heads, tokens, chosen]
        return labels

    def label_score(self, heads: NDArray[np.int32], labels: Labels | None) -> float:
        """Return what the labels of a tree are worth."""
        if self._labels is None or labels is None:
            return 0.0
        return float(self._labels[heads, np.arange(1, len(heads) + 1), labels].sum())

    # --- what is broken ------------------------------------------------------------------------

    def violation(self, heads: NDArray[np.int32], labels: Labels | None) -> Violation | None:
        """Return a rule that a tree breaks and that no mask takes care of."""
        classes = np.zeros(len(heads), int) if labels is None else self.class_of[labels]
        for place in self._order:
            rule = self.rules[place]
            if isinstance(rule, AtMost):
                found = self._too_many(place, rule, heads, classes)
            elif isinstance(rule, Leaves):
                found = self._not_leaf(place, rule, heads, classes)
            elif isinstance(rule, Constituent):
                inner = heads[rule.first - 1 : rule.last]
                outside = np.flatnonzero((inner < rule.first) | (inner > rule.last)) + rule.first
                found = Violation(place, 0, outside.tolist()) if len(outside) > 1 else None
            else:
                continue
            if found is not None:
                return found
        return None

    def _too_many(
        self, place: int, rule: AtMost, heads: NDArray[np.int32], classes: Labels
    ) -> Violation | None:
        counted = np.flatnonzero(self.classes.named[place][classes])
        of_head: dict[int, list[int]] = {}
        for token in counted:
            of_head.setdefault(int(heads[token]), []).append(int(token) + 1)
        for h, tokens in of_head.items():
            if len(tokens) > rule.count and (rule.heads is None or h in rule.heads):
                return Violation(place, h, tokens)
        return None

    def _not_leaf(
        self, place: int, rule: Leaves, heads: NDArray[np.int32], classes: Labels
    ) -> Violation | None:
        leaf, exempt = self.classes.named[place], self.classes.exempt[place]
        for token, h in enumerate(heads.tolist(), start=1):
            among = h > 0 and (rule.tokens is None or h in rule.tokens)
            if among and leaf[classes[h - 1]] and not exempt[classes[token - 1]]:
                return Violation(place, h, [token])
        return None

    # --- how to branch -------------------------------------------------------------------------

    def children(
        self, part: Subset, found: Violation, *, thorough: bool = True
    ) -> Iterator[Subset]:
        """Yield up to two parts that together have all trees of a part that break no rule.

        Parameters
        ----------
        thorough
            Whether each part leaves out all that any rule excludes there, which takes longer.
        """
        places = range(len(self.rules)) if thorough else [found.rule]
        rule = self.rules[found.rule]
        if isinstance(rule, AtMost):
            halves = self._with_or_without(part, found)
        elif isinstance(rule, Leaves):
            halves = self._leaf_or_not(part, found)
        else:
            assert isinstance(rule, Constituent)  # all others are masks
            halves = _inside_or_outside(part, found, rule)
        for demanded, half in enumerate(halves):
            needed = thorough or (demanded and isinstance(rule, AtMost))
            narrowed = self._narrowed(half, places) if needed else half
            if narrowed is not None:
                yield narrowed

    def _narrowed(self, part: Subset, places: Sequence[int]) -> Subset | None:
        """Leave out what rules exclude beside what a part demands; None if nothing is left."""
        possible: Mask = part.classes & part.arcs[:, :, None]
        heads: Mask = part.arcs if len(places) == 1 else np.asarray(possible.any(axis=2))
        choices = heads[:, 1:].sum(axis=0)
        if not choices.all():
            return None
        # the tokens that have one head left
        fixed = np.flatnonzero(choices == 1) + 1
        above = heads[:, fixed].argmax(axis=0)
        own = possible[above, fixed]
        classes = part.classes.copy()
        for place in places:
            rule, named = self.rules[place], self.classes.named[place]
            if isinstance(rule, AtMost) and rule.count > 0:
                counted = ~own[:, ~named].any(axis=1)
                numbers = np.bincount(above[counted], minlength=len(heads))
                for h in np.flatnonzero(numbers >= rule.count).tolist():
                    if rule.heads is None or h in rule.heads:
                        if numbers[h] > rule.count:
                            return None
                        others = np.ones(len(heads), bool)
                        others[fixed[counted & (above == h)]] = False
                        classes[h] &= ~(others[:, None] & named)
        if not any(isinstance(self.rules[place], Leaves) for place in places):
            return Subset(part.arcs, classes)
        # dependants that some label of a head allows, and labels that some dependant allows
        below = self._below[1:]
        own_classes: Mask = np.asarray(possible.any(axis=0))[1:]
        classes[1:] &= np.asarray((own_classes[:, :, None] & below).any(axis=1))[:, None]
        for h, its in zip(above.tolist(), own, strict=True):
            if h > 0:
                classes[:, h] &= (below[h - 1] & its).any(axis=1)
        return Subset(part.arcs, classes)

    @cached_property
    def _below(self) -> Mask:
        """By token and the class of its label, which classes its dependants may have."""
        found = np.ones((len(self.arcs), self.classes.size, self.classes.size), bool)
        for place, rule in enumerate(self.rules):
            if isinstance(rule, Leaves):
                every = range(1, len(self.arcs))
                about = np.array(list(every if rule.tokens is None else rule.tokens), np.int64)
                leaf = np.flatnonzero(self.classes.named[place])
                found[np.ix_(about, leaf)] &= self.classes.exempt[place]
        return found

    def _with_or_without(self, part: Subset, found: Violation) -> Iterator[Subset]:
        """Demand or forbid one of the arcs with a label that is counted."""
        named, h = self.classes.named[found.rule], found.head
        allowed = np.where(part.classes[h], self.scores[h], -np.inf)
        # the token that loses most without such a label, of those that may go without
        losses = {m: self._loss(part, h, m, allowed[m], named) for m in found.tokens}
        chosen = max(found.tokens, key=lambda m: losses[m])
        classes = part.classes.copy()
        classes[h, chosen, named] = False
        yield Subset(part.arcs, classes)
        arcs, classes = part.arcs.copy(), part.classes.copy()
        arcs[:, chosen] = False
        arcs[h, chosen] = part.arcs[h, chosen]
        classes[h, chosen, ~named] = False
        yield Subset(arcs, classes)

    def _loss(self, part: Subset, h: int, m: int, allowed: Floats, named: Mask) -> float:
        """Return what a token loses without a counted label; ``-inf`` if it must have one."""
        without = float(allowed[~named].max(initial=-np.inf))
        if without == -np.inf and part.arcs[:, m].sum() == 1:
            return -np.inf
        return float(allowed[named].max()) - without

    def _leaf_or_not(self, part: Subset, found: Violation) -> Iterator[Subset]:
        """Demand or forbid that a token is a leaf by its label."""
        leaf, exempt = self.classes.named[found.rule], self.classes.exempt[found.rule]
        classes = part.classes.copy()
        classes[:, found.head, leaf] = False
        yield Subset(part.arcs, classes)
        classes = part.classes.copy()
        classes[:, found.head, ~leaf] = False
        classes[found.head, :, ~exempt] = False
        yield Subset(part.arcs, classes)

    # --- a tree with other labels --------------------------------------------------------------

    def relabelled(self, heads: NDArray[np.int32]) -> Labels | None:
        """Return good labels of a tree that break no rule on labels; None if none were found.

        Tokens with dependants are no leaves, and each head's dependants share what `AtMost` leaves
        them in the best way.
        """
        if self._labels is None:
            return None
        tokens = np.arange(1, len(heads) + 1)
        scores = self.scores[heads, tokens]
        scores[~self.everything.classes[heads, tokens]] = -np.inf
        parents = np.unique(heads[heads > 0])
        for place, rule in enumerate(self.rules):
            if isinstance(rule, Leaves):
                among = parents if rule.tokens is None else parents[np.isin(parents, rule.tokens)]
                scores[np.ix_(among - 1, self.classes.named[place])] = -np.inf
        chosen = scores.argmax(axis=1)
        for h in self._overdrawn(heads, chosen):
            below = np.flatnonzero(heads == h)
            shared = self._shared(h, scores[below])
            if shared is None:
                return None
            chosen[below] = shared
        if not (scores[tokens - 1, chosen] > -np.inf).all():
            return None
        labels: Labels = self.best[heads, tokens, chosen]
        return labels

    def charted(
        self, part: Subset, problem: TreeProblem, seconds: float
    ) -> tuple[NDArray[np.int32], Labels | None] | None:
        """Return the best projective tree of arcs that keeps to all rules on labels, if any.

        It may miss trees: the tokens whose labels mark leaves have no dependants at all, and where
        the time does not suffice to count the labels of all rules, those of the others are not
        used. Constituents are not looked at.
        """
        from .kernels import ruled  # compiled where it is first needed

        n = problem.n
        most = int((seconds / (SECONDS_A_STEP * (n + 1) ** 3)) ** 0.5)
        most = max(1, min(most, int((MOST_CHART_BYTES / (16 * (n + 1) ** 2)) ** 0.5)))
        limits = self._limits_within(most, n)
        draws = [np.zeros((n + 1, self.classes.size), np.int64)]
        unused = np.zeros((n + 1, self.classes.size), bool)
        leaf = np.zeros((n + 1, self.classes.size), bool)
        states = 1
        for place, rule in enumerate(self.rules):
            if isinstance(rule, AtMost) and rule.count < n:
                about = np.zeros(n + 1, bool)
                about[slice(None) if rule.heads is None else list(rule.heads)] = True
                counted = about[:, None] & self.classes.named[place]
                if place in limits:
                    draws.append(counted * states)
                    states *= limits[place] + 1
                else:
                    unused |= counted
            elif isinstance(rule, Leaves):
                about = np.zeros(n + 1, bool)
                about[slice(None) if rule.tokens is None else list(rule.tokens)] = True
                leaf |= about[:, None] & self.classes.named[place]
        # what is left of each allowance after each draw: no digit may borrow
        costs, draw_of = np.unique(np.sum(draws, axis=0), return_inverse=True)
        rest = np.arange(states) - costs[:, None]
        radix = 1
        for most_drawn in limits.values():
            digits = np.arange(states) // radix % (most_drawn + 1)
            rest[digits < costs[:, None] // radix % (most_drawn + 1)] = -1
            radix *= most_drawn + 1
        allowed = part.classes & part.arcs[:, :, None] & ~unused[:, None]
        scores = np.where(allowed, self.arcs[:, :, None] + self.scores, -np.inf)
        gaps = problem.gaps if len(problem.gaps) else np.zeros(n + 1)
        given = (read_only(scores), leaf, draw_of.reshape(leaf.shape), rest, read_only(gaps))
        heads, classes, score = ruled.decode(*given, problem.has_one_root)
        if score == -np.inf:
            return None
        tokens = np.arange(1, n + 1)
        return heads, None if self._labels is None else self.best[heads, tokens, classes]

    def _limits_within(self, most: int, n: int) -> dict[int, int]:
        """Return how often rules may be drawn on, by place, those that most tokens need first.

        The product of all numbers of draws, none included, is at most `most`.
        """
        needs = {}
        usable = self.everything.classes & self.everything.arcs[:, :, None]
        for place, rule in enumerate(self.rules):
            if isinstance(rule, AtMost) and 0 < rule.count < n:
                otherwise = usable[:, :, ~self.classes.named[place]].any(axis=(0, 2))
                needs[place] = (int(otherwise.sum()), -int(self.classes.named[place].sum()))
        limits = {}
        for place in sorted(needs, key=lambda one: needs[one]):
            count = min(self.rules[place].count, most - 1)  # type: ignore[attr-defined]
            if count > 0:
                limits[place] = min(count, MOST_COUNTED)
                most //= limits[place] + 1
        return dict(sorted(limits.items()))

    def _overdrawn(self, heads: NDArray[np.int32], classes: Labels) -> list[int]:
        """Return the heads with more dependants of some classes than an `AtMost` leaves them."""
        found: set[int] = set()
        for place, rule in enumerate(self.rules):
            if isinstance(rule, AtMost):
                counted = np.bincount(heads[self.classes.named[place][classes]])
                over = np.flatnonzero(counted > rule.count).tolist()
                found.update(h for h in over if rule.heads is None or h in rule.heads)
        return sorted(found)

    def _shared(self, h: int, scores: Floats) -> list[int] | None:
        """Return the best classes of one head's dependants that no `AtMost` forbids."""
        limits = [
            (self.classes.named[place], rule.count)
            for place, rule in enumerate(self.rules)
            if isinstance(rule, AtMost) and (rule.heads is None or h in rule.heads)
        ]
        # how often each rule was drawn on, packed into one number: a field for each rule, which
        # begins so high that its top bit shows a draw too many
        width = len(scores).bit_length() + 1
        start = beyond = 0
        draws = [0] * scores.shape[1]
        for place, (named, most) in enumerate(limits):
            top = 1 << (width - 1)
            start |= (top - 1 - min(most, len(scores))) << (width * place)
            beyond |= top << (width * place)
            for one in np.flatnonzero(named).tolist():
                draws[one] += 1 << (width * place)
        # the best choice for each number of times that every rule was drawn on
        best: dict[int, tuple[float, list[int]]] = {start: (0.0, [])}
        for row in scores.tolist():
            options = _best_by_draw(draws, row)
            longer: dict[int, tuple[float, list[int]]] = {}
            for used, (value, chosen) in best.items():
                for draw, one in options.items():
                    after = used + draw
                    if after & beyond:
                        continue
                    total = value + row[one]
                    if after not in longer or total > longer[after][0]:
                        longer[after] = (total, [*chosen, one])
            best = longer
            if len(longer) > MOST_SHARED:
                kept = heapq.nlargest(MOST_SHARED, longer, key=lambda after: longer[after][0])
                best = {after: longer[after] for after in kept}
        return max(best.values(), key=lambda one: one[0])[1] if best else None


def with_best_classes(arcs: Floats, kept: Mask, scores: Floats, allowed: Mask) -> Floats:
    """Return the scores of the arcs that are kept, each with its best allowed class of labels."""
    best = np.where(allowed, scores, -np.inf).max(axis=2)
    return np.where(kept, arcs + best, -np.inf)


def _best_by_draw(draws: list[int], row: list[float]) -> dict[int, int]:
    """Return the best allowed class of each draw on the rules."""
    options: dict[int, int] = {}
    for one, (draw, score) in enumerate(zip(draws, row, strict=True)):
        if score > -np.inf and (draw not in options or score > row[options[draw]]):
            options[draw] = one
    return options


def _inside_or_outside(part: Subset, found: Violation, rule: Constituent) -> Iterator[Subset]:
    """Demand or forbid that a token is the head of a constituent."""
    chosen = found.tokens[0]
    inner = np.zeros(len(part.arcs), bool)
    inner[rule.first : rule.last + 1] = True
    arcs = part.arcs.copy()
    arcs[~inner, chosen] = False
    yield Subset(arcs, part.classes)
    arcs = part.arcs.copy()
    arcs[inner, chosen] = False
    others = inner.copy()
    others[chosen] = False
    arcs[np.ix_(~inner, others)] = False
    yield Subset(arcs, part.classes)
