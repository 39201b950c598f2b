"""Column generation over trees of labels (appendix A.1 of Belanger et al. 2012)."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import ArrayLike

from ....budget import Budget
from ..label_trees import LabelTree
from ..problem import ChainModel
from ..solutions import ChainSolution
from .kernels import tree_columns

__all__ = ["tree_column_generation"]


def tree_column_generation(
    model: ChainModel, emissions: ArrayLike, parents: ArrayLike, gap: float, budget: Budget
) -> ChainSolution:
    """Decode a forest by pricing; see :meth:`ColumnGeneration.decode_tree`."""
    tree = LabelTree.of(model, emissions, parents)
    local = tree_columns.legal_labels(model.transitions, tree.local(), tree.parents, tree.order)
    if np.isneginf(local.max(axis=1, initial=-np.inf)).any():
        raise tree.infeasible()

    def generate(limit: int) -> Any:
        return tree_columns.generate_columns(
            model.transitions,
            model.bounds.most_in,
            model.bounds.most_out,
            local,
            tree.parents,
            tree.order,
            tree.shares(),
            float(gap),
            limit,
        )

    if budget.seconds is None:
        labels, excess, iterations = generate(budget.iterations or -1)
    else:
        clock, limit = budget.start(), 1
        while True:
            labels, excess, iterations = generate(min(limit, budget.iterations or limit))
            if excess <= gap or clock.exhausted(iterations):
                break
            limit *= 2
    return tree.solution("ColumnGeneration", labels, iterations)
