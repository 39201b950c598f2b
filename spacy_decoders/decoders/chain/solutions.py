"""What chain decoders give back: a labelling and its certificate, one or a batch of them."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from itertools import pairwise
from typing import overload

import numpy as np
from numpy.typing import NDArray

from ...certificate import Certificate

__all__ = ["ChainSolution", "ChainSolutions"]


@dataclass(frozen=True, eq=False)
class ChainSolution:
    """A labelling and what is known about it.

    Attributes
    ----------
    labels
        **Shape (n,)**, int32: the label of each token.
    certificate
        How good the labelling is.
    """

    labels: NDArray[np.int32]
    certificate: Certificate


@dataclass(frozen=True, eq=False)
class ChainSolutions(Sequence[ChainSolution]):
    """The solutions of a batch, kept as arrays: a sequence that makes each when asked for it.

    To decode a sentence takes less time than to make the objects that describe it.

    Attributes
    ----------
    decoder
        The registered name.
    labels
        **Shape (total,)**, int32, read-only: the labels of all sentences, end to end.
    offsets
        **Shape (sentences + 1,)**, int64: sentence `s` has ``offsets[s]:offsets[s + 1]``.
    scores, bounds, tolerances
        **Shape (sentences,)**, float64: what the certificates compare.
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
    """

    decoder: str
    labels: NDArray[np.int32]
    offsets: NDArray[np.int64]
    scores: NDArray[np.float64]
    bounds: NDArray[np.float64]
    tolerances: NDArray[np.float64]
    iterations: NDArray[np.int64]

    @property
    def certificates(self) -> list[Certificate]:
        """The certificates of all sentences."""
        columns = (self.scores, self.bounds, self.tolerances, self.iterations)
        return Certificate.from_bounds(self.decoder, *(column.tolist() for column in columns))

    def __len__(self) -> int:
        return len(self.scores)

    @overload
    def __getitem__(self, place: int) -> ChainSolution: ...
    @overload
    def __getitem__(self, place: slice) -> list[ChainSolution]: ...
    def __getitem__(self, place: int | slice) -> ChainSolution | list[ChainSolution]:
        if isinstance(place, slice):
            return list(self)[place]
        s = range(len(self))[place]  # raises as a list does
        certificate = Certificate.from_bound(
            self.decoder,
            self.scores[s],
            self.bounds[s],
            tolerance=self.tolerances[s],
            iterations=self.iterations[s],
        )
        return ChainSolution(self.labels[self.offsets[s] : self.offsets[s + 1]], certificate)

    def __iter__(self) -> Iterator[ChainSolution]:
        spans = pairwise(self.offsets.tolist())
        for (begin, stop), certificate in zip(spans, self.certificates, strict=True):
            yield ChainSolution(self.labels[begin:stop], certificate)

    def __eq__(self, other: object) -> bool:
        return self is other or (isinstance(other, Sequence) and list(self) == list(other))

    __hash__ = None  # type: ignore[assignment]

    def __repr__(self) -> str:
        return repr(list(self))
