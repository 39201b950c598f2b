"""The best labelled tree, where a head may have only one modifier of some labels."""

from __future__ import annotations

import heapq
from collections.abc import Iterator
from itertools import count
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from ...budget import Budget
from ...certificate import Certificate
from ...errors import InfeasibleError

if TYPE_CHECKING:
    from ...decoders.tree import TreeProblem, TreeSolution

__all__ = ["LabelSearch"]

Floats = NDArray[np.float64]
#: What is ruled out: the labels of arcs, as (head, label, modifiers).
Bans = tuple[tuple[int, int, tuple[int, ...]], ...]

#: Within how much of its bound a tree is called optimal, relative to 1 + its scale.
TOLERANCE = 1e-9


class LabelSearch:
    """Branch and bound over which modifiers of a head may have a label.

    Without rules each arc has its best label, and one decoding finds the best tree. If there a
    head has two modifiers of a label that it may have `once`, the label is forbidden for one half
    of its modifiers, and then for the other: at most one of the halves can have it. The part
    with the best bound comes first.

    Arcs have the **shape (n + 1, n + 1)**, (head, modifier), and labels one more axis, or are
    None.
    """

    def __init__(
        self,
        arcs: Floats,
        labels: Floats | None,
        once: tuple[int, ...],
        projective: bool,
        single_root: bool,
    ) -> None:
        self.arcs, self.labels, self.once = arcs, labels, once
        self.projective, self.single_root = projective, single_root
        self.chosen = None if labels is None else labels.argmax(axis=2)

    def whole(self) -> TreeProblem:
        """Return the problem without rules: each arc with its best label."""
        return self._problem(())

    def labels_of(self, heads: NDArray[np.int32]) -> NDArray[np.int32] | None:
        """**Shape (n,)**: the labels of a tree that was found."""
        if self.chosen is None:
            return None
        labels: NDArray[np.int32] = self.chosen[heads, np.arange(1, len(heads) + 1)].astype(
            np.int32
        )
        return labels

    def run(self, budget: Budget) -> tuple[NDArray[np.int32], Certificate]:
        """Search; afterwards :meth:`labels_of` has the labels of the tree that is returned."""
        clock, order = budget.start(), count()
        parts = 1
        first = self._solve(())
        queue = [(-first[1], next(order), first)]
        best: tuple[float, Any, Any] = (-np.inf, None, None)
        proven = -np.inf
        while queue:
            _, _, (tree, bound, bans) = heapq.heappop(queue)
            labels = self._best_labels(bans)
            twice = self._twice(tree.heads, labels)
            if twice is None:
                score = self._worth(tree.heads, labels)
                if score > best[0]:
                    best = (score, tree, labels)
            # what is left has no better bound than this part
            if twice is None or bound <= best[0] or (best[1] and clock.exhausted(parts)):
                proven = max(proven, bound)
                continue
            for part in self._halves(tree.heads, bans, *twice):
                parts += 1
                try:
                    found = self._solve(part)
                except InfeasibleError:
                    continue
                heapq.heappush(queue, (-found[1], next(order), found))
        if best[1] is None:
            raise InfeasibleError("no tree in which each head has the labels of `once` only once.")
        score, tree, self.chosen = best
        scale = self._worth(tree.heads, self.chosen, absolute=True)
        certificate = Certificate.from_bound(
            tree.certificate.decoder,
            score,
            proven,
            tolerance=TOLERANCE * (1.0 + scale),
            scale=scale,
            iterations=parts,
        )
        return tree.heads, certificate

    def _solve(self, bans: Bans) -> tuple[TreeSolution, float, Bans]:
        """Decode a part, and bound it by the certificate of that."""
        from ...decoders.tree import exact_decoder

        problem = self._problem(bans)
        tree = exact_decoder(problem).decode(problem)
        bound = tree.certificate.bound
        return tree, np.inf if bound is None else bound, bans

    def _problem(self, bans: Bans) -> TreeProblem:
        from ...decoders.tree import TreeProblem

        arcs = self.arcs
        if self.labels is not None:
            best = self._banned(bans).max(axis=2)
            arcs = np.where(np.isneginf(best) | np.isneginf(arcs), -np.inf, arcs + best)
        return TreeProblem(arcs, projective=self.projective, single_root=self.single_root)

    def _banned(self, bans: Bans) -> Floats:
        assert self.labels is not None
        if not bans:
            return self.labels
        labels = self.labels.copy()
        for head, label, modifiers in bans:
            labels[head, list(modifiers), label] = -np.inf
        return labels

    def _best_labels(self, bans: Bans) -> NDArray[np.int64] | None:
        """**Shape (n + 1, n + 1)**: the best label of each arc."""
        return None if self.labels is None else self._banned(bans).argmax(axis=2)

    def _twice(
        self, heads: NDArray[np.int32], labels: NDArray[np.int64] | None
    ) -> tuple[int, int, list[int]] | None:
        """Return a head, a label, and its modifiers of that label, if there are two or more."""
        if labels is None:
            return None
        own = labels[heads, np.arange(1, len(heads) + 1)]
        for label in self.once:
            modifiers = np.flatnonzero(own == label) + 1
            of_head = heads[modifiers - 1]
            for head in np.unique(of_head).tolist():
                those = modifiers[of_head == head].tolist()
                if len(those) > 1:
                    return head, label, those
        return None

    def _halves(
        self, heads: NDArray[np.int32], bans: Bans, head: int, label: int, two: list[int]
    ) -> Iterator[Bans]:
        """Yield what to rule out so that one of the modifiers can't have the label."""
        border = two[len(two) // 2]
        everyone = range(1, len(heads) + 1)
        yield (*bans, (head, label, tuple(m for m in everyone if m < border)))
        yield (*bans, (head, label, tuple(m for m in everyone if m >= border)))

    def _worth(
        self, heads: NDArray[np.int32], labels: NDArray[np.int64] | None, *, absolute: bool = False
    ) -> float:
        """Add up what arcs and labels are worth, from the scores as they were given."""
        tokens = np.arange(1, len(heads) + 1)
        parts = [self.arcs[heads, tokens]]
        if self.labels is not None and labels is not None:
            parts.append(self.labels[heads, tokens, labels[heads, tokens]])
        return float(sum(np.abs(part).sum() if absolute else part.sum() for part in parts))
