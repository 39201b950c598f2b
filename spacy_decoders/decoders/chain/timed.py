"""Chains within a limit of time: one pass over all pairs of labels, some rows at a time.

Where there are thousands of labels such a pass may take seconds: the clock is read every few
milliseconds. A pass from the right finds the labelling; tokens that it has not reached when the
time ends are labelled greedily. A pass from the left bounds the best labelling; tokens that it has
not reached are bounded by the sum of the maxima of their scores.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Iterator

import numpy as np
from numpy.typing import NDArray

from ...arrays import read_only
from ...budget import Budget, Clock
from ...errors import InfeasibleError
from .certifying import certified
from .kernels.layout import UP64, all_valid
from .problem import ChainModel, Sentences
from .solutions import ChainSolution

__all__ = ["certified_within", "lacks_time", "one_by_one", "solve_in_slices", "within"]

#: Seconds that a decoder may take for each token and pair of labels, with its proof, on a slow
#: machine.
STEP = 4e-9

#: Up to so many labels the transitions stay in the cache, and a token takes microseconds.
SMALL = 512

#: What a decoder may take in any case; and the share of the budget, as the machine may be busy.
LEAST, SAFE = 0.05, 0.25

#: Pairs of labels between two readings of the clock: some milliseconds.
SLICE = 1 << 20

Floats = NDArray[np.float64]


def lacks_time(model: ChainModel, sentences: Sentences, budget: Budget) -> bool:
    """Return whether decoding one of the sentences in one go may take longer than the budget."""
    if budget.seconds is None or model.size <= SMALL:
        return False
    tokens = int(np.diff(sentences.offsets).max(initial=0))
    return STEP * tokens * model.size**2 > max(LEAST, SAFE * budget.seconds)


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
    budget: Budget, decoder: str, model: ChainModel, sentences: Sentences
) -> list[ChainSolution]:
    """Solve each sentence in slices, within a budget of its own."""
    return one_by_one(sentences, lambda one: solve_in_slices(decoder, model, one, budget.start()))


def solve_in_slices(
    decoder: str, model: ChainModel, sentence: Sentences, clock: Clock
) -> ChainSolution:
    """Return the best labelling of one sentence when the time ends, with a bound.

    Parameters
    ----------
    decoder
        The registered name of the decoder that falls back on this.

    Raises
    ------
    InfeasibleError
        If no labelling is legal.
    """
    labels = _followed(model, sentence, _continuations(model, sentence.emissions, clock))
    return certified_within(decoder, model, sentence, labels, clock)


def certified_within(
    decoder: str,
    model: ChainModel,
    sentence: Sentences,
    labels: NDArray[np.int32],
    clock: Clock,
    iterations: int = 1,
) -> ChainSolution:
    """Certify a legal labelling by the bound that the rest of the time allows."""
    score, scale = sentence.scores_of(model, labels)[0].tolist()
    bound = _bound(model, sentence.emissions, clock)
    return certified(decoder, labels, score, scale, bound, iterations)


def _slices(model: ChainModel, clock: Clock) -> Iterator[slice]:
    """Yield some rows of the transitions at a time, until the time ends."""
    step = max(1, SLICE // model.size)
    for first in range(0, model.size, step):
        if clock.seconds_left == 0.0:
            return
        yield slice(first, first + step)


def _continuations(
    model: ChainModel, emissions: NDArray[np.float32], clock: Clock
) -> list[Floats]:
    """Return, for the last tokens, the best score from each label on; the last token first.

    As many as there is time for: ``V[i, x] = E[i, x] + max over y of (T[x, y] + V[i + 1, y])``.
    """
    found: list[Floats] = []
    for row in emissions[::-1]:
        best = model.end_scores.astype(np.float64)
        if found:
            reached = 0
            for rows in _slices(model, clock):
                best[rows] = (model.transitions[rows] + found[-1]).max(axis=1)
                reached = rows.stop
            if reached < model.size:
                break
        found.append(best + row)
    return found


def _followed(
    model: ChainModel, sentence: Sentences, continuations: list[Floats]
) -> NDArray[np.int32]:
    """Return a labelling: greedy from the left, then by the best continuations.

    A label from which it cannot go on is left for the next best, once for all.
    """
    emissions, links = sentence.emissions, model.transitions
    n = len(emissions)
    labels = np.zeros(n, dtype=np.int32)
    dead: dict[int, set[int]] = {}
    i = 0
    while 0 <= i < n:
        scores = np.asarray(links[labels[i - 1]] if i else model.start_scores, dtype=np.float64)
        left = n - i
        scores = scores + (continuations[left - 1] if left <= len(continuations) else emissions[i])
        if left == 1 and not continuations:
            scores += model.end_scores
        scores[list(dead.get(i, ()))] = -np.inf
        y = int(scores.argmax())
        if scores[y] > -np.inf:
            labels[i] = y
            i += 1
        else:
            i -= 1
            dead.setdefault(i, set()).add(int(labels[i]))
    if i < 0:
        raise sentence.infeasible(0, _dead_end(model, emissions))
    return labels


def _dead_end(model: ChainModel, emissions: NDArray[np.float32]) -> int:
    """Return the token at which all paths from the left have ended."""
    alive = model.start_scores > -np.inf
    for i, row in enumerate(emissions):
        if i:
            alive = np.logical_or.reduce(model.transitions[alive] > -np.inf, axis=0)
        alive &= row > -np.inf
        if not alive.any():
            return i
    return len(emissions) - 1


def _bound(model: ChainModel, emissions: NDArray[np.float32], clock: Clock) -> float:
    """Return an upper bound on all labellings, every sum rounded up.

    ``A[i, y] = E[i, y] + max over x of (A[i - 1, x] + T[x, y])`` as far as there is time.
    """
    if not len(emissions):
        return 0.0
    value = _rounded_up(model.start_scores.astype(np.float64) + emissions[0])
    reached = 1
    while reached < len(emissions):
        best, done = np.full(model.size, -np.inf), 0
        for rows in _slices(model, clock):
            entered = (model.transitions[rows] + value[rows, None]).max(axis=0)
            np.maximum(best, entered, out=best)
            done = rows.stop
        if done < model.size:
            break
        value = _rounded_up(_rounded_up(best) + emissions[reached])
        reached += 1
    rest = emissions[reached:]
    if not len(rest):
        return float(_rounded_up(value + model.end_scores).max())
    terms = [
        float(value.max()),
        *rest.max(axis=1).tolist(),
        len(rest) * float(model.transitions.max()),
        float(model.end_scores.max()),
    ]
    return math.fsum(terms) + UP64 * math.fsum(map(abs, terms))


def _rounded_up(values: Floats) -> Floats:
    with np.errstate(invalid="ignore"):  # -inf, which stays
        return np.where(values > -np.inf, values + UP64 * np.abs(values), values)
