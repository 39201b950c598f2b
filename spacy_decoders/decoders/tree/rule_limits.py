"""What rules leave of the labelled arcs of a problem, and how a search branches on one."""

from __future__ import annotations

from collections.abc import Collection, Iterator, Sequence
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from ...errors import DecodersError
from .limits import Except
from .rules import Rule

__all__ = ["LabelledArcs", "Violation", "with_best_labels"]

Floats = NDArray[np.float64]
Ints = NDArray[np.integer[Any]]
#: bool (n + 1, n + 1, labels), some of the labelled arcs.
Mask = NDArray[np.bool_]


class Violation(NamedTuple):
    """Where a tree exceeds a limit."""

    #: The limit's place, and the head, token or 0 whose arcs are counted.
    limit: int
    counted: int
    #: The tokens of these arcs, and the places of their terms.
    members: list[tuple[int, int]]


class LabelledArcs:
    """The labelled arcs that no rule forbids by itself, and what rules say of the others.

    Parameters
    ----------
    rules
        What trees must satisfy.
    arcs
        float64 (n + 1, n + 1).
    labels
        float64 (n + 1, n + 1, labels); None for a single one that adds nothing.

    Attributes
    ----------
    possible
        bool (n + 1, n + 1, labels), the labelled arcs that trees may have.

    Examples
    --------
    >>> from .rules import Roots
    >>> arcs = np.array([[-np.inf, 1, 3], [-np.inf, -np.inf, 1], [-np.inf, 2, -np.inf]])
    >>> LabelledArcs([Roots([2])], arcs, None).possible[:, :, 0]
    array([[False, False,  True],
           [False, False,  True],
           [False,  True, False]])
    """

    def __init__(self, rules: Sequence[Rule], arcs: Floats, labels: Floats | None) -> None:
        self.arcs = arcs
        self.labels = np.zeros((*arcs.shape, 1)) if labels is None else labels
        self.possible: Mask = (arcs > -np.inf)[:, :, None] & (self.labels > -np.inf)
        size, count = self.labels.shape[1:]
        limits = []
        for limit in (limit for rule in rules for limit in rule.limits):
            if limit.most > 0 or limit.excluded_by is not None:
                limits.append(limit)
                continue
            heads, tokens, of = limit.members[:3]
            self.possible[np.ix_(marked(heads, size), marked(tokens, size), marked(of, count))] = 0
        # those that no relabelling mends come first: then most trees can be repaired
        limits.sort(key=lambda limit: limit.members.of_each is not None)
        terms = [
            (place, term, weight)
            for place, limit in enumerate(limits)
            for term, weight in ((limit.members, 1), (limit.excluded_by, size))
            if term is not None
        ]
        # of each limit; one arc of a kind that excludes others counts for all
        self._most = np.array([size if one.excluded_by else one.most for one in limits], np.int64)
        # of each term: its limit, what an arc counts for, and whether heads or tokens are apart
        self._limit = np.array([place for place, _, _ in terms], np.int64)
        self._weight = np.array([weight for _, _, weight in terms], np.int64)
        self._by_head = np.array([term.of_each == "head" for _, term, _ in terms], bool)
        self._by_token = np.array([term.of_each == "token" for _, term, _ in terms], bool)
        # (n + 1, terms) or (labels, terms), what each is about
        self._heads = _columns([marked(term.heads, size) for _, term, _ in terms], size)
        self._tokens = _columns([marked(term.tokens, size) for _, term, _ in terms], size)
        self._labels = _columns([marked(term.labels, count) for _, term, _ in terms], count)

    @property
    def is_limited(self) -> bool:
        """Whether any limit is about several arcs."""
        return len(self._most) > 0

    def arcs_with(self, possible: Mask) -> Floats:
        """Return the scores of arcs with the best label that is possible."""
        arcs = with_best_labels(self.arcs, self.labels, possible)
        covered = self.arcs[:, :, None] + self.labels <= arcs[:, :, None]
        if not (covered | ~possible).all():
            raise DecodersError("rules: the best label of an arc was missed.")
        return arcs

    def best_labels(self, possible: Mask, heads: Ints) -> NDArray[np.int64]:
        """Return the best labels of a tree that are possible, (n,)."""
        tokens = np.arange(1, len(heads) + 1)
        scores = np.where(possible[heads, tokens], self.labels[heads, tokens], -np.inf)
        best: NDArray[np.int64] = scores.argmax(axis=1)
        return best

    def narrowed(self, possible: Mask) -> Mask | None:
        """Leave out what limits exclude beside what is certain; None if nothing is left."""
        heads, labels = possible.any(axis=2), possible.any(axis=0)
        choices = heads.sum(axis=0)
        if not choices[1:].all():
            return None
        # (n + 1, terms), whether a token's arc is one of a term's, whichever it is
        certain = self._tokens & (choices[:, None] > 0)
        certain &= (choices[:, None] == 1) | ~self._by_head
        certain &= heads.T.astype(np.float32) @ ~self._heads == 0
        certain &= labels.astype(np.float32) @ ~self._labels == 0
        room = self._most - self._used(heads.argmax(axis=0), certain)
        if (room < 0).any():
            return None
        full: NDArray[np.bool_] = np.less(room[:, self._limit], self._weight)
        if not full.any():
            return possible
        rest = possible.copy()
        for term in np.flatnonzero(full.any(axis=0)):
            above, below = self._heads[:, term], self._tokens[:, term] & ~certain[:, term]
            if self._by_head[term]:
                above = above & full[:, term]
            else:
                below &= full[:, term] if self._by_token[term] else full[0, term]
            rest[np.ix_(above, below, self._labels[:, term])] = False
        left: NDArray[np.bool_] = np.asarray(rest.any(axis=0))
        return rest if left[1:].any(axis=1).all() else None

    def _used(self, heads: Ints, counted: NDArray[np.bool_]) -> NDArray[np.int64]:
        """Return what arcs take of each limit, (n + 1, limits), by head, token or 0.

        Parameters
        ----------
        heads
            (n + 1,), the head of each token.
        counted
            bool (n + 1, terms), the terms that a token's arc is counted in.
        """
        used = np.zeros((len(heads), len(self._most)), np.int64)
        m, t = np.nonzero(counted)
        keys = np.where(self._by_head[t], heads[m], np.where(self._by_token[t], m, 0))
        np.add.at(used, (keys, self._limit[t]), self._weight[t])
        return used

    def violation(self, heads: Ints, labels: Ints) -> Violation | None:
        """Return where a labelled tree exceeds a limit."""
        above = np.concatenate([[0], heads])
        counted = self._heads[above] & self._tokens
        counted[0] = False
        counted[1:] &= self._labels[labels]
        exceeded = np.argwhere((self._used(above, counted) > self._most).T)
        if not len(exceeded):
            return None
        limit, key = exceeded[0].tolist()
        members = [
            (token, term)
            for token, term in np.argwhere(counted & (self._limit == limit)).tolist()
            if key == (above[token] if self._by_head[term] else token * self._by_token[term])
        ]
        return Violation(limit, key, members)

    def children(self, possible: Mask, found: Violation) -> Iterator[Mask]:
        """Yield up to two parts that together have all trees that exceed no limit.

        In one a token has none of the arcs that are counted, in the other no others. The likelier
        comes last.
        """
        lost = {one: self._loss(possible, found, *one) for one in found.members}
        chosen = max(lost, key=lambda one: (lost[one] < np.inf, self._weight[one[1]], lost[one]))
        token, term = chosen
        counted = self._members(found, term)
        without, only = possible.copy(), possible.copy()
        without[:, token] &= ~counted
        only[:, token] &= counted
        for part in (only, without) if self._weight[term] > 1 else (without, only):
            narrowed = self.narrowed(part)
            if narrowed is not None:
                yield narrowed

    def _members(self, found: Violation, term: int) -> NDArray[np.bool_]:
        """Return which labelled arcs of a token a term counts there, (n + 1, labels)."""
        heads = self._heads[:, term]
        if self._by_head[term]:
            heads = heads & (np.arange(len(heads)) == found.counted)
        return np.logical_and.outer(heads, self._labels[:, term])

    def _loss(self, possible: Mask, found: Violation, token: int, term: int) -> float:
        """Return what a token's best arc loses without a term's; infinite if it has no others."""
        scores = self.arcs[:, token, None] + self.labels[:, token]
        worth = np.where(possible[:, token], scores, -np.inf)
        counted = self._members(found, term)
        return float(worth[counted].max() - worth[~counted].max(initial=-np.inf))

    def relabelled(self, heads: Ints, least: float = -np.inf) -> NDArray[np.int64] | None:
        """Return good labels of a tree that exceed no limit; None if none were found.

        Of the parts of its labellings the search goes on with the likelier, never back. It ends
        where the labels' scores sum up to `least` at most.
        """
        tokens = np.arange(1, len(heads) + 1)
        of_tree = np.zeros_like(self.possible)
        of_tree[heads, tokens] = self.possible[heads, tokens]
        part = self.narrowed(of_tree)
        while part is not None:
            labels = self.best_labels(part, heads)
            if self.labels[heads, tokens, labels].sum() <= least:
                return None
            found = self.violation(heads, labels)
            if found is None:
                return labels
            part = next(reversed(list(self.children(part, found))), None)
        return None


def _columns(rows: Sequence[NDArray[np.bool_]], size: int) -> NDArray[np.bool_]:
    return np.array(rows, bool).reshape(-1, size).T


def marked(members: Collection[int] | Except, size: int) -> NDArray[np.bool_]:
    """Return which numbers below `size` are members, bool (size,)."""
    others = isinstance(members, Except)
    mask = np.full(size, others)
    mask[list(members.members if isinstance(members, Except) else members)] = not others
    return mask


def with_best_labels(arcs: Floats, labels: Floats, possible: Mask) -> Floats:
    """Return the scores of arcs, each with its best label that is possible."""
    best: Floats = arcs + np.where(possible, labels, -np.inf).max(axis=2)
    return best
