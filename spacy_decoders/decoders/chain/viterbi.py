"""Dense Viterbi: every label against every label, the honest baseline."""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar

from ...budget import Budget
from .kernels import viterbi
from .problem import ChainDecoder, ChainModel, ChainSolution, Sentences

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

    _kernel_checks: ClassVar[bool] = True

    def _solve(
        self, model: ChainModel, sentences: Sentences, budget: Budget
    ) -> list[ChainSolution]:
        padded = model.padded
        labels, slacks, sound, sentence, token = viterbi.decode(
            padded.transitions,
            padded.transposed,
            padded.end,
            model.magnitude,
            model.spread,
            sentences.emissions.reshape(-1),
            sentences.offsets,
            model.size,
        )
        return sentences.certified("Viterbi", model, labels, slacks, sound, sentence, token)
