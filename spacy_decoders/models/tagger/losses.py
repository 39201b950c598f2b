"""The loss of chain models, negative log-likelihood, and its gradient.

Gold labels may be missing: it then sums over all completions.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

__all__ = ["UNKNOWN", "ChainBatch", "ChainGradient", "negative_log_likelihood"]

#: The gold label of a token that has none.
UNKNOWN = -1


@dataclass(frozen=True)
class ChainBatch:
    """Scored sentences and their gold labels, end to end."""

    #: The :class:`~spacy_decoders.decoders.chain.ChainModel`.
    model: Any
    #: **Shape (total, L)**, float32.
    emissions: NDArray[np.float32]
    #: **Shape (sentences,)**: tokens of each sentence.
    lengths: NDArray[np.int64]
    #: **Shape (total,)**: the label of each token, or `UNKNOWN`.
    gold: NDArray[np.int32]
    #: **Shape (total,)**: the place of each token in the batch that this one is a part of; all
    #: for None.
    places: NDArray[np.int64] | None = None

    @property
    def offsets(self) -> NDArray[np.int64]:
        """**Shape (sentences + 1,)**: where each sentence begins."""
        return np.concatenate([[0], np.cumsum(self.lengths)])

    def choose(self, keep: NDArray[np.bool_]) -> ChainBatch:
        """Return the batch of some sentences."""
        tokens = np.flatnonzero(np.repeat(keep, self.lengths))
        places = tokens if self.places is None else self.places[tokens]
        lengths = self.lengths[keep]
        return ChainBatch(self.model, self.emissions[tokens], lengths, self.gold[tokens], places)

    def is_partial(self) -> NDArray[np.bool_]:
        """**Shape (sentences,)**: whether a sentence may have several right labellings."""
        return self.any_in_sentence(self.gold == UNKNOWN)

    def any_in_sentence(self, tokens: NDArray[np.bool_]) -> NDArray[np.bool_]:
        """**Shape (sentences,)**: whether any token of a sentence is marked."""
        marked = np.concatenate([[0], np.cumsum(tokens)])[self.offsets]
        return np.diff(marked) > 0

    def clamped(self) -> NDArray[np.float32]:
        """Emissions under which only labellings that agree with gold are legal."""
        rows = np.flatnonzero(self.gold != UNKNOWN)
        emissions = self.emissions.copy()
        emissions[rows] = -np.inf
        emissions[rows, self.gold[rows]] = self.emissions[rows, self.gold[rows]]
        return emissions

    def scores(self, labels: NDArray[np.int32]) -> NDArray[np.float64]:
        """**Shape (sentences,)**: what labellings are worth; ``-inf`` for illegal ones."""
        from ...decoders.chain.problem import Sentences

        return Sentences(self.emissions, self.offsets).scores_of(self.model, labels)[:, 0]

    def ends(self) -> tuple[NDArray[np.int64], NDArray[np.int64], NDArray[np.int64]]:
        """First and last tokens of the sentences, and all but the first ones."""
        filled = self.lengths > 0
        first, last = self.offsets[:-1][filled], self.offsets[1:][filled] - 1
        inner = np.ones(len(self.emissions), dtype=bool)
        inner[first] = False
        return first, last, np.flatnonzero(inner)


class ChainGradient:
    """The gradient of a loss with respect to emissions, transitions, start and end.

    Attributes
    ----------
    emissions
        **Shape (total, L)**.
    transitions
        **Shape (L, L)**.
    start, end
        **Shape (L,)**.
    """

    def __init__(self, batch: ChainBatch) -> None:
        size = batch.model.size
        self.emissions = np.zeros(batch.emissions.shape, dtype=np.float32)
        self.transitions = np.zeros((size, size))
        self.start = np.zeros(size)
        self.end = np.zeros(size)

    def add_expectations(self, batch: ChainBatch, found: Any, sign: float) -> None:
        """Add the expected counts of the labellings of a part of the batch."""
        self.emissions[batch.places] += sign * found.marginals
        self.transitions += sign * found.transitions
        self.start += sign * found.start
        self.end += sign * found.end

    def add_labels(self, batch: ChainBatch, labels: NDArray[np.int32], sign: float) -> None:
        """Add the counts of given labellings of a part of the batch."""
        first, last, inner = batch.ends()
        self.emissions[batch.places, labels] += sign
        np.add.at(self.transitions, (labels[inner - 1], labels[inner]), sign)
        np.add.at(self.start, labels[first], sign)
        np.add.at(self.end, labels[last], sign)


def negative_log_likelihood(batch: ChainBatch) -> tuple[float, ChainGradient]:
    """Conditional random field: ``log Z - log Z(gold)``, with the exact gradient."""
    from ...decoders.chain import forward_backward

    gradient, batch = ChainGradient(batch), _trainable(batch)
    found = forward_backward(batch.model, batch.emissions, batch.lengths)
    gradient.add_expectations(batch, found, 1.0)
    loss = float(found.log_partitions.sum())

    partial = batch.is_partial()
    complete = batch.choose(~partial)
    loss -= float(complete.scores(complete.gold).sum())
    gradient.add_labels(complete, complete.gold, -1.0)
    if partial.any():
        unsure = batch.choose(partial)
        found = forward_backward(batch.model, unsure.clamped(), unsure.lengths)
        gradient.add_expectations(unsure, found, -1.0)
        loss -= float(found.log_partitions.sum())
    return loss, gradient


def _trainable(batch: ChainBatch) -> ChainBatch:
    """Leave out sentences without a gold label, or whose gold labels are not legal."""
    from ...decoders.chain import log_partitions

    keep = batch.any_in_sentence(batch.gold != UNKNOWN)
    partial = batch.is_partial()
    keep &= partial | np.isfinite(batch.scores(batch.gold))
    unsure = keep & partial
    if unsure.any():
        chosen = batch.choose(unsure)
        found = log_partitions(batch.model, chosen.clamped(), chosen.lengths)
        keep[unsure] = np.isfinite(found)
    return batch.choose(keep)
