"""Beam search: the best few labels at each token."""

from __future__ import annotations

from dataclasses import dataclass
from itertools import pairwise

from ....arrays import checked_whole, read_only
from ....budget import Budget
from ....certificate import Certificate
from ..problem import ChainDecoder, ChainModel, Sentences
from ..solutions import ChainSolution
from .column_generation import legal_emissions
from .pruned_viterbi import best_of_few

__all__ = ["Beam"]


@dataclass(frozen=True)
class Beam(ChainDecoder):
    """Approximate decoding that keeps the best few labels at each token.

    A heuristic: nothing is proven about the labelling, but it is legal wherever a legal one
    exists. With a width of all labels it is Viterbi.

    Parameters
    ----------
    width
        How many labels to keep, at least 1; 1 is greedy decoding.

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
    ) -> list[ChainSolution]:
        # where transitions are forbidden, the beam must avoid dead ends
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
