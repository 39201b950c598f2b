"""Chains of second order: what three labels in a row are worth, too.

A labelling `y` of `n` tokens is worth what it is worth in the first-order chain, and besides::

    sum(triples[y[i - 2], y[i - 1], y[i]])

from the third token on.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from dataclasses import dataclass
from functools import cached_property
from typing import Any, TypeAlias

import numpy as np
from numpy.typing import ArrayLike, NDArray

from ...arrays import checked_indices, checked_scores, read_only
from ...budget import UNLIMITED, Budget
from ...errors import ProblemError
from ...jit import jit
from .flat import LANES
from .kernels.soundness import all_sound
from .problem import UNIT64, ChainModel, Sentences, refuse
from .solutions import ChainSolution, ChainSolutions

__all__ = ["SecondOrderDecoder", "SecondOrderModel"]

#: links, end, gains, their rows ready, most, into, bounds, their rows ready, their lags, spread,
#: magnitude
Pruning: TypeAlias = tuple[
    NDArray[np.float32],
    NDArray[np.float32],
    NDArray[np.float32],
    NDArray[np.uint8],
    NDArray[np.float32],
    NDArray[np.float32],
    NDArray[np.float32],
    NDArray[np.uint8],
    NDArray[np.float32],
    float,
    float,
]

#: Labels whose triples still fit into memory beside what the decoders derive from them.
MOST_LABELS = 512


@dataclass(frozen=True, eq=False)
class SecondOrderModel:
    """The scores of a trigram tagger that all sentences share; immutable, checked once.

    Memory: 4 bytes for each triple of labels, as much again for a padded copy that all
    decoders need, and up to twice as much in the bounds of
    :class:`~.second_order_dominance.SecondOrderDominance`, of which only rows in use are
    touched: 1.5 MB for 45 labels, 2 GB for the largest number allowed, 512.

    Parameters
    ----------
    chain
        The first-order chain: transitions, start and end.
    triples
        **Shape (L, L, L)**: `triples[x, y, z]` is paid when label `z` follows label `y`,
        which follows label `x`; ``-inf`` forbids.

    Raises
    ------
    ProblemError
        If `chain` is no :class:`ChainModel` or has more than 512 labels, or if the shape of
        `triples` is wrong, or a score is NaN, ``+inf``, or larger than 1e30: sums would not
        fit float32.

    Examples
    --------
    >>> triples = np.zeros((2, 2, 2))
    >>> triples[0, 1, 0] = 4
    >>> model = SecondOrderModel(ChainModel([[1, 0], [0, 1]]), triples)
    >>> model.size, model.score([[3, 0], [0, 1.5], [0, 1]], [0, 1, 0])
    (2, 8.5)
    """

    chain: ChainModel
    triples: NDArray[np.float32]

    def __post_init__(self) -> None:
        if not isinstance(self.chain, ChainModel):
            raise ProblemError(
                f"chain: expected a ChainModel, got {type(self.chain).__name__}; make one of the "
                "transitions, start and end."
            )
        if self.size > MOST_LABELS:
            raise ProblemError(
                f"chain: {self.size} labels have {self.size**3:,} triples, which do not fit into "
                f"memory; decode at most {MOST_LABELS} labels, or in first order."
            )
        triples = checked_scores("triples", self.triples, (self.size,) * 3)
        if not all_sound(triples.reshape(-1), 0, triples.size):
            refuse("triples", triples)
        if isinstance(self.triples, np.ndarray) and np.shares_memory(triples, self.triples):
            triples = read_only(triples.copy())
        object.__setattr__(self, "triples", triples)

    def __getstate__(self) -> dict[str, Any]:
        # what is derived is cheaper to compute again than to send
        return {"chain": self.chain, "triples": self.triples}

    def __setstate__(self, state: dict[str, Any]) -> None:
        self.__init__(**state)  # type: ignore[misc]

    @property
    def size(self) -> int:
        """The number of labels, L."""
        return self.chain.size

    @cached_property
    def links(self) -> NDArray[np.float32]:
        """What a label adds to the two before it, but for its emission, as kernels want it.

        **Shape ((L * (L + 1) + 1) * stride,)**: row ``y * (L + 1) + x`` holds, for each `z`,
        ``transitions[y, z] + triples[x, y, z]``; with `x` = L, where `y` is the first label,
        the transitions alone; and the last row holds the start scores. Rows are padded with
        ``-inf`` to a multiple of 16.
        """
        size, chain = self.size, self.chain
        stride = -(-size // LANES) * LANES
        links = np.full((size * (size + 1) + 1, stride), -np.inf, dtype=np.float32)
        pairs = links[:-1].reshape(size, size + 1, stride)
        np.add(
            chain.transitions[:, None],
            self.triples.transpose(1, 0, 2),
            out=pairs[:, :size, :size],
        )
        pairs[:, size, :size] = chain.transitions
        links[-1, :size] = chain.start_scores
        return read_only(links.reshape(-1))

    @cached_property
    def magnitude(self) -> float:
        """The largest absolute value of any finite link or end score."""
        links = self.links
        most = np.max(np.abs(links), initial=0.0, where=links > -np.inf)
        return max(self.chain.magnitude, float(most))

    @cached_property
    def spread(self) -> float:
        """The most by which the running score of a pair of labels can lag and still win.

        Another pair can take the same next step and, from then on, the same steps. For
        pairs whose next steps are forbidden there is no such bound.
        """
        finite = np.isfinite(self.triples)
        return 2.0 * self.magnitude + 2.0 * float(
            np.max(np.abs(self.triples), initial=0.0, where=finite)
        )

    @cached_property
    def has_forbidden(self) -> bool:
        """Whether any transition or triple is ``-inf``."""
        return self.chain.has_forbidden or bool(np.isneginf(self.triples.min()))

    @cached_property
    def pruning(self) -> Pruning:
        """What dominance needs, in the order that its kernel takes.

        The rows of the bounds are filled in by the kernel when a sentence first needs them,
        and memory that none needs is never touched.
        """
        size, stride = self.size, len(self.end_row)
        pairs = size * (size + 1)
        following = self.links[:-stride].reshape(size, size + 1, stride)
        most = following[:, :size].max(axis=1)
        into = np.full((size + 1, stride), -np.inf, dtype=np.float32)
        into[:size, :size] = following[:, :, :size].max(axis=1).T
        into[size, :size] = into[:size, :size].max(axis=1)
        return (
            self.links,
            self.end_row,
            np.empty(size * size * stride, dtype=np.float32),
            np.zeros(size, dtype=np.uint8),
            read_only(most.reshape(-1)),
            read_only(into.reshape(-1) if self.has_forbidden else into[:0, 0]),
            np.empty(pairs * stride, dtype=np.float32),
            np.zeros(pairs, dtype=np.uint8),
            np.zeros(pairs, dtype=np.float32),
            self.spread,
            self.magnitude,
        )

    @cached_property
    def end_row(self) -> NDArray[np.float32]:
        """The end scores, padded with ``-inf``: **shape (stride,)**."""
        return self.chain.padded.end

    def score(self, emissions: ArrayLike, labels: ArrayLike) -> float:
        """Return what a labelling is worth, summed in float64; ``-inf`` if it is illegal.

        Parameters
        ----------
        emissions
            **Shape (n, L)**.
        labels
            **Shape (n,)**, each in ``[0, L)``.
        """
        first_order = self.chain.score(emissions, labels)
        path = checked_indices("labels", labels, (None,))
        offsets = np.array([0, len(path)], dtype=np.int64)
        return first_order + float(triple_scores(self.triples, offsets, path)[0, 0])


class SecondOrderDecoder(ABC):
    """What the decoders of second-order chains share: `decode` and `decode_batch`."""

    def decode(
        self, model: SecondOrderModel, emissions: ArrayLike, *, budget: Budget = UNLIMITED
    ) -> ChainSolution:
        """Decode one sentence.

        Parameters
        ----------
        model
            The scores that all sentences share.
        emissions
            **Shape (n, L)**: the score of each label at each token; ``-inf`` forbids. With
            no token at all the empty labelling is optimal and worth 0.
        budget
            Of no effect: one pass is all there is.

        Raises
        ------
        ProblemError
            If a shape is wrong, or a score is NaN or ``+inf``.
        InfeasibleError
            If no labelling is legal; the message names the token.
        """
        sentences = Sentences.of(model.chain, emissions)
        return self._solve(model, sentences)[0]

    def decode_batch(
        self,
        model: SecondOrderModel,
        emissions: ArrayLike,
        lengths: ArrayLike,
        *,
        budget: Budget = UNLIMITED,
    ) -> list[ChainSolution]:
        """Decode several sentences, laid end to end without padding.

        Parameters
        ----------
        model
            The scores that all sentences share.
        emissions
            **Shape (sum of lengths, L)**.
        lengths
            **Shape (sentences,)**: tokens of each sentence; 0 is fine.
        budget
            Of no effect: one pass is all there is.

        Raises
        ------
        ProblemError
            If a shape is wrong, or a score is NaN or ``+inf``.
        InfeasibleError
            If a sentence has no legal labelling; the message names sentence and token.
        """
        return self._solve(model, Sentences.of(model.chain, emissions, lengths))

    @abstractmethod
    def _solve(self, model: SecondOrderModel, sentences: Sentences) -> ChainSolutions:
        """Solve a batch whose shapes are checked."""


def certified(
    decoder: str,
    model: SecondOrderModel,
    sentences: Sentences,
    labels: NDArray[np.int32],
    slacks: NDArray[np.float64],
    sound: bool,
    sentence: int,
    token: int,
) -> ChainSolutions:
    """Wrap what an exact kernel found, as :meth:`Sentences.certified` does."""
    worth = sentences.worth(model.chain, labels)
    if sound and sentence < 0:
        worth = worth + triple_scores(model.triples, sentences.offsets, labels)
        # there is one more term a token than in first order
        slacks = slacks + 2.0 * UNIT64 * worth[:, 1] * (np.diff(sentences.offsets) + 1)
    return sentences.certified(decoder, model.chain, labels, slacks, sound, sentence, token, worth)


@jit()
def triple_scores(triples, offsets, labels):  # type: ignore[no-untyped-def]
    """Return (score, sum of absolute terms) of the triples of each sentence, in float64.

    **Shape (sentences, 2)**.
    """
    worth = np.zeros((len(offsets) - 1, 2))
    for s in range(len(offsets) - 1):
        for i in range(offsets[s] + 2, offsets[s + 1]):
            term = np.float64(triples[labels[i - 2], labels[i - 1], labels[i]])
            worth[s, 0] += term
            worth[s, 1] += abs(term)
    return worth
