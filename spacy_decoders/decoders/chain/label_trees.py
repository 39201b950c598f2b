"""Max-product over trees of labels: the chain decoders, one step more general."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import ArrayLike, NDArray

from ...arrays import checked_indices, checked_scores, read_only
from ...errors import InfeasibleError, ProblemError
from .certifying import certified
from .kernels import label_trees as kernels
from .problem import ChainModel
from .solutions import ChainSolution

__all__ = ["LabelTree", "tree_viterbi"]


@dataclass(frozen=True, eq=False)
class LabelTree:
    """A validated forest of nodes to label, with the arrays that the kernels need.

    The score of a labelling is the sum of its emissions, ``transitions[label of parent, label of
    child]`` for each edge, `start` for each root and `end` for each leaf. With ``parents = [-1, 0,
    1, ...]`` it is a chain.
    """

    model: ChainModel
    emissions: NDArray[np.float32]
    parents: NDArray[np.int32]
    order: NDArray[np.int32]
    leaves: NDArray[np.bool_]

    @classmethod
    def of(cls, model: ChainModel, emissions: ArrayLike, parents: ArrayLike) -> LabelTree:
        """Check a forest.

        Raises
        ------
        ProblemError
            If a shape is wrong, a score is NaN or ``+inf``, a parent is no node, or the parents
            form a cycle.
        """
        scores = checked_scores("emissions", emissions, (None, model.size))
        n = len(scores)
        above = checked_indices("parents", parents, (n,), low=-1, high=n)
        children: list[list[int]] = [[] for _ in range(n)]
        for node, parent in enumerate(above.tolist()):
            if parent >= 0:
                children[parent].append(node)
        order = np.flatnonzero(above < 0).tolist()
        for node in order:  # grows while it is read
            order.extend(children[node])
        if len(order) < n:
            circle = min(set(range(n)) - set(order))
            raise ProblemError(
                f"parents: node {circle} does not reach a root; give the roots the parent -1."
            )
        leaves = np.array([not below for below in children], dtype=bool)
        return cls(
            model, scores, above, read_only(np.array(order, dtype=np.int32)), read_only(leaves)
        )

    def local(self) -> NDArray[np.float64]:
        """Return the emissions with start and end scores: **shape (n, L)**."""
        local = self.emissions.astype(np.float64)
        local[self.parents < 0] += self.model.start_scores
        local[self.leaves] += self.model.end_scores
        return local

    def shares(self) -> NDArray[np.float64]:
        """Return half of the fraction of its tree's leaves below each node: **shape (n,)**."""
        below = self.leaves.astype(np.float64)
        for node in self.order[::-1]:
            if self.parents[node] >= 0:
                below[self.parents[node]] += below[node]
        whole = below.copy()
        for node in self.order:
            if self.parents[node] >= 0:
                whole[node] = whole[self.parents[node]]
        return 0.5 * below / whole

    def solution(self, decoder: str, labels: NDArray[np.int32], iterations: int) -> ChainSolution:
        """Score a labelling, bound the best one by messages over all labels, and compare."""
        nodes = np.arange(len(labels))
        linked = self.parents >= 0
        terms = np.concatenate(
            [
                self.local()[nodes, labels],
                self.model.transitions[labels[self.parents[linked]], labels[linked]],
            ]
        )
        scale = float(np.abs(terms).sum())
        bound = kernels.bound(self.model.transitions, self.local(), self.parents, self.order)
        return certified(decoder, labels, float(terms.sum()), scale, bound, iterations)

    def infeasible(self) -> InfeasibleError:
        """Return the error for a forest without a legal labelling."""
        return InfeasibleError(
            "no legal labelling of the tree: allow a label or a transition more."
        )


def tree_viterbi(model: ChainModel, emissions: ArrayLike, parents: ArrayLike) -> ChainSolution:
    """Decode a forest by messages over all labels; see :meth:`Viterbi.decode_tree`."""
    tree = LabelTree.of(model, emissions, parents)
    labels = kernels.maximise(model.transitions, tree.local(), tree.parents, tree.order)
    if (labels < 0).any():
        raise tree.infeasible()
    return tree.solution("Viterbi", labels, 1)
