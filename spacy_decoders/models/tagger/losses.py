"""Structured losses of chain models and their gradients.

Gold labels may be missing, or be several of which one is right. The log-likelihood then sums over
all completions; the two others take the best completion for gold.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any, Literal

import numpy as np
from numpy.typing import NDArray

from ...errors import InfeasibleError
from .negative_spans import NegativeSpans, without_spans

__all__ = ["LOSSES", "UNKNOWN", "ChainBatch", "ChainGradient", "Loss"]

Loss = Literal["crf", "margin", "perceptron"]

#: The gold label of a token that has none.
UNKNOWN = -1


@dataclass(frozen=True)
class ChainBatch:
    """Scored sentences and their gold labels, end to end.

    Attributes
    ----------
    model
        The :class:`~spacy_decoders.decoders.chain.ChainModel`.
    emissions
        **Shape (total, L)**, float32.
    lengths
        **Shape (sentences,)**: tokens of each sentence.
    gold
        **Shape (total,)**: the label of each token, or `UNKNOWN`.
    allowed
        **Shape (total, L)**: the labels of which one is right where gold is `UNKNOWN`; None for
        all of them.
    negative
        Spans that are known to be no entities; None for none.
    """

    model: Any
    emissions: NDArray[np.float32]
    lengths: NDArray[np.int64]
    gold: NDArray[np.int32]
    allowed: NDArray[np.bool_] | None = None
    negative: NegativeSpans | None = None

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
            self.model,
            self.emissions[tokens],
            self.lengths[keep],
            self.gold[tokens],
            None if self.allowed is None else self.allowed[tokens],
            None if self.negative is None else self.negative.chosen(tokens),
        )
        return part, tokens

    def informative(self) -> NDArray[np.bool_]:
        """**Shape (total,)**: whether anything is known of a token's label."""
        known: NDArray[np.bool_] = self.gold != UNKNOWN
        return known if self.allowed is None else known | ~self.allowed.all(axis=1)

    def is_partial(self) -> NDArray[np.bool_]:
        """**Shape (sentences,)**: whether a sentence may have several right labellings."""
        return self.any_in_sentence(self.gold == UNKNOWN) | self.has_negative()

    def has_negative(self) -> NDArray[np.bool_]:
        """**Shape (sentences,)**: whether a sentence has a negative span."""
        marked = np.zeros(len(self.gold), dtype=bool)
        if self.negative is not None:
            marked[[start for start, _, _ in self.negative.spans]] = True
        return self.any_in_sentence(marked)

    def disagree(self, labels: NDArray[np.int32]) -> NDArray[np.bool_]:
        """**Shape (total,)**: whether labels contradict what is known."""
        wrong: NDArray[np.bool_] = (self.gold != UNKNOWN) & (labels != self.gold)
        if self.allowed is None:
            return wrong
        denied = ~self.allowed[np.arange(len(labels)), labels]
        return np.where(self.gold == UNKNOWN, denied, wrong)

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
        if self.allowed is not None:
            emissions[(self.gold == UNKNOWN)[:, None] & ~self.allowed] = -np.inf
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
        negative = batch.has_negative()
        completed, chosen = batch.choose(partial & ~negative)
        found = forward_backward(batch.model, completed.clamped(), completed.lengths)
        gradient.add_expectations(found, _within(tokens, chosen), -1.0)
        loss -= float(found.log_partitions.sum())
        for sentence in np.flatnonzero(negative):
            keep = np.arange(len(batch)) == sentence
            part, chosen = batch.choose(keep)
            found = _expectations_without(part)
            gradient.add_expectations(found, _within(tokens, chosen), -1.0)
            loss -= float(found.log_partitions.sum())
    return loss, gradient


def _without(batch: ChainBatch) -> Any:
    """Return the larger chain of a batch of one sentence, without its negative spans."""
    negative: Any = batch.negative
    spans = negative.within(0, len(batch.gold))
    return without_spans(batch.model, batch.clamped(), negative, spans)


def _expectations_without(batch: ChainBatch) -> Any:
    """Return the expectations of one sentence over labellings without its negative spans."""
    from ...decoders.chain import forward_backward

    larger, size = _without(batch), batch.model.size
    found = forward_backward(larger.model, larger.emissions, batch.lengths)
    return found._replace(
        marginals=larger.folded(found.marginals, size),
        transitions=larger.folded(larger.folded(found.transitions, size).T, size).T,
        start=larger.folded(found.start, size),
        end=larger.folded(found.end, size),
    )


def perceptron(batch: ChainBatch) -> tuple[float, ChainGradient]:
    """Structured perceptron: the best score less that of gold.

    Averaging is left to the optimizer (``use_averages = true``).
    """
    from ...decoders.chain import ForwardDominance

    batch, tokens, gradient = _trainable(batch)
    best = _labels(ForwardDominance().decode_batch(batch.model, batch.emissions, batch.lengths))
    wrong = batch.any_in_sentence(batch.disagree(best)) | batch.has_negative()
    loss = _add_violations(batch, best, wrong, tokens, gradient)
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
    wrong = batch.any_in_sentence(batch.disagree(violators)) | batch.has_negative()
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
    emissions, negative = batch.clamped(), batch.has_negative()
    solutions = ForwardDominance().decode_batch(batch.model, emissions, batch.lengths)
    completed = _labels(solutions).astype(np.int32)
    for sentence in np.flatnonzero(negative):
        part, tokens = batch.choose(np.arange(len(batch)) == sentence)
        larger = _without(part)
        best = ForwardDominance().decode(larger.model, larger.emissions)
        completed[tokens] = larger.origin[best.labels]
    return completed


def _trainable(batch: ChainBatch) -> tuple[ChainBatch, NDArray[np.bool_], ChainGradient]:
    """Leave out sentences without a gold label, or whose gold labels are not legal."""
    from ...decoders.chain import log_partitions

    gradient = ChainGradient(batch)
    negative = batch.has_negative()
    keep = batch.any_in_sentence(batch.informative()) | negative
    finite = (
        np.isfinite(batch.model.transitions).all() and np.isfinite(batch.model.start_scores).all()
    )
    if not finite:
        keep &= ~batch.any_in_sentence(~batch.legal())
    unsure = keep & batch.is_partial() & ~negative
    if unsure.any() and not (finite and batch.allowed is None):
        chosen, _ = batch.choose(unsure)
        found = log_partitions(batch.model, chosen.clamped(), chosen.lengths)
        keep[unsure] = np.isfinite(found)
    for sentence in np.flatnonzero(keep & negative):
        part, _ = batch.choose(np.arange(len(batch)) == sentence)
        larger = _without(part)
        found = log_partitions(larger.model, larger.emissions, part.lengths)
        keep[sentence] = bool(np.isfinite(found[0]))
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
