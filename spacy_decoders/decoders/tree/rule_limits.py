"""The labelled arcs that rules allow, and the branching on a limit that a tree violates."""

from collections.abc import Collection, Iterable, Sequence
from functools import cached_property
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from ...arrays import Booleans, Floats, Integers
from ...errors import DecodersError
from .limits import Except, Limit
from .rules import Rule

__all__ = ["Branch", "LabelledArcs", "Violation", "with_best_labels"]

Ints = NDArray[np.integer[Any]]


class Violation(NamedTuple):
    """A limit that a tree exceeds."""

    #: The index of the limit, and the head or token under which arcs are counted.
    limit: int
    counted: int
    #: By the index of a term, the tokens of the arcs that it counts.
    members: dict[int, Ints]


class Branch(NamedTuple):
    """A child of a node: the trees in which a token has one of certain labelled arcs, or none."""

    token: int
    #: bool (n + 1, labels): these arcs.
    members: Booleans
    has_one: bool
    #: An upper bound on these trees, if bounds on the trees through each arc were known.
    upper: float


class LabelledArcs:
    """The labelled arcs that no rule forbids outright, and the limits on several of them.

    **Shape**: arcs float64 (n + 1, n + 1); labels float64 (n + 1, n + 1, labels), None for a
    single label that scores 0.

    Examples
    --------
    >>> from .rules import ForbiddenArc
    >>> arcs = np.array([[-np.inf, 1, 3], [-np.inf, -np.inf, 1], [-np.inf, 2, -np.inf]])
    >>> LabelledArcs([ForbiddenArc(0, 1)], arcs, None).possible[:, :, 0]
    array([[False, False,  True],
           [False, False,  True],
           [False,  True, False]])
    """

    def __init__(self, rules: Sequence[Rule], arcs: Floats, labels: Floats | None) -> None:
        self.arcs = arcs
        self.labels = np.zeros((*arcs.shape, 1)) if labels is None else labels
        #: the labelled arcs that no rule forbids outright
        self.possible: Booleans = (arcs > -np.inf)[:, :, None] & (self.labels > -np.inf)
        size, count = self.labels.shape[1:]
        limits = []
        for limit in (limit for rule in rules for limit in rule.limits):
            if limit.most > 0 or limit.excluded_by is not None:
                limits.append(limit)
                continue
            heads, tokens, of = limit.members[:3]
            self.possible[np.ix_(marked(heads, size), marked(tokens, size), marked(of, count))] = 0
        self.possible &= _below_some_label(limits, self.possible)[:, None]
        terms = [
            (place, term, weight)
            for place, limit in enumerate(limits)
            for term, weight in ((limit.members, 1), (limit.excluded_by, size))
            if term is not None
        ]
        # for each limit, its capacity: an arc that excludes others fills it alone
        self._most = np.array([size if one.excluded_by else one.most for one in limits], np.int64)
        self.is_limited = len(limits) > 0
        # for each term: its limit, the weight of an arc, and whether arcs are counted by head
        self._limit = np.array([place for place, _, _ in terms], np.int64)
        self._weight = np.array([weight for _, _, weight in terms], np.int64)
        self._by_head = np.array([term.of_each == "head" for _, term, _ in terms], bool)
        # (n + 1, terms) or (labels, terms): the heads, tokens and labels of each term
        self._heads = _columns([marked(term.heads, size) for _, term, _ in terms], size)
        self._tokens = _columns([marked(term.tokens, size) for _, term, _ in terms], size)
        self._labels = _columns([marked(term.labels, count) for _, term, _ in terms], count)

    @cached_property
    def _planes(self) -> Floats:
        """The labels' scores, label first: maxima over labels then take a third of the time."""
        return np.ascontiguousarray(self.labels.transpose(2, 0, 1))

    def arcs_with(self, possible: Booleans) -> Floats:
        """Return the scores of arcs with the best of their possible labels."""
        possible = possible.transpose(2, 0, 1)
        arcs = with_best_labels(self.arcs, self._planes, possible)
        if not ((self.arcs + self._planes <= arcs) | ~possible).all():
            raise DecodersError("rules: the best label of an arc was missed.")
        return arcs

    def best_labels(self, possible: Booleans, heads: Ints) -> Integers:
        """Return the best possible label of each arc of a tree, (n,)."""
        tokens = np.arange(1, len(heads) + 1)
        scores = np.where(possible[heads, tokens], self.labels[heads, tokens], -np.inf)
        return scores.argmax(axis=1)

    def narrowed(self, possible: Booleans) -> Booleans | None:
        """Remove the arcs that limits exclude beside certain ones; None if no tree is left."""
        heads, labels = possible.any(axis=2), possible.any(axis=0)
        choices = heads.sum(axis=0)
        if not choices[1:].all():
            return None
        # (n + 1, terms): whether a term counts a token's arc whichever of the possible it is
        certain = self._tokens & (choices[:, None] > 0)
        certain &= (choices[:, None] == 1) | ~self._by_head
        certain &= heads.T.astype(np.float32) @ ~self._heads == 0
        certain &= labels.astype(np.float32) @ ~self._labels == 0
        full = self._full(heads.argmax(axis=0), certain)
        if full is None or not full.any():
            return None if full is None else possible
        rest = possible.copy()
        for term in np.flatnonzero(full.any(axis=0)):
            above, below = self._heads[:, term], self._tokens[:, term] & ~certain[:, term]
            if self._by_head[term]:
                above = above & full[:, term]
            else:
                below &= full[:, term]
            rest[np.ix_(above, below, self._labels[:, term])] = False
        left: Booleans = np.asarray(rest.any(axis=0))
        return rest if left[1:].any(axis=1).all() else None

    def _full(self, heads: Ints, certain: Booleans) -> Booleans | None:
        """Return which terms have no room for another arc, (n + 1, terms); None if exceeded."""
        room = self._most - self._used(heads, certain)
        if (room < 0).any():
            return None
        return np.less(room[:, self._limit], self._weight)

    def _used(self, heads: Ints, counted: Booleans) -> Integers:
        """Return the weight of the arcs under each limit, (n + 1, limits), by head or token.

        **Shape**: heads (n + 1,); counted bool (n + 1, terms), the terms that count a token's arc.
        """
        used = np.zeros((len(heads), len(self._most)), np.int64)
        m, t = np.nonzero(counted)
        np.add.at(used, (np.where(self._by_head[t], heads[m], m), self._limit[t]), self._weight[t])
        return used

    def violation(self, heads: Ints, labels: Ints) -> Violation | None:
        """Return a limit that a labelled tree exceeds, or None."""
        above = np.concatenate([[0], heads])
        counted = self._heads[above] & self._tokens
        counted[0] = False
        counted[1:] &= self._labels[labels]
        exceeded = np.argwhere((self._used(above, counted) > self._most).T)
        if not len(exceeded):
            return None
        limit, key = exceeded[0].tolist()
        members: dict[int, Ints] = {}
        for term in np.flatnonzero(self._limit == limit).tolist():
            tokens = np.flatnonzero(counted[:, term])
            tokens = tokens[(above[tokens] if self._by_head[term] else tokens) == key]
            if len(tokens):
                members[term] = tokens
        return Violation(limit, key, members)

    def branches(
        self, possible: Booleans, found: Violation, others: Floats | None
    ) -> list[Branch]:
        """Return two children that together have all trees within the limits, the likelier last.

        `others`, (n + 1, n + 1), has upper bounds on the trees through each arc, less its score;
        None if they are unknown.
        """
        kept, left, lost = {}, {}, {}
        arcs = self.arcs if others is None else self.arcs + others
        for term, tokens in found.members.items():
            scores = arcs[:, tokens, None] + self.labels[:, tokens]
            worth = np.where(possible[:, tokens], scores, -np.inf)
            kept[term], left[term] = _best_two(worth, self._members(found, term)[:, None])
            lost[term] = kept[term] - left[term]
        token, term = self._chosen(found, lost)
        weight, most = self._weight[term], self._most[found.limit]
        at = int(np.flatnonzero(found.members[term] == token)[0])
        # the arcs of the others that the limit excludes beside its arc
        beside = [
            np.delete(of, at) if key == term else of
            for key, of in left.items()
            if weight + self._weight[key] > most
        ]
        upper = float(np.concatenate([kept[term][at : at + 1], *beside]).min())
        members = self._members(found, term)
        parts = [
            Branch(token, members, False, float(left[term][at])),
            Branch(token, members, True, upper),
        ]
        return parts[::-1] if weight > 1 else parts

    def taken(self, possible: Booleans, branch: Branch | None) -> Booleans | None:
        """Return the part of a branch, None if it has no trees; without a branch the whole."""
        if branch is None:
            return possible
        part, members = possible.copy(), branch.members
        part[:, branch.token] &= members if branch.has_one else ~members
        return self.narrowed(part)

    def _chosen(self, found: Violation, lost: dict[int, Floats]) -> tuple[int, int]:
        """Return the token and the term to branch on: removable, of most weight, and costliest.

        `lost` has, by term, what each of its tokens loses without its arcs; infinite if it has no
        others.
        """
        most = (False, 0, -np.inf)
        chosen = (0, 0)
        for term, of_tokens in lost.items():
            finite = np.where(of_tokens < np.inf, of_tokens, -np.inf)
            place = int(finite.argmax())
            rank = (bool(finite[place] > -np.inf), int(self._weight[term]), float(finite[place]))
            if rank >= most:
                most, chosen = rank, (int(found.members[term][place]), term)
        return chosen

    def _members(self, found: Violation, term: int) -> Booleans:
        """Return the labelled arcs of a token that a term counts there, (n + 1, labels)."""
        heads = self._heads[:, term]
        if self._by_head[term]:
            heads = heads & (np.arange(len(heads)) == found.counted)
        return np.logical_and.outer(heads, self._labels[:, term])

    def relabelled(
        self, heads: Ints, found: Violation | None = None, *, steps: int | None = None
    ) -> Integers | None:
        """Return good labels of a tree that exceed no limit; None if none were found.

        It is a greedy search, without backtracking, over the same branches, of at most `steps`.
        `found` is the limit that its best labels exceed, if that is known.
        """
        above, every = np.concatenate([[0], heads]), np.arange(len(heads) + 1)
        scores, own = self.labels[above, every], self.possible[above, every]
        about = self._heads[above] & self._tokens
        about[0] = False
        keys = np.where(self._by_head, above[:, None], every[:, None])
        for _ in range(own.size if steps is None else steps):
            certain = about & (own.astype(np.float32) @ ~self._labels == 0)
            full = self._full(above, certain)
            if full is None:
                return None
            excluded = about & ~certain & full[keys, np.arange(len(self._limit))]
            own = own & (excluded.astype(np.float32) @ self._labels.T == 0)
            worth = np.where(own, scores, -np.inf)
            if found is None or excluded.any():
                if (worth[1:].max(axis=1) == -np.inf).any():
                    return None
                labels: Integers = worth[1:].argmax(axis=1)
                found = self.violation(heads, labels)
                if found is None:
                    return labels
            lost = {
                term: np.subtract(*_best_two(worth[None, tokens], self._labels[:, term]))
                for term, tokens in found.members.items()
            }
            token, term = self._chosen(found, lost)
            if not min(of.min() for of in lost.values()) < np.inf:
                return None
            of = self._labels[:, term]
            own[token] &= ~of if self._weight[term] > 1 else of
            found = None
        return None


