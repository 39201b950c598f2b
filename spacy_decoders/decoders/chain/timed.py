"""Chains within a limit of time: Viterbi in slices, between which the clock is read.

One pass over all pairs of labels may take seconds where there are thousands of labels. Here it is
made a few rows of the transitions at a time. Where the time ends during the pass, the best
labelling of the tokens that it has reached is completed greedily; where it ends during the pass
from the right, which bounds the best labelling, the tokens that this one has not reached are
bounded by the sum of the maxima of their scores.
"""

from __future__ import annotations

import math
from collections.abc import Callable

import numpy as np
from numpy.typing import NDArray

from ...arrays import read_only
from ...budget import Budget, Clock
from ...errors import InfeasibleError
from .certifying import certified
from .kernels import dense
from .kernels.layout import UP64, all_valid
from .problem import ChainModel, Sentences
from .solutions import ChainSolution

__all__ = [
    "certified_within",
    "labels_in_time",
    "lacks_time",
    "lacks_time_to_prepare",
    "one_by_one",
    "solve_in_slices",
    "within",
]

#: Seconds that a decoder may take for each token and pair of labels, with its proof, on a slow
#: machine; and for each pair to derive arrays from a model.
STEP, PREPARATION = 4e-9, 1e-7

#: Up to so many labels the transitions stay in the cache, and a token takes microseconds.
SMALL = 512

#: What a decoder may take in any case.
LEAST = 0.05

#: Pairs of labels between two readings of the clock: some milliseconds.
SLICE = 1 << 22

Floats = NDArray[np.float64]
Labels = NDArray[np.int32]


def lacks_time(model: ChainModel, sentences: Sentences, budget: Budget) -> bool:
    """Return whether decoding one of the sentences in one go may take longer than the budget."""
    if budget.seconds is None or model.size <= SMALL:
        return False
    tokens = int(np.diff(sentences.offsets).max(initial=0))
    return STEP * tokens * model.size**2 > max(LEAST, budget.seconds)


def lacks_time_to_prepare(model: ChainModel, budget: Budget, derived: str) -> bool:
    """Return whether an attribute of a model is still to be derived, in more than the budget."""
    if budget.seconds is None or derived in vars(model):
        return False
    return PREPARATION * model.size**2 > max(LEAST, budget.seconds)


def labels_in_time(model: ChainModel, sentence: Sentences, clock: Clock) -> float:
    """Return how many labels of each token there is time to pair with all of its neighbour."""
    return clock.seconds_left / (STEP * max(1, len(sentence.emissions)) * model.size)


def one_by_one(
    sentences: Sentences, solve: Callable[[Sentences], ChainSolution]
) -> list[ChainSolution]:
    """Solve each sentence of a batch on its own.

    Raises
    ------
    ProblemError
        If an emission is NaN, ``+inf``, or larger than 1e30.
    InfeasibleError
        If a sentence has no legal labelling; the message has its number.
    """
    if not all_valid(sentences.emissions.reshape(-1), 0, sentences.emissions.size):
        sentences.refuse()
    found = []
    for number, emissions in enumerate(sentences):
        offsets = read_only(np.array([0, len(emissions)], dtype=np.int64))
        try:
            found.append(solve(Sentences(emissions, offsets)))
        except InfeasibleError as error:
            if len(sentences) == 1:
                raise
            raise InfeasibleError(f"sentence {number}: {error}") from None
    return found


def within(
    budget: Budget,
    decoder: str,
    model: ChainModel,
    sentences: Sentences,
    usual: Callable[[Sentences], ChainSolution],
) -> list[ChainSolution]:
    """Solve a batch sentence by sentence: in slices those that lack time, the others as usual."""

    def solve(one: Sentences) -> ChainSolution:
        if lacks_time(model, one, budget):
            return solve_in_slices(decoder, model, one, budget.start())
        return usual(one)

    return one_by_one(sentences, solve)


def solve_in_slices(
    decoder: str, model: ChainModel, sentence: Sentences, clock: Clock
) -> ChainSolution:
    """Decode one sentence in float64 over all labels, and return the best when the time ends.

    Parameters
    ----------
    decoder
        The registered name of the decoder that falls back on this.

    Raises
    ------
    InfeasibleError
        If no labelling is legal.
    """
    messages = _messages(model, sentence, clock)
    labels = _completed(model, sentence, messages)
    return certified_within(decoder, model, sentence, labels, clock)


