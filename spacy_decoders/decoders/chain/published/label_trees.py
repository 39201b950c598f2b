"""Max-product and column generation over trees of labels (Belanger et al. 2012, appendix A.1).

The score of a labelling is the sum of its emissions, ``T[label of parent, label of child]`` for
each edge, `start` for each root and `end` for each leaf. A message towards the root is
``U[c, x] = max over y of (T[x, y] + inside[c, y])``, where `inside` is the emission of a node plus
the messages of its children.
"""

from __future__ import annotations

import math
from dataclasses import dataclass

import numpy as np
from numpy.typing import ArrayLike, NDArray

from ....arrays import Booleans, Floats, checked_indices, checked_scores, checked_type
from ....budget import Budget, Clock
from ....errors import InfeasibleError, ProblemError, UndecidedError
from ..decoder import NOTHING_YET, STEP, rounded_up
from ..kernels.layout import UP64
from ..problem import ChainModel
from ..proof import certified
from ..solutions import ChainSolution

__all__ = ["LabelTree"]


@dataclass(eq=False)
class LabelTree:
    """A validated forest of nodes to label; with parents -1, 0, 1, ... it is a chain."""

    transitions: NDArray[np.float32]  # (L, L)
    local: Floats  # (n, L): emissions, with start scores at roots and end scores at leaves
    inside: Floats  # (n, L): the best score of each node's subtree, if time sufficed
    parents: list[int]
    order: list[int]  # breadth first: the roots, their children, and so on
    clock: Clock

    @classmethod
    def of(
        cls, model: ChainModel, emissions: ArrayLike, parents: ArrayLike, budget: Budget
    ) -> LabelTree:
        """Validate a forest; errors are those of :meth:`.Viterbi.decode_tree`."""
        clock = checked_type("budget", budget, Budget).start()
        checked_type("model", model, ChainModel)
        local = checked_scores("emissions", emissions, (None, model.size)).astype(np.float64)
        n = len(local)
        above = checked_indices("parents", parents, (n,), low=-1, high=n)
        from scipy.sparse import csr_matrix
        from scipy.sparse.csgraph import breadth_first_order

        edges = np.ones(n), (np.where(above < 0, n, above), np.arange(n))
        order = breadth_first_order(csr_matrix(edges, (n + 1, n + 1)), n)[0][1:].tolist()
        if len(order) < n:
            raise ProblemError(
                f"parents: node {min(set(range(n)) - set(order))} does not reach a root; give "
                "the roots the parent -1."
            )
        local[above < 0] += model.start
        local[np.bincount(above + 1, minlength=n + 1)[1:] == 0] += model.end
        tree = cls(model.transitions, local, local, above.tolist(), order, clock)
        tree.inside = tree._messages()[0]
        local[np.isneginf(tree.inside)] = -np.inf  # no subtree with this label is legal
        if np.isneginf(tree.inside.max(axis=1)).any():
            raise InfeasibleError(
                "no legal labelling of the tree: allow more labels or transitions."
            )
        return tree

    def viterbi(self) -> ChainSolution:
        """Return the best labels, by messages over all labels."""
        return self._solution("Viterbi", self._labels(self.inside), 1)

    def column_generation(self, gap: float) -> ChainSolution:
        """Return the best labels within restricted domains that grow by pricing.

        The messages over the domains are the dual variables, one for each node and label of its
        parent. The reduced cost of a pair of labels (equation 8) is
        ``T[x, y] + inside[c, y] - U[c, x]``, and positive only if y is outside of the domain.
        """
        iterations = 0
        if not self._has_time():
            return self._solution("ColumnGeneration", self._labels(self.inside), iterations)
        member = self.local >= self.local.max(axis=1, keepdims=True)
        best = np.inf
        while True:
            inside, up = self._messages(member)
            within = np.where(member, inside, -np.inf)
            labels = self._labels(within if self._has_time() else self.inside)
            score, bound = float(self._terms(labels).sum()), 0.0
            joining = np.zeros_like(member)
            for node, parent in enumerate(self.parents):
                if not self._has_time():
                    return self._solution("ColumnGeneration", labels, iterations)
                if parent < 0:
                    joining[node, inside[node].argmax()] = True
                    bound += float(inside[node].max())
                    continue
                passed = np.where(np.isneginf(up[node]), 0.0, up[node])
                cost = self.transitions + inside[node] - passed[:, None]
                joining[node] = (cost > 0.0).any(axis=0)
                bound += max(float(cost.max()), 0.0)
            iterations += 1
            best = min(best, bound)
            fresh = joining & ~member
            if not fresh.any() or best - score <= gap or self.clock.exhausted(iterations):
                return self._solution("ColumnGeneration", labels, iterations)
            member |= fresh

    def _has_time(self) -> bool:
        return self.clock.seconds_left > STEP * self.transitions.size

    def _messages(self, member: Booleans | None = None) -> tuple[Floats, Floats]:
        """Return the best score of each node's subtree by label, and the messages upwards.

        They are over all labels, or over the domains `member`, to which a parent's label without a
        legal child in the domain adds its best child. They stop when time runs out.
        """
        inside, up = self.local.copy(), np.zeros_like(self.local)
        for node in reversed(self.order):
            parent = self.parents[node]
            if parent < 0 or not self._has_time():
                break  # the roots come last
            ways = self.transitions + inside[node]
            up[node] = ways.max(axis=1)
            if member is not None:
                within = ways[:, member[node]].max(axis=1)
                alone = np.isneginf(within) & (up[node] > -np.inf)
                member[node, ways[alone].argmax(axis=1)] = True
                up[node] = ways[:, member[node]].max(axis=1)
            inside[parent] += up[node]
        return inside, up

    def _labels(self, inside: Floats) -> NDArray[np.int32]:
        """Return the best labels, from the roots down, for all nodes of a depth at once."""
        order, above = np.array(self.order, np.int64), np.array(self.parents, np.int64)
        place = np.empty_like(order)
        place[order] = np.arange(len(order))
        labels = np.zeros(len(order), dtype=np.int32)
        first, last = 0, (roots := self.parents.count(-1))
        before = place[above[order[roots:]]]  # the parents' positions, ascending
        while first < last:
            nodes, scores = order[first:last], inside[order[first:last]]
            if first:
                scores = scores + self.transitions[labels[above[nodes]]]
            labels[nodes] = scores.argmax(axis=1)
            first, last = last, roots + int(before.searchsorted(last))
        return labels

    def _terms(self, labels: NDArray[np.int32]) -> Floats:
        linked = [node for node in self.order if self.parents[node] >= 0]
        above = [self.parents[node] for node in linked]
        links = self.transitions[labels[above], labels[linked]]
        return np.concatenate([self.local[np.arange(len(labels)), labels], links])

    def _bound(self) -> float:
        """Return an upper bound on all labellings: messages to the roots, rounded up.

        Nodes that are not reached in time are bounded by the maxima of their scores.
        """
        best = self.local.copy() if self._has_time() else self.local
        left, roots = len(self.order), self.parents.count(-1)
        while left > roots and self._has_time():
            left -= 1
            node = self.order[left]
            message = rounded_up((self.transitions + best[node]).max(axis=1))
            best[self.parents[node]] = rounded_up(best[self.parents[node]] + message)
        terms = best[self.order[:left]].max(axis=1).tolist()
        terms += [float(self.transitions.max())] * (left - roots)
        return math.fsum(terms) + UP64 * math.fsum(map(abs, terms))

    def _solution(self, decoder: str, labels: NDArray[np.int32], iterations: int) -> ChainSolution:
        """Score a labelling, bound the best one by messages over all labels, and compare."""
        terms = self._terms(labels)
        if terms.min(initial=0.0) == -np.inf:  # only if messages are missing for lack of time
            raise UndecidedError(NOTHING_YET)
        score, scale = float(terms.sum()), float(np.abs(terms).sum())
        return certified(decoder, labels, score, scale, self._bound(), iterations)
