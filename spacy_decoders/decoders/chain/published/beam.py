"""Baselines that keep a subset of labels at each token: a beam, and pruning by local evidence."""

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from itertools import pairwise
from typing import ClassVar

import numpy as np

from ....arrays import Booleans, Floats, Floats32, Integers32, checked_whole, read_only
from ....budget import Budget
from ....certificate import Certificate
from ..decoder import ChainDecoder
from ..problem import ChainModel, Sentences
from ..proof import certify, decode_exactly
from ..solutions import ChainSolution
from .column_generation import legal_emissions
from .kernels import beam

__all__ = ["Beam", "PrunedViterbi"]


@dataclass(frozen=True)
class Beam(ChainDecoder):
    """Approximate decoding that keeps the best few labels at each token.

    A heuristic: nothing is proven about the labelling, but it is legal if there is a legal one.
    If the width is the number of labels, it is Viterbi.

    Parameters
    ----------
    width
        The number of labels to keep, at least 1; with 1 it is greedy decoding.

    Raises
    ------
    ProblemError
        If `width` is not an integer of at least 1.

    Examples
    --------
    >>> from spacy_decoders.decoders.chain import ChainModel
    >>> model = ChainModel([[0, 0], [0, 5]])
    >>> emissions = [[1, 0], [0, 0]]
    >>> for width in (1, 2):
    ...     solution = Beam(width).decode(model, emissions)
    ...     print(solution.labels, solution.certificate.score, solution.certificate.status)
    [0 0] 1.0 heuristic
    [1 1] 5.0 heuristic
    """

    width: int = 5

    def __post_init__(self) -> None:
        checked_whole("width", self.width, low=1)

    def _solve(
        self, model: ChainModel, sentences: Sentences, budget: Budget
    ) -> Sequence[ChainSolution]:
        # keeps the beam from dead ends, if transitions are forbidden
        legal = legal_emissions(model, sentences)
        labels = best_of_few(model, legal, self.width, legal.emissions)
        scores = sentences.scores_of(model, labels)
        shared = read_only(labels)
        return [
            ChainSolution(shared[begin:stop], Certificate.heuristic("Beam", score, iterations=1))
            for (begin, stop), score in zip(
                pairwise(sentences.offsets.tolist()), scores[:, 0].tolist(), strict=True
            )
        ]


@dataclass(frozen=True)
class PrunedViterbi(ChainDecoder):
    """Exact decoding that first prunes labels by local evidence.

    A label is pruned if another scores more with its worst neighbours than this one with its
    best. That prunes much only if transitions are weak compared to the emissions, and nothing if
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

    pace: ClassVar[float] = 2.0

    def _solve(
        self, model: ChainModel, sentences: Sentences, budget: Budget
    ) -> Sequence[ChainSolution]:
        kept = _may_be_best(model, sentences)
        pruned = read_only(np.where(kept, sentences.emissions, np.float32(-np.inf)))
        labels = best_of_few(model, sentences, model.size, pruned)
        return certify("PrunedViterbi", model, sentences, labels)


def _may_be_best(model: ChainModel, sentences: Sentences) -> Booleans:
    """Return which labels are not pruned, **shape (total, L)**: see :class:`PrunedViterbi`."""
    first, last = (border[:, None] for border in sentences.borders())

    def beside(extreme: Callable[..., Floats32]) -> Floats:
        """Return the scores of labels with their best or their worst neighbours."""
        scores = sentences.emissions.astype(np.float64)
        scores += np.where(first, model.start, extreme(model.transitions, axis=0))
        scores += np.where(last, model.end, extreme(model.transitions, axis=1))
        return scores

    bar = beside(np.min).max(axis=1, keepdims=True, initial=-np.inf)
    return beside(np.max) >= bar


def best_of_few(
    model: ChainModel, sentences: Sentences, width: int, pruned: Floats32
) -> Integers32:
    """Return the labels that a beam of some width finds, with pruned emissions.

    Raises `InfeasibleError` if a sentence has no legal labelling.
    """
    padded, emissions = model.padded, pruned.reshape(-1)
    labels, infeasible = beam.decode(
        padded.transitions,
        padded.end,
        emissions,
        sentences.offsets,
        model.size,
        min(width, model.size),
    )
    if infeasible:
        # decide in float64, over all labels, whether there is a legal labelling
        decode_exactly(model, sentences, np.arange(len(sentences)), labels)
    return labels