def certified_within(
    decoder: str,
    model: ChainModel,
    sentence: Sentences,
    labels: Labels,
    clock: Clock,
    iterations: int = 1,
) -> ChainSolution:
    """Certify a legal labelling by the bound that the rest of the time allows."""
    score, scale = sentence.scores_of(model, labels)[0].tolist()
    bound = _bound(model, sentence.emissions, clock)
    return certified(decoder, labels, score, scale, bound, iterations)


def _passed_on(table: NDArray[np.float32], scores: Floats, clock: Clock) -> Floats | None:
    """Return the best of score + table entry into each column; None when the time ends.

    `table` has rows of any width, of which the first ``len(scores)`` are read.
    """
    width = table.shape[1]
    step = max(1, SLICE // width)
    best, part = np.full(width, -np.inf), np.empty(width)
    for first in range(0, len(scores), step):
        if clock.seconds_left == 0.0:
            return None
        rows = scores[first : first + step]
        flat = table[first : first + len(rows)].reshape(-1)
        dense.pass_on(flat, rows, len(rows), width, part)
        np.maximum(best, part, out=best)
    return best


def _messages(model: ChainModel, sentence: Sentences, clock: Clock) -> list[Floats]:
    """Return the best score of the tokens up to each one, by its label, until the time ends."""
    emissions = sentence.emissions
    n = len(emissions)
    found: list[Floats] = []
    for i in range(n):
        before = (
            _passed_on(model.transitions, found[-1], clock)
            if i
            else model.start_scores.astype(np.float64)
        )
        if before is None:
            break
        message = before + emissions[i]
        if i == n - 1:
            message += model.end_scores
        if message.max() == -np.inf:
            raise sentence.infeasible(0, i)
        found.append(message)
    return found


def _completed(model: ChainModel, sentence: Sentences, messages: list[Floats]) -> Labels:
    """Return the best labelling of the tokens with messages, with a greedy one of the others.

    A label from which the greedy one cannot go on is left for the next best, once for all.
    """
    emissions, links = sentence.emissions, model.transitions
    n = len(emissions)
    labels = np.zeros(n, dtype=np.int32)
    if not n:
        return labels
    reached = len(messages) - 1
    dead: dict[int, set[int]] = {}
    deepest = i = reached
    while reached <= i < n:
        if i == reached:
            scores = messages[i].copy()
        else:
            scores = links[labels[i - 1]] + emissions[i].astype(np.float64)
            if i == n - 1:
                scores += model.end_scores
        scores[list(dead.get(i, ()))] = -np.inf
        deepest = max(deepest, i)
        y = int(scores.argmax())
        if scores[y] > -np.inf:
            labels[i] = y
            i += 1
        else:
            i -= 1
            dead.setdefault(i, set()).add(int(labels[i]))
    if i < reached:
        raise sentence.infeasible(0, deepest)
    for i in range(reached, 0, -1):
        labels[i - 1] = (messages[i - 1] + links[:, labels[i]]).argmax()
    return labels


def _bound(model: ChainModel, emissions: NDArray[np.float32], clock: Clock) -> float:
    """Return an upper bound on all labellings, rounded up: by messages from the right.

    What these have not reached when the time ends is bounded by its largest scores.
    """
    size, n = model.size, len(emissions)
    if not n:
        return 0.0
    rest = model.end_scores.astype(np.float64)
    begin = n - 1
    value = _rounded_up(rest + emissions[begin])
    table = None
    if not lacks_time_to_prepare(model, Budget(max(clock.seconds_left, 1e-9)), "padded"):
        table = model.padded.transposed.reshape(size + 1, -1)
    while begin and table is not None:
        message = _passed_on(table, value, clock)
        if message is None:
            break
        begin -= 1
        value = _rounded_up(_rounded_up(message[:size]) + emissions[begin])
    if begin:
        most = emissions[:begin].max(axis=1).tolist()
        terms = [
            float(value.max()),
            *most,
            float(model.start_scores.max()),
            float(model.transitions.max()) * begin,
        ]
    else:
        terms = [float((value + model.start_scores).max())]
    return math.fsum(terms) + UP64 * math.fsum(map(abs, terms))


def _rounded_up(values: Floats) -> Floats:
    with np.errstate(invalid="ignore"):  # -inf, which stays
        return np.where(values > -np.inf, values + UP64 * np.abs(values), values)
