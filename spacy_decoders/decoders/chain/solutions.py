"""Solutions of chain problems: a labelling and its certificate, or a batch of them."""

from __future__ import annotations

from dataclasses import dataclass
from itertools import pairwise

import numpy as np
from numpy.typing import NDArray

from ...certificate import Certificate
from ..lazy_list import LazyList

__all__ = ["ChainSolution", "ChainSolutions"]


@dataclass(frozen=True, eq=False, slots=True)
class ChainSolution:
    """A labelling and its certificate.

    Attributes
    ----------
    labels
        **Shape (n,)**, int32: the label of each token.
    certificate
        How good the labelling is.
    """

    labels: NDArray[np.int32]
    certificate: Certificate


class ChainSolutions(LazyList[ChainSolution]):
    """The solutions of a batch: a list whose items are created on first access.

    Decoding a sentence takes less time than creating the objects that describe it. Callers that
    need no objects use the arrays.

    Attributes
    ----------
    decoder
        The registered name.
    labels
        **Shape (total,)**, int32, read-only: the labels of all sentences, end to end.
    offsets
        **Shape (sentences + 1,)**, int64: sentence `s` has ``offsets[s]:offsets[s + 1]``.
    scores, bounds, tolerances, scales
        **Shape (sentences,)**, float64: what the certificates compare, and the sum of the
        absolute scores of each labelling, which limits the tolerance.
    iterations
        **Shape (sentences,)**, int64.

    Examples
    --------
    >>> from spacy_decoders.decoders.chain import ChainModel, Viterbi
    >>> model = ChainModel([[1, 0], [0, 1]])
    >>> solutions = Viterbi().decode_batch(model, [[3, 0], [0, 1.5], [0, 2]], [2, 1])
    >>> len(solutions), solutions[1].labels, solutions.labels
    (2, array([1], dtype=int32), array([0, 1, 1], dtype=int32))
    >>> [certificate.score for certificate in solutions.certificates]
    [4.5, 2.0]
    >>> isinstance(solutions, list)
    True
    """

    def __init__(
        self,
        decoder: str,
        labels: NDArray[np.int32],
        offsets: NDArray[np.int64],
        scores: NDArray[np.float64],
        bounds: NDArray[np.float64],
        tolerances: NDArray[np.float64],
        iterations: NDArray[np.int64],
        *,
        scales: NDArray[np.float64] | None = None,
    ) -> None:
        super().__init__(len(scores))
        self.decoder = decoder
        self.labels = labels
        self.offsets = offsets
        self.scores = scores
        self.bounds = bounds
        self.tolerances = tolerances
        self.iterations = iterations
        self.scales = np.abs(scores) if scales is None else scales

    @property
    def certificates(self) -> list[Certificate]:
        """The certificates of all sentences."""
        columns = (self.scores, self.bounds, self.tolerances, self.iterations, self.scales)
        return Certificate.from_bounds(self.decoder, *(column.tolist() for column in columns))

    def _items(self) -> list[ChainSolution]:
        ends = pairwise(self.offsets.tolist())
        return [
            ChainSolution(self.labels[begin:stop], certificate)
            for (begin, stop), certificate in zip(ends, self.certificates, strict=True)
        ]
