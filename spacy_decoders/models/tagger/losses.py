"""Structured losses of chain models and their gradients.

Gold labels may be missing. The log-likelihood then sums over all completions; the two other losses
take the best completion as gold.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any, Literal

import numpy as np

from ...arrays import Booleans, Floats, Floats32, Integers, Integers32

__all__ = ["LOSSES", "UNKNOWN", "ChainBatch", "ChainGradient", "Loss", "trainable"]

Loss = Literal["crf", "margin", "perceptron"]

#: Stands for a missing gold label.
UNKNOWN = -1


@dataclass(frozen=True)
class ChainBatch:
    """Scored sentences and their gold labels, concatenated."""

    #: The :class:`~spacy_decoders.decoders.chain.ChainModel`.
    model: Any
    #: **Shape (total, L)**, float32.
    emissions: Floats32
    #: **Shape (sentences,)**: the number of tokens of each sentence.
    lengths: Integers
    #: **Shape (total,)**: the label of each token, or `UNKNOWN`.
    gold: Integers32
    #: **Shape (total,)**: the position of each token in the batch that this is a part of; None if
    #: it is a whole batch.
    places: Integers | None = None

    @property
    def offsets(self) -> Integers:
        """**Shape (sentences + 1,)**: where each sentence begins."""
        return np.concatenate([[0], np.cumsum(self.lengths)])

    def choose(self, keep: Booleans) -> ChainBatch:
        """Return the part of the batch with some sentences."""
        tokens = np.flatnonzero(np.repeat(keep, self.lengths))
        places = tokens if self.places is None else self.places[tokens]
        lengths = self.lengths[keep]
        return ChainBatch(self.model, self.emissions[tokens], lengths, self.gold[tokens], places)

    def is_partial(self) -> Booleans:
        """**Shape (sentences,)**: whether a gold label of the sentence is missing."""
        return self.any_in_sentence(self.gold == UNKNOWN)

    def any_in_sentence(self, tokens: Booleans) -> Booleans:
        """**Shape (sentences,)**: whether any token of a sentence is marked."""
        marked = np.concatenate([[0], np.cumsum(tokens)])[self.offsets]
        return np.diff(marked) > 0

    def clamped(self) -> Floats32:
        """Return emissions with which only labellings that agree with gold are legal."""
        rows = np.flatnonzero(self.gold != UNKNOWN)
        emissions = self.emissions.copy()
        emissions[rows] = -np.inf
        emissions[rows, self.gold[rows]] = self.emissions[rows, self.gold[rows]]
        return emissions

    def best(self, emissions: Floats32) -> Integers32:
        """**Shape (total,)**: the best labels for given emissions."""
        from ...decoders.chain import ForwardDominance

        found: Any = ForwardDominance().decode_batch(self.model, emissions, self.lengths)
        return np.array(found.labels, dtype=np.int32)

    @property
    def sentences(self) -> Any:
        """The emissions as :class:`~spacy_decoders.decoders.chain.problem.Sentences`."""
        from ...decoders.chain.problem import Sentences

        return Sentences.of(self.model, self.emissions, self.lengths)

    def scores(self, labels: Integers32) -> Floats:
        """**Shape (sentences,)**: the scores of labellings.

        ``-inf`` for illegal ones, NaN for those with an unknown label.
        """
        return self.sentences.scores_of(self.model, labels)[:, 0]


class ChainGradient:
    """The gradient of a loss with respect to emissions, transitions, start and end.

    **Shape (total, L)**, **(L, L)**, **(L,)** and **(L,)**.
    """

    def __init__(self, batch: ChainBatch) -> None:
        size = batch.model.size
        self.emissions = np.zeros(batch.emissions.shape, dtype=np.float32)
        self.transitions = np.zeros((size, size))
        self.start = np.zeros(size)
        self.end = np.zeros(size)

    def add_expectations(self, batch: ChainBatch, found: Any, sign: float) -> None:
        """Add the expected counts of the labels of a part of the batch."""
        self.emissions[batch.places] += sign * found.marginals
        self.transitions += sign * found.transitions
        self.start += sign * found.start
        self.end += sign * found.end

    def add_labels(self, batch: ChainBatch, labels: Integers32, sign: float) -> None:
        """Add the counts of given labellings of a part of the batch."""
        first, last = batch.sentences.borders()
        inner = np.flatnonzero(~first)
        self.emissions[batch.places, labels] += sign
        np.add.at(self.transitions, (labels[inner - 1], labels[inner]), sign)
        np.add.at(self.start, labels[first], sign)
        np.add.at(self.end, labels[last], sign)


def negative_log_likelihood(batch: ChainBatch) -> tuple[float, ChainGradient]:
    """Conditional random field: ``log Z - log Z(gold)``, with the exact gradient."""
    from ...decoders.chain import forward_backward

    gradient, batch = ChainGradient(batch), trainable(batch)
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


def perceptron(batch: ChainBatch) -> tuple[float, ChainGradient]:
    """Structured perceptron: the best score less that of gold.

    Averaging is left to the optimizer (``use_averages = true``), which does not train the sparse
    model: its weights are not averaged.
    """
    gradient, batch = ChainGradient(batch), trainable(batch)
    return _add_violations(batch, batch.best(batch.emissions), gradient), gradient


def margin(batch: ChainBatch) -> tuple[float, ChainGradient]:
    """Structured hinge with 0/1 loss: gold should score 1 more than any other labelling.

    The violating labelling is the best, or the second best if the best is gold: the 0/1-loss
    oracle of Belanger et al. 2012, appendix A.3. A sentence with missing labels has no single gold
    labelling, and is trained as with the perceptron.
    """
    from ...decoders.chain import k_best

    gradient, batch = ChainGradient(batch), trainable(batch)
    complete = ~batch.is_partial()
    violators = batch.best(batch.emissions)
    # if the best labelling is not gold, it is the violator; else the second best may be
    right = ~batch.any_in_sentence(violators != batch.gold)
    hinges = float((~right & complete).sum())
    for sentence in np.flatnonzero(right & (batch.lengths > 0)):
        here = slice(batch.offsets[sentence], batch.offsets[sentence + 1])
        emissions, gold = batch.emissions[here], batch.gold[here]
        score = batch.model.score
        for other in k_best(batch.model, emissions, 2):
            if (other.labels != gold).any() and (
                score(emissions, other.labels) + 1.0 > score(emissions, gold)
            ):
                violators[here] = other.labels
                hinges += 1.0
                break
    return _add_violations(batch, violators, gradient) + hinges, gradient


LOSSES: dict[Loss, Callable[[ChainBatch], tuple[float, ChainGradient]]] = {
    "crf": negative_log_likelihood,
    "margin": margin,
    "perceptron": perceptron,
}


def _add_violations(batch: ChainBatch, violators: Integers32, gradient: ChainGradient) -> float:
    """Add the gradients of the sentences whose violators are not gold; return their total loss."""
    wrong = batch.any_in_sentence((batch.gold != UNKNOWN) & (violators != batch.gold))
    violators, part = violators[np.repeat(wrong, batch.lengths)], batch.choose(wrong)
    gold = part.best(part.clamped()) if part.is_partial().any() else part.gold
    gradient.add_labels(part, violators, 1.0)
    gradient.add_labels(part, gold, -1.0)
    return float((part.scores(violators) - part.scores(gold)).sum())


def trainable(batch: ChainBatch) -> ChainBatch:
    """Return the part of the batch with sentences that have gold labels, all of them legal."""
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
