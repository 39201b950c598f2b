"""Dense Viterbi: every label against every label, the honest baseline."""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar

from ...budget import Budget
from .kernels import viterbi
from .problem import ChainDecoder, ChainModel, ChainSolution, Sentences, certify
from .rescoring import path_scores

__all__ = ["Viterbi"]


@dataclass(frozen=True)
class Viterbi(ChainDecoder):
    """Exact decoding by dynamic programming over all pairs of labels.

    Examples
    --------
    >>> import numpy as np
    >>> from spacy_decoders.decoders.chain import ChainModel
    >>> model = ChainModel([[1, 0], [0, 1]])
    >>> solution = Viterbi().decode(model, [[3, 0], [0, 1.5], [0, 0]])
    >>> solution.labels, solution.certificate.score, solution.certificate.status
    (array([0, 1, 1], dtype=int32), 5.5, 'optimal')
    """

    _kernel_checks: ClassVar[bool] = False

    def _solve(
        self, model: ChainModel, sentences: Sentences, budget: Budget
    ) -> list[ChainSolution]:
        scores = (model.transitions, model.start_scores, model.end_scores)
        labels, slacks, bad = viterbi.decode(*scores, sentences.emissions, sentences.offsets)
        if bad[0] >= 0:
            raise sentences.infeasible(bad[0], bad[1])
        worth = path_scores(*scores, sentences.emissions, sentences.offsets, labels)
        return certify("Viterbi", sentences, labels, worth[:, 0], slacks)
