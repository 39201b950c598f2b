"""Max-margin training of the weights of non-local factors."""

from __future__ import annotations

import sys
from collections.abc import Sequence
from dataclasses import dataclass, replace
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

__all__ = ["MarginTraining", "gold_trees"]


@dataclass(frozen=True)
class MarginTraining:
    """One step of margin training of the factor weights, the arc scores being given.

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
    k
        Heads of each token that are considered while training.
    margin
        The margin of each wrong arc.
    budget
        For one sentence. A violating tree that is not proven the best still gives a useful
        gradient.

    References
    ----------
    B. Taskar, C. Guestrin, D. Koller. "Max-Margin Markov Networks". NIPS 2003.
    """

    templates: FactorTemplates
    decoder: TreeDecoding
    projective: bool = True
    k: int | None = 6
    margin: float = 1.0
    budget: Budget = Budget(iterations=40)  # noqa: RUF009 - frozen

    def step(self, sentences: Sequence[SentenceScores], trees: Sequence[Any]) -> int:
        """Accumulate the gradients of some sentences; return how many arcs were wrong.

        Parameters
        ----------
        sentences
            The network's scores.
        trees
            The gold heads of each sentence, shape (n,), 0 for the root; None where they are
            not all known.
        """
        from ...decoders.tree import is_projective

        model = self.templates.model
        tables = {
            family: np.zeros(model.get_dim("nO"), dtype="f") for family in self.templates.families
        }
        wrong = tokens = 0
        of_all = TreeParser(
            self.decoder, self.templates, self.projective, longest=sys.maxsize, k=self.k
        )
        for sentence, gold in zip(sentences, trees, strict=True):
            if gold is None or len(gold) < 3 or (self.projective and not is_projective(gold)):
                continue
            augmented = replace(sentence, arcs=_with_margin(sentence.arcs, gold, self.margin))
            try:
                problem = of_all.full_problem(augmented)
            except TooManyPlaces:
                continue
            tokens += len(gold)
            found = self.decoder.decode(problem, budget=self.budget)
            if (found.heads == gold).all():
                continue
            self.templates.add(tables, augmented, found.heads, 1.0)
            self.templates.add(tables, augmented, gold, -1.0)
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


def _with_margin(
    arcs: NDArray[np.float32], gold: NDArray[np.int32], margin: float
) -> NDArray[np.float32]:
    raised = arcs + np.float32(margin)
    tokens = np.arange(1, len(gold) + 1)
    raised[gold, tokens] -= np.float32(margin)
    return raised
