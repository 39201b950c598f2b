"""Structured losses of chain models and their gradients.

Gold labels may be missing. The log-likelihood then sums over all completions; the two others take
the best completion for gold.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any, Literal

import numpy as np
from numpy.typing import NDArray

from ...errors import InfeasibleError

__all__ = ["LOSSES", "UNKNOWN", "ChainBatch", "ChainGradient", "Loss"]

Loss = Literal["crf", "margin", "perceptron"]

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

    def __len__(self) -> int:
        return len(self.lengths)

    @property
    def offsets(self) -> NDArray[np.int64]:
        """**Shape (sentences + 1,)**: where each sentence begins."""
        return np.concatenate([[0], np.cumsum(self.lengths)])

    def choose(self, keep: NDArray[np.bool_]) -> tuple[ChainBatch, NDArray[np.bool_]]:
        """Return the batch of some sentences, and which tokens are theirs."""
        tokens = np.repeat(keep, self.lengths)
        part = ChainBatch(
            self.model, self.emissions[tokens], self.lengths[keep], self.gold[tokens]
        )
        return part, tokens

    def is_partial(self) -> NDArray[np.bool_]:
        """**Shape (sentences,)**: whether a sentence may have several right labellings."""
        return self.any_in_sentence(self.gold == UNKNOWN)

    def is_wrong(self, labels: NDArray[np.int32]) -> NDArray[np.bool_]:
        """**Shape (sentences,)**: whether a sentence has a label that is not gold."""
        return self.any_in_sentence((self.gold != UNKNOWN) & (labels != self.gold))

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

    def legal(self) -> NDArray[np.bool_]:
        """**Shape (total,)**: whether gold may follow gold, where both are known."""
        first, last, inner = self.ends()
        gold, model = self.gold, self.model
        legal = np.isfinite(self.emissions[np.arange(len(gold)), gold])
        legal[first] &= np.isfinite(model.start_scores[gold[first]])
        legal[last] &= np.isfinite(model.end_scores[gold[last]])
        legal[gold == UNKNOWN] = True
        both = (gold[inner - 1] != UNKNOWN) & (gold[inner] != UNKNOWN)
        legal[inner] &= ~both | np.isfinite(model.transitions[gold[inner - 1], gold[inner]])
        return legal

    def scores(self, labels: NDArray[np.int32]) -> float:
        """The sum of the scores of complete gold labellings; ``-inf`` if one is illegal."""
        first, last, inner = self.ends()
        model = self.model
        return float(
            self.emissions[np.arange(len(labels)), labels].sum(dtype=np.float64)
            + model.start_scores[labels[first]].sum(dtype=np.float64)
            + model.end_scores[labels[last]].sum(dtype=np.float64)
            + model.transitions[labels[inner - 1], labels[inner]].sum(dtype=np.float64)
        )

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

    def add_expectations(self, found: Any, tokens: Any, sign: float) -> None:
        """Add the expected counts of labellings, over the marked tokens."""
        self.emissions[tokens] += sign * found.marginals
        self.transitions += sign * found.transitions
        self.start += sign * found.start
        self.end += sign * found.end

    def add_labels(
        self, batch: ChainBatch, labels: NDArray[np.int32], tokens: Any, sign: float
    ) -> None:
        """Add the counts of given labellings of the marked tokens."""
        first, last, inner = batch.ends()
        self.emissions[np.flatnonzero(tokens), labels] += sign
        np.add.at(self.transitions, (labels[inner - 1], labels[inner]), sign)
        np.add.at(self.start, labels[first], sign)
        np.add.at(self.end, labels[last], sign)


def negative_log_likelihood(batch: ChainBatch) -> tuple[float, ChainGradient]:
    """Conditional random field: ``log Z - log Z(gold)``, with the exact gradient."""
    from ...decoders.chain import forward_backward

    batch, tokens, gradient = _trainable(batch)
    found = forward_backward(batch.model, batch.emissions, batch.lengths)
    gradient.add_expectations(found, tokens, 1.0)
    loss = float(found.log_partitions.sum())

    partial = batch.is_partial()
    complete, chosen = batch.choose(~partial)
    loss -= complete.scores(complete.gold)
    gradient.add_labels(complete, complete.gold, _within(tokens, chosen), -1.0)
    if partial.any():
        completed, chosen = batch.choose(partial)
        found = forward_backward(batch.model, completed.clamped(), completed.lengths)
        gradient.add_expectations(found, _within(tokens, chosen), -1.0)
        loss -= float(found.log_partitions.sum())
    return loss, gradient


def perceptron(batch: ChainBatch) -> tuple[float, ChainGradient]:
    """Structured perceptron: the best score less that of gold.

    Averaging is left to the optimizer (``use_averages = true``).
    """
    from ...decoders.chain import ForwardDominance

    batch, tokens, gradient = _trainable(batch)
    best = _labels(ForwardDominance().decode_batch(batch.model, batch.emissions, batch.lengths))
    loss = _add_violations(batch, best, batch.is_wrong(best), tokens, gradient)
    return loss, gradient


def margin(batch: ChainBatch) -> tuple[float, ChainGradient]:
    """Structured hinge with 0/1 loss: gold should score 1 more than any other labelling.

    The violating labelling comes from the 0/1-loss oracle (Belanger et al. 2012, appendix A.3). A
    sentence with missing labels has no single gold labelling and is trained as by the perceptron.
    """
    from ...decoders.chain import ForwardDominance, zero_one_oracle

    batch, tokens, gradient = _trainable(batch)
    partial = batch.is_partial()
    violators = _labels(
        ForwardDominance().decode_batch(batch.model, batch.emissions, batch.lengths)
    )
    # if the best labelling is not gold, it is the violator; else the second best may be
    wrong = batch.is_wrong(violators)
    hinges = float((wrong & ~partial).sum())
    for sentence in np.flatnonzero(~wrong & ~partial & (batch.lengths > 0)):
        here = slice(batch.offsets[sentence], batch.offsets[sentence + 1])
        emissions, gold = batch.emissions[here], batch.gold[here]
        try:
            violator = zero_one_oracle(batch.model, emissions, gold)
        except InfeasibleError:
            continue  # no other labelling is legal
        score = batch.model.score
        if score(emissions, violator.labels) + 1.0 > score(emissions, gold):
            violators[here] = violator.labels
            wrong[sentence] = True
            hinges += 1.0
    loss = _add_violations(batch, violators, wrong, tokens, gradient)
    return loss + hinges, gradient


LOSSES: dict[Loss, Callable[[ChainBatch], tuple[float, ChainGradient]]] = {
    "crf": negative_log_likelihood,
    "margin": margin,
    "perceptron": perceptron,
}


def _add_violations(
    batch: ChainBatch,
    violators: NDArray[np.int32],
    wrong: NDArray[np.bool_],
    tokens: NDArray[np.bool_],
    gradient: ChainGradient,
) -> float:
    """Add the gradient of the violating sentences; return their losses."""
    part, chosen = batch.choose(wrong)
    gold = _completed(part)
    gradient.add_labels(part, violators[chosen], _within(tokens, chosen), 1.0)
    gradient.add_labels(part, gold, _within(tokens, chosen), -1.0)
    return part.scores(violators[chosen]) - part.scores(gold)


def _completed(batch: ChainBatch) -> NDArray[np.int32]:
    """Return gold with missing labels filled in by the best completion."""
    from ...decoders.chain import ForwardDominance

    if not batch.is_partial().any():
        return batch.gold
    solutions = ForwardDominance().decode_batch(batch.model, batch.clamped(), batch.lengths)
    return _labels(solutions).astype(np.int32)


def _trainable(batch: ChainBatch) -> tuple[ChainBatch, NDArray[np.bool_], ChainGradient]:
    """Leave out sentences without a gold label, or whose gold labels are not legal."""
    from ...decoders.chain import log_partitions

    gradient = ChainGradient(batch)
    keep = batch.any_in_sentence(batch.gold != UNKNOWN)
    finite = (
        np.isfinite(batch.model.transitions).all() and np.isfinite(batch.model.start_scores).all()
    )
    if not finite:
        keep &= ~batch.any_in_sentence(~batch.legal())
        unsure = keep & batch.is_partial()
        if unsure.any():
            chosen, _ = batch.choose(unsure)
            found = log_partitions(batch.model, chosen.clamped(), chosen.lengths)
            keep[unsure] = np.isfinite(found)
    part, tokens = batch.choose(keep)
    return part, tokens, gradient


def _within(tokens: NDArray[np.bool_], chosen: NDArray[np.bool_]) -> NDArray[np.bool_]:
    """Return which of all tokens are those chosen among the marked ones."""
    result = tokens.copy()
    result[tokens] = chosen
    return result


def _labels(solutions: Sequence[Any]) -> NDArray[np.int32]:
    if not solutions:
        return np.zeros(0, dtype=np.int32)
    return np.concatenate([solution.labels for solution in solutions])
