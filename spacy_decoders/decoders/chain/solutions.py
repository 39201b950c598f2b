"""Solutions of chain problems: a labelling and its certificate, or a batch of them."""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from functools import cached_property
from itertools import pairwise
from typing import overload

import numpy as np

from ...arrays import Floats, Integers, Integers32
from ...certificate import Certificate

__all__ = ["ChainSolution", "ChainSolutions"]


@dataclass(frozen=True, eq=False, slots=True)
class ChainSolution:
    """A labelling and its certificate."""

    labels: Integers32
    """**Shape (n,)**, int32: the label of each token."""
    certificate: Certificate
    """What is proven about its score."""


@dataclass(frozen=True, eq=False)
class ChainSolutions(Sequence[ChainSolution]):
    """The solutions of a batch: a sequence whose items are created on first access.

    Creating these objects takes longer than decoding; callers that need only arrays avoid it.

    Examples
    --------
    >>> from spacy_decoders.decoders.chain import ChainModel, Viterbi
    >>> model = ChainModel([[1, 0], [0, 1]])
    >>> solutions = Viterbi().decode_batch(model, [[3, 0], [0, 1.5], [0, 2]], [2, 1])
    >>> len(solutions), solutions[1].labels, solutions.labels
    (2, array([1], dtype=int32), array([0, 1, 1], dtype=int32))
    >>> [certificate.score for certificate in solutions.certificates]
    [4.5, 2.0]
    """

    #: The name of the decoder's class.
    decoder: str
    #: **Shape (total,)**, int32, read-only: the labels of all sentences, concatenated.
    labels: Integers32
    #: **Shape (sentences + 1,)**, int64: sentence `s` has ``labels[offsets[s]:offsets[s + 1]]``.
    offsets: Integers
    #: **Shape (sentences,)**, float64: score, bound and tolerance of each certificate, and the sum
    #: of the absolute scores of each labelling's parts, which limits the tolerance.
    scores: Floats
    bounds: Floats
    tolerances: Floats
    scales: Floats
    #: **Shape (sentences,)**, int64.
    iterations: Integers

    @cached_property
    def certificates(self) -> list[Certificate]:
        """The certificates of all sentences."""
        columns = (self.scores, self.bounds, self.tolerances, self.scales, self.iterations)
        return [
            Certificate.from_bound(
                self.decoder, score, bound, tolerance=tolerance, scale=scale, iterations=count
            )
            for score, bound, tolerance, scale, count in zip(
                *map(np.ndarray.tolist, columns), strict=True
            )
        ]

    @cached_property
    def _items(self) -> list[ChainSolution]:
        spans = [slice(*span) for span in pairwise(self.offsets.tolist())]
        return [
            ChainSolution(self.labels[span], certificate)
            for span, certificate in zip(spans, self.certificates, strict=True)
        ]

    def __len__(self) -> int:
        return len(self.scores)

    def __iter__(self) -> Iterator[ChainSolution]:
        return iter(self._items)

    @overload
    def __getitem__(self, place: int) -> ChainSolution: ...
    @overload
    def __getitem__(self, place: slice) -> list[ChainSolution]: ...
    def __getitem__(self, place: int | slice) -> ChainSolution | list[ChainSolution]:
        return self._items[place]
