"""An independent check of a labelling, by plain dynamic programming in float64."""

from __future__ import annotations

import math
from time import monotonic
from typing import Any, NamedTuple

import numpy as np

from ...arrays import Floats, Floats32, checked_indices, checked_scores
from ...errors import ProblemError
from ...verify import Findings
from .problem import ChainModel

__all__ = ["examine"]


def examine(problem: Any, solution: Any, *, seconds: float) -> Findings:
    """Return the score of a labelling, and an upper bound on the best one.

    The problem is the pair ``(model, emissions)``, or for a labelled tree the triple with its
    `parents`. If it takes more than `seconds`, there is no bound. Raises `ProblemError` if the
    problem is neither, or a shape is wrong.

    Viterbi runs from the leaves of the tree (the last token of a chain) to its roots. Every sum is
    rounded up, so the result bounds the score of any labelling in exact arithmetic.

    Examples
    --------
    >>> from spacy_decoders.decoders.chain import Viterbi
    >>> problem = ChainModel([[1, 0], [0, 1]]), [[3, 0], [0, 1.5]]
    >>> found = examine(problem, Viterbi().decode(*problem), seconds=1.0)
    >>> found.score, found.scale, found.best, round(found.bound, 9)
    (4.5, 4.5, 4.5, 4.5)
    """
    tree = _Tree.of(problem)
    labels = np.asarray(solution.labels)
    if labels.shape != (len(tree.emissions),):
        return Findings.illegal(
            f"labels of shape {labels.shape} for {len(tree.emissions)} tokens."
        )
    if labels.size and labels.dtype.kind not in "iu":
        return Findings.illegal(f"labels of dtype {labels.dtype} are not whole numbers.")
    outside = np.flatnonzero((labels < 0) | (labels >= tree.model.size))
    if outside.size:
        return Findings.illegal(f"the label of token {outside[0]} is out of range.")
    terms = tree.terms(labels.tolist())
    if -math.inf in terms:
        return Findings.illegal("it has a forbidden score (-inf).")
    score = math.fsum(terms)
    best, bound = _best(tree, monotonic() + seconds)
    return Findings(None, score, math.fsum(map(abs, terms)), max(score, best), bound)


class _Tree(NamedTuple):
    """The scores, and the parent of each node: in a chain, the previous token."""

    model: ChainModel
    emissions: Floats32
    parents: list[int]

    @classmethod
    def of(cls, problem: Any) -> _Tree:
        parts = problem if isinstance(problem, tuple) else ()
        if len(parts) not in (2, 3) or not isinstance(parts[0], ChainModel):
            raise ProblemError(
                "problem: expected the pair (ChainModel, emissions) that was decoded, or the "
                f"triple (ChainModel, emissions, parents); got {type(problem).__name__}."
            )
        rows = checked_scores("emissions", parts[1], (None, parts[0].size))
        n = len(rows)
        given = parts[2] if len(parts) == 3 else range(-1, n - 1)
        parents = checked_indices("parents", given, (n,), low=-1, high=n)
        return cls(parts[0], rows, parents.tolist())

    def terms(self, labels: list[int]) -> list[float]:
        """Return the scores of all parts of a labelling."""
        model, inner = self.model, set(self.parents)
        terms = []
        for node, (parent, y) in enumerate(zip(self.parents, labels, strict=True)):
            terms.append(float(self.emissions[node, y]))
            link = model.start[y] if parent < 0 else model.transitions[labels[parent], y]
            terms.append(float(link))
            if node not in inner:
                terms.append(float(model.end[y]))
        return terms

    def from_the_roots(self) -> list[int]:
        """Return the nodes in an order in which each comes after its parent."""
        children: list[list[int]] = [[] for _ in self.parents]
        order: list[int] = []
        for node, parent in enumerate(self.parents):
            (order if parent < 0 else children[parent]).append(node)
        for node in order:  # grows during the loop
            order.extend(children[node])
        if len(order) < len(self.parents):
            raise ProblemError("parents: some nodes do not reach a root.")
        return order


def _best(tree: _Tree, ends: float) -> tuple[float, float]:
    """Return the score of the best labelling found, and an upper bound on all."""
    model, inner = tree.model, set(tree.parents)
    transitions = model.transitions.astype(np.float64)
    order = tree.from_the_roots()
    # an upper bound on the subtree of a node, for each of its labels
    values = tree.emissions.astype(np.float64)
    # backpointers: the best label of a node for each label of its parent, at a root for all
    choices = np.zeros(values.shape, dtype=np.int64)
    bound = 0.0
    for node in reversed(order):
        if monotonic() > ends:
            return -math.inf, math.inf
        if node not in inner:
            values[node] = _rounded_up(values[node] + model.end)
        parent = tree.parents[node]
        if parent >= 0:
            pairs = transitions + values[node]
            choices[node] = pairs.argmax(axis=1)
            values[parent] = _rounded_up(values[parent] + _rounded_up(pairs.max(axis=1)))
        else:
            whole = _rounded_up(values[node] + model.start)
            choices[node] = whole.argmax()
            bound = float(_rounded_up(bound + whole.max()))
    labels = [0] * len(order)
    for node in order:
        labels[node] = int(choices[node, labels[tree.parents[node]]])
    return math.fsum(tree.terms(labels)), bound


def _rounded_up(sums: Any) -> Floats:
    """Return sums that are no less than the exact ones; forbidden ones stay ``-inf``."""
    return np.where(np.isneginf(sums), sums, np.nextafter(sums, np.inf))
