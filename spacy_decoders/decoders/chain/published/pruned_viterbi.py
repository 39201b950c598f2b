"""Viterbi over the labels that bounds on the transitions do not prune."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from ....budget import Budget
from ..certifying import certify, decode_exactly
from ..problem import ChainDecoder, ChainModel, Sentences
from ..solutions import ChainSolution
from ..timed import lacks_time, within
from .kernels import pruning

__all__ = ["PrunedViterbi"]


@dataclass(frozen=True)
class PrunedViterbi(ChainDecoder):
    """Exact decoding that first prunes labels by local evidence.

    A label is pruned where another scores more with its worst neighbours than this one with its
    best. The extremes of the transitions are computed once for a model, so this costs little; it
    prunes much only where transitions are weak compared with the emissions, and nothing where
    every label has a forbidden neighbour.

    References
    ----------
    Belanger et al. 2012, section 4.3, equation 14.

    Examples
    --------
    >>> from spacy_decoders.decoders.chain import ChainModel
    >>> model = ChainModel([[1, 0], [0, 1]])
    >>> solution = PrunedViterbi().decode(model, [[3, 0], [0, 1.5], [0, 0]])
    >>> solution.labels, solution.certificate.score, solution.certificate.status
    (array([0, 1, 1], dtype=int32), 5.5, 'optimal')
    """

    def _solve(
        self, model: ChainModel, sentences: Sentences, budget: Budget
    ) -> list[ChainSolution]:
        if lacks_time(model, sentences, budget):
            return within(budget, "PrunedViterbi", model, sentences)
        labels = survive(model, sentences, 0)
        return certify("PrunedViterbi", model, sentences, labels)


def survive(model: ChainModel, sentences: Sentences, width: int) -> NDArray[np.int32]:
    """Call the kernel: keep the best `width` labels, or prune by equation 14 if it is 0.

    Raises
    ------
    InfeasibleError
        If a sentence has no legal labelling.
    """
    padded, emissions = model.padded, sentences.emissions.reshape(-1)
    labels: NDArray[np.int32]
    arrays = padded.transitions, padded.end, model.bounds, emissions, sentences.offsets
    labels, infeasible = pruning.decode(*arrays, model.size, width)
    if infeasible:
        # float64 decides whether there is a legal labelling
        decode_exactly(model, sentences, np.arange(len(sentences)), labels)
    return labels
