"""Forward dominance: exact decoding in one pass, at little more than the cost of argmax."""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar

from ...budget import Budget
from .kernels import forward_dominance
from .problem import ChainDecoder, ChainModel, ChainSolution, Sentences
from .viterbi import decode_densely

__all__ = ["ForwardDominance"]


@dataclass(frozen=True)
class ForwardDominance(ChainDecoder):
    """Exact decoding that keeps, at each token, only the labels that may still win.

    With ``D[g, x] = max over y of (T[x, y] - T[g, y])``, the most that label `x` can gain on
    label `g` by what follows, a label `x` is dropped where ``a[x] + D[g, x] < a[g]`` for the
    running scores `a` and the best label `g`: whatever comes next, a path through `g` is
    worth more. One or two labels survive on average where scores were trained.

    Examples
    --------
    >>> import numpy as np
    >>> from spacy_decoders.decoders.chain import ChainModel
    >>> model = ChainModel([[1, 0], [0, 1]])
    >>> solution = ForwardDominance().decode(model, [[3, 0], [0, 1.5], [0, 0]])
    >>> solution.labels, solution.certificate.score, solution.certificate.status
    (array([0, 1, 1], dtype=int32), 5.5, 'optimal')
    """

    _kernel_checks: ClassVar[bool] = True

    def _solve(
        self, model: ChainModel, sentences: Sentences, budget: Budget
    ) -> list[ChainSolution]:
        labels, slacks, left, *ended = forward_dominance.decode(
            model.padded.pruning, sentences.emissions.reshape(-1), sentences.offsets, model.size
        )
        if len(left) and ended[0] and ended[1] < 0:
            ended = list(decode_densely(model, sentences, left, labels, slacks))
        return sentences.certified("ForwardDominance", model, labels, slacks, *ended)
