"""Dense Viterbi over pairs of labels, the honest baseline of second order."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from .kernels import second_order_viterbi
from .problem import Sentences
from .second_order import SecondOrderDecoder, SecondOrderModel, certified
from .solutions import ChainSolutions

__all__ = ["SecondOrderViterbi", "decode_pairs_densely"]


@dataclass(frozen=True)
class SecondOrderViterbi(SecondOrderDecoder):
    """Exact decoding of second order by dynamic programming over all pairs of labels.

    The time grows as *n L³*; the memory, *4 n L²* bytes, as the scores of all pairs at all
    tokens of the longest sentence, from which the best labelling is read backwards.

    Examples
    --------
    >>> from spacy_decoders.decoders.chain import ChainModel, SecondOrderModel
    >>> triples = np.zeros((2, 2, 2))
    >>> triples[0, 1, 0] = 4
    >>> model = SecondOrderModel(ChainModel([[1, 0], [0, 1]]), triples)
    >>> solution = SecondOrderViterbi().decode(model, [[3, 0], [0, 1.5], [0, 1]])
    >>> solution.labels, solution.certificate.score, solution.certificate.status
    (array([0, 1, 0], dtype=int32), 8.5, 'optimal')
    """

    def _solve(self, model: SecondOrderModel, sentences: Sentences) -> ChainSolutions:
        labels = np.zeros(len(sentences.emissions), dtype=np.int32)
        slacks = np.zeros(len(sentences))
        every = np.arange(len(sentences))
        ended = decode_pairs_densely(model, sentences, every, labels, slacks)
        return certified("SecondOrderViterbi", model, sentences, labels, slacks, *ended)


def decode_pairs_densely(
    model: SecondOrderModel,
    sentences: Sentences,
    chosen: NDArray[np.int64],
    labels: NDArray[np.int32],
    slacks: NDArray[np.float64],
) -> tuple[bool, int, int]:
    """Decode the chosen sentences into `labels` and `slacks`.

    Returns whether all scores are sound, and where the first dead end is (-1 without one).
    """
    sound, sentence, token = second_order_viterbi.decode(
        model.links,
        model.end_row,
        model.magnitude,
        np.inf if model.has_forbidden else model.spread,
        sentences.emissions.reshape(-1),
        sentences.offsets,
        model.size,
        chosen,
        labels,
        slacks,
    )
    return bool(sound), int(sentence), int(token)
