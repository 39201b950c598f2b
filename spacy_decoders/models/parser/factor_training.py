"""Max-margin training of the weights of non-local factors."""

from __future__ import annotations

import sys
from collections.abc import Sequence
from dataclasses import replace
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from ...budget import Budget
from .decoding import TreeParser
from .factor_templates import FactorTemplates
from .losses import ROOT, UNKNOWN, GoldTrees
from .pattern_matches import TooManyPlaces
from .tree_scores import SentenceScores

if TYPE_CHECKING:
    from ...decoders.protocols import TreeDecoding

__all__ = ["gold_trees", "train_factors"]


#: Heads of each token that are considered while training.
HEADS = 6

#: The margin of each wrong arc.
MARGIN = np.float32(1.0)

#: For one sentence. A violating tree that is not proven the best still gives a useful gradient.
BUDGET = Budget(iterations=40)


def train_factors(
    templates: FactorTemplates,
    decoder: TreeDecoding,
    projective: bool,
    sentences: Sequence[SentenceScores],
    trees: Sequence[NDArray[np.int32] | None],
) -> int:
    """Accumulate the gradients of the factor weights, the arc scores being given.

    The tree that violates the margin most is found by the exact decoder on top of the first-order
    scores: the factors learn only the errors of these. Each wrong arc gets the margin as a bonus
    (cost-augmented decoding).

    Parameters
    ----------
    templates
        The factors.
    decoder
        The tree decoder.
    projective
        Whether arcs may not cross; gold trees that cross are then left out.
    sentences
        The network's scores.
    trees
        The gold heads of each sentence, as :func:`gold_trees` returns them.

    Returns
    -------
    int
        How many arcs were wrong.

    References
    ----------
    B. Taskar, C. Guestrin, D. Koller. "Max-Margin Markov Networks". NIPS 2003.
    """
    from ...decoders.tree import is_projective

    model = templates.model
    tables = {family: np.zeros(model.get_dim("nO"), dtype="f") for family in templates.families}
    parser = TreeParser(decoder, templates, projective, longest=sys.maxsize, k=HEADS)
    wrong = tokens = 0
    for sentence, gold in zip(sentences, trees, strict=True):
        if gold is None or len(gold) < 3 or (projective and not is_projective(gold)):
            continue
        raised = sentence.arcs + MARGIN
        raised[gold, np.arange(1, len(gold) + 1)] -= MARGIN
        augmented = replace(sentence, arcs=raised)
        try:
            problem = parser.full_problem(augmented)
        except TooManyPlaces:
            continue
        tokens += len(gold)
        found = decoder.decode(problem, budget=BUDGET)
        if (found.heads == gold).all():
            continue
        templates.add(tables, augmented, found.heads, 1.0)
        templates.add(tables, augmented, gold, -1.0)
        wrong += int((found.heads != gold).sum())
    for name, gradient in tables.items():
        of_token: Any = gradient / max(1, tokens)
        model.inc_grad(name, model.ops.asarray1f(of_token))
    return wrong


def gold_trees(gold: GoldTrees) -> list[NDArray[np.int32] | None]:
    """The heads of each sentence in the form of decoders, None where one is unknown."""
    trees: list[NDArray[np.int32] | None] = []
    for start, end in zip(gold.offsets, gold.offsets[1:], strict=False):
        heads = gold.heads[start:end]
        complete = (heads != UNKNOWN).all() and (heads == ROOT).sum() == 1
        trees.append(
            np.where(heads == ROOT, 0, heads - start + 1).astype(np.int32) if complete else None
        )
    return trees
