"""Max-product and column generation over trees of labels (Belanger et al. 2012, appendix A.1).

The score of a labelling is the sum of its emissions, ``T[label of parent, label of child]`` for
each edge, `start` for each root and `end` for each leaf. A message towards the root is
``U[c, x] = max over y of (T[x, y] + inside[c, y])``, where `inside` is the emission of a node plus
the messages of its children.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

from ....arrays import checked_indices, checked_scores
from ....budget import UNLIMITED, Budget
from ....errors import InfeasibleError, ProblemError
from ..certifying import certified
from ..problem import ChainModel
from ..solutions import ChainSolution

__all__ = ["LabelTree"]

Floats = NDArray[np.float64]
Mask = NDArray[np.bool_]


@dataclass(frozen=True, eq=False)
class LabelTree:
    """A validated forest of nodes to label; with the parents -1, 0, 1, ... it is a chain."""

    transitions: Floats  # (L, L)
    local: Floats  # (n, L): emissions, with start scores at roots and end scores at leaves
    parents: list[int]
    order: list[int]  # every node after its parent

    @classmethod
    def of(cls, model: ChainModel, emissions: ArrayLike, parents: ArrayLike) -> LabelTree:
        """Check a forest.

        Raises
        ------
        ProblemError
            If a shape is wrong, a score is NaN or ``+inf``, a parent is no node, or the parents
            form a cycle.
        InfeasibleError
            If no labelling is legal.
        """
        local = checked_scores("emissions", emissions, (None, model.size)).astype(np.float64)
        n = len(local)
        above = checked_indices("parents", parents, (n,), low=-1, high=n)
        order: list[int] = np.flatnonzero(above < 0).tolist()
        for node in order:  # grows while it is read
            order.extend(np.flatnonzero(above == node).tolist())
        if len(order) < n:
            raise ProblemError(
                f"parents: node {min(set(range(n)) - set(order))} does not reach a root; give "
                "the roots the parent -1."
            )
        local[above < 0] += model.start_scores
        local[np.setdiff1d(np.arange(n), above)] += model.end_scores
        tree = cls(model.transitions.astype(np.float64), local, above.tolist(), order)
        for here, there, table in tree._edges():
            legal = table[:, local[there] > -np.inf] > -np.inf
            local[here, ~legal.any(axis=1)] = -np.inf  # in no legal labelling
        if np.isneginf(local.max(axis=1)).any():
            raise InfeasibleError(
                "no legal labelling of the tree: allow a label or a transition more."
            )
        return tree

    def viterbi(self) -> ChainSolution:
        """Return the best labels, by messages over all labels."""
        every = np.ones(self.local.shape, dtype=bool)
        return self._solution("Viterbi", self._labels(self._inside(every)[0]), 1)

    def column_generation(self, gap: float, budget: Budget = UNLIMITED) -> ChainSolution:
        """Return the best labels within restricted domains that grow by pricing.

        Each edge prices its pairs of labels by messages from both ends, of which the one from
        above counts by the share of the tree's leaves below (equation 12, for two directions).
        """
        clock, iterations = budget.start(), 0
        member = self.local >= self.local.max(axis=1, keepdims=True)
        best = np.inf
        while True:
            for there, here, table in self._edges():  # labels bring the neighbours they need
                legal = table.T[:, member[there]] > -np.inf
                alone = member[here] & ~legal.any(axis=1)
                member[there, (table.T[alone] + self.local[there]).argmax(axis=1)] = True
            inside, up = self._inside(member)
            labels = self._labels(np.where(member, inside, -np.inf))
            over, fresh = self._priced(member, inside, up)
            iterations += 1
            score = float(self._terms(labels).sum())
            best = min(best, score + over)
            if not fresh.any() or best - score <= gap or clock.exhausted(iterations):
                return self._solution("ColumnGeneration", labels, iterations)
            member |= fresh

    def _edges(self) -> Iterator[tuple[int, int, Floats]]:
        """Yield the edges towards the roots and back: to, from, and the transitions between."""
        linked = [node for node in self.order if self.parents[node] >= 0]
        for node in reversed(linked):
            yield self.parents[node], node, self.transitions
        for node in linked:
            yield node, self.parents[node], self.transitions.T

    def _inside(self, member: Mask) -> tuple[Floats, Floats]:
        """Return the scores of what is below each node and label, and the messages upwards."""
        inside, up = self.local.copy(), np.zeros_like(self.local)
        for node in reversed(self.order):
            if self.parents[node] >= 0:
                up[node] = _message(self.transitions, inside[node], member[node])
                inside[self.parents[node]] += up[node]
        return inside, up

    def _labels(self, inside: Floats) -> NDArray[np.int32]:
        """Return the best labels, from the roots on."""
        labels = np.zeros(len(self.order), dtype=np.int32)
        for node in self.order:
            parent = self.parents[node]
            links = self.transitions[labels[parent]] if parent >= 0 else 0.0
            labels[node] = (links + inside[node]).argmax()
        return labels

    @np.errstate(invalid="ignore")  # differences of what is forbidden, which are masked
    def _priced(self, member: Mask, inside: Floats, up: Floats) -> tuple[float, Mask]:
        """Return by how much the dual bound exceeds the score, and the labels that join."""
        down, fresh, over = np.zeros_like(inside), np.zeros_like(member), 0.0
        shares, inner = self._shares(), set(self.parents)
        legal = self.local > -np.inf
        for node in self.order:
            parent, share = self.parents[node], shares[node]
            if parent >= 0:
                outside = np.where(
                    legal[parent], inside[parent] - up[node] + down[parent], -np.inf
                )
                down[node] = _message(self.transitions.T, outside, member[parent])
                above = share * outside - (1.0 - share) * up[node]
                below = (1.0 - share) * inside[node] - share * down[node]
                cost = above[:, None] + self.transitions + below
                new = (cost > 0.0) & ~np.outer(member[parent], member[node])
                new &= np.outer(legal[parent], legal[node])
                fresh[parent] |= new.any(axis=1)
                fresh[node] |= new.any(axis=0)
                over += float(cost[new].max(initial=0.0))
            if parent < 0 or node not in inner:
                # the labels of a root and of the leaves have a dual of their own
                weight = share if parent >= 0 else 0.5 if node in inner else 1.0
                through = np.where(legal[node], inside[node] + down[node], -np.inf)
                top = through[member[node]].max()
                fresh[node] |= (through > top) & ~member[node]
                over += weight * float(through.max() - top)
        fresh &= ~member
        return over, fresh

    def _shares(self) -> Floats:
        """Return half of the fraction of its tree's leaves below each node: **shape (n,)**."""
        below = np.ones(len(self.order))
        below[[parent for parent in self.parents if parent >= 0]] = 0.0
        for node in reversed(self.order):
            if self.parents[node] >= 0:
                below[self.parents[node]] += below[node]
        whole = below.copy()
        for node in self.order:
            if self.parents[node] >= 0:
                whole[node] = whole[self.parents[node]]
        return 0.5 * below / whole

    def _terms(self, labels: NDArray[np.int32]) -> Floats:
        nodes = np.arange(len(labels))
        linked = [node for node in self.order if self.parents[node] >= 0]
        above = [self.parents[node] for node in linked]
        links = self.transitions[labels[above], labels[linked]]
        return np.concatenate([self.local[nodes, labels], links])

    def _bound(self) -> float:
        """Return an upper bound on all labellings: messages to the roots, rounded up."""
        best, total = self.local.copy(), 0.0
        for node in reversed(self.order):
            if self.parents[node] < 0:
                total = float(_up(total + best[node].max()))
            else:
                message = _up((self.transitions + best[node]).max(axis=1))
                best[self.parents[node]] = _up(best[self.parents[node]] + message)
        return total

    def _solution(self, decoder: str, labels: NDArray[np.int32], iterations: int) -> ChainSolution:
        """Score a labelling, bound the best one by messages over all labels, and compare."""
        terms = self._terms(labels)
        score, scale = float(terms.sum()), float(np.abs(terms).sum())
        return certified(decoder, labels, score, scale, self._bound(), iterations)


def _message(table: Floats, values: Floats, member: Mask) -> Floats:
    """Return, for each label beyond an edge, the best of the domain.

    A label that may not stand beside any of the domain gets an estimate: its largest transition
    beside the best label.
    """
    best = (table[:, member] + values[member]).max(axis=1)
    message: Floats = np.where(np.isneginf(best), values[member].max() + table.max(axis=1), best)
    return message


def _up(sums: Any) -> Any:
    """Round sums up by an ulp; forbidden ones stay ``-inf``."""
    return np.where(np.isneginf(sums), sums, np.nextafter(sums, np.inf))