def _below_some_label(limits: Iterable[Limit], possible: Booleans) -> Booleans:
    """Return the labels that arcs from each head may have, given some possible label of its own.

    Arcs that leaves exclude whatever that label is need no search.
    """
    size, count = possible.shape[1:]
    beside = np.ones((size, count, count), bool)  # by head, its own label, and that of the arc
    for below, _, leaves in limits:
        if leaves is not None:
            heads = marked(below.heads, size)
            above, under = marked(leaves.labels, count), marked(below.labels, count)
            beside[np.ix_(heads, above, under)] = False
    own: Booleans = np.asarray(possible.any(axis=0))
    found: Booleans = np.asarray((own[:, :, None] & beside).any(axis=1))
    found[0] = True
    return found


def _best_two(worth: Floats, counted: Booleans) -> tuple[Floats, Floats]:
    """Return each token's best arc among those counted, and among the others.

    **Shape**: worth (heads, tokens, labels).
    """
    some: Floats = np.where(counted, worth, -np.inf).max(axis=(0, 2))
    rest: Floats = np.where(counted, -np.inf, worth).max(axis=(0, 2))
    return some, rest


def _columns(rows: Sequence[Booleans], size: int) -> Booleans:
    return np.array(rows, bool).reshape(-1, size).T


def marked(members: Collection[int] | Except, size: int) -> Booleans:
    """Return a mask of the members below `size`, bool (size,)."""
    others = isinstance(members, Except)
    mask = np.full(size, others)
    mask[list(members.members if isinstance(members, Except) else members)] = not others
    return mask


def with_best_labels(arcs: Floats, planes: Floats, possible: Booleans) -> Floats:
    """Return the scores of arcs, each with the best of its possible labels.

    **Shape**: planes and possible (labels, n + 1, n + 1).
    """
    return arcs + np.where(possible, planes, -np.inf).max(axis=0)
