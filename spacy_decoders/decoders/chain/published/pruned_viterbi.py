"""Viterbi over the labels that bounds on the transitions do not prune."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from ....arrays import read_only
from ....budget import Budget
from ..certifying import certify, decode_exactly
from ..problem import ChainDecoder, ChainModel, Sentences
from ..solutions import ChainSolution
from ..timed import lacks_time, within
from .kernels import beam

__all__ = ["PrunedViterbi", "best_of_few"]


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
        kept = _may_be_best(model, sentences)
        pruned = read_only(np.where(kept, sentences.emissions, np.float32(-np.inf)))
        labels = best_of_few(model, sentences, model.size, pruned)
        return certify("PrunedViterbi", model, sentences, labels)


def _may_be_best(model: ChainModel, sentences: Sentences) -> NDArray[np.bool_]:
    """Return which labels no other rules out, whatever their neighbours: **shape (total, L)**."""
    least = np.empty(sentences.emissions.shape)
    most = least.copy()
    first, last = sentences.borders()
    for scores, into, out in (
        (least, model.bounds.least_in, model.bounds.least_out),
        (most, model.bounds.most_in, model.bounds.most_out),
    ):
        scores[:] = sentences.emissions
        scores += np.where(first[:, None], model.start_scores, into[: model.size])
        scores += np.where(last[:, None], model.end_scores, out[: model.size])
    bar = least.max(axis=1, keepdims=True, initial=-np.inf)
    kept: NDArray[np.bool_] = most >= bar
    return kept


def best_of_few(
    model: ChainModel, sentences: Sentences, width: int, pruned: NDArray[np.float32]
) -> NDArray[np.int32]:
    """Return the best labels that keep the best few of each token, by pruned emissions.

    Raises
    ------
    InfeasibleError
        If a sentence has no legal labelling.
    """
    padded, emissions = model.padded, pruned.reshape(-1)
    labels: NDArray[np.int32]
    labels, infeasible = beam.decode(
        padded.transitions, padded.end, emissions, sentences.offsets, model.size, width
    )
    if infeasible:
        # float64, and all labels, decide whether there is a legal labelling
        decode_exactly(model, sentences, np.arange(len(sentences)), labels)
    return labels
