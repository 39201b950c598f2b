"""The base class of chain decoders, and decoding within a limit of time.

Where there are hundreds of labels, a pass over a sentence may take seconds: the clock is read at
every token. A pass from the right finds the labelling; tokens that it has not
reached when the time ends are labelled greedily. A pass from the left bounds the best labelling;
tokens that it has not reached are bounded by the maxima of their scores.
"""

import math
from abc import ABC, abstractmethod
from collections.abc import Sequence

import numpy as np
from numpy.typing import ArrayLike, NDArray

from ...arrays import read_only
from ...budget import UNLIMITED, Budget, Clock
from ...errors import InfeasibleError
from .kernels.dense import pass_on
from .kernels.layout import UP64
from .problem import ChainModel, Sentences
from .proof import certified, decode_exactly
from .solutions import ChainSolution

__all__ = ["ChainDecoder", "lacks_time", "rounded_up", "solve_in_slices"]

#: Seconds that a decoder may take for each token and pair of labels, with its proof, on a slow
#: machine; and for the tables of a model, for each pair.
STEP, TABLES = 4e-9, 5e-9

#: Up to so many labels a token takes microseconds; and up to so many the transitions stay in the
#: cache, where a step takes a twentieth.
SMALL, CACHED = 256, 512

#: Seconds that a decoder may take whatever the budget; and the share of the budget that it may
#: plan for, as the machine may be busy.
LEAST, SAFE = 0.05, 0.25

Floats = NDArray[np.float64]
Scores = NDArray[np.float32]


class ChainDecoder(ABC):
    """The base class of chain decoders: `decode` and `decode_batch`.

    A decoder implements `_solve` for a validated batch.
    """

    def decode(
        self, model: ChainModel, emissions: ArrayLike, *, budget: Budget = UNLIMITED
    ) -> ChainSolution:
        """Decode one sentence.

        Parameters
        ----------
        model
            The scores that all sentences share.
        emissions
            **Shape (n, L)**: the score of each label at each token; ``-inf`` forbids. Without
            tokens the empty labelling is optimal, with a score of 0.
        budget
            When to stop. A single pass ignores a limit on iterations; one that may take longer
            than `seconds` ends with the best legal labelling so far, and a bound.

        Raises
        ------
        ProblemError
            If a shape is wrong, or a score is NaN, ``+inf``, or larger than 1e30.
        InfeasibleError
            If no labelling is legal; the message names the token.
        """
        sentences = Sentences.of(model, emissions)
        return self._solve_within(model, sentences, budget)[0]

    def decode_batch(
        self,
        model: ChainModel,
        emissions: ArrayLike,
        lengths: ArrayLike,
        *,
        budget: Budget = UNLIMITED,
    ) -> Sequence[ChainSolution]:
        """Decode several sentences, laid end to end without padding.

        Errors are those of :meth:`decode`; the message names the sentence, too.

        Parameters
        ----------
        emissions
            **Shape (sum of lengths, L)**.
        lengths
            **Shape (sentences,)**: tokens of each sentence; 0 is fine.
        budget
            The budget of each sentence.
        """
        sentences = Sentences.of(model, emissions, lengths)
        return self._solve_within(model, sentences, budget)

    def _solve_within(
        self, model: ChainModel, sentences: Sentences, budget: Budget
    ) -> Sequence[ChainSolution]:
        """Solve a checked batch in one go, or sentence by sentence if time may be lacking."""
        if not lacks_time(model, sentences, budget):
            return self._solve(model, sentences, budget)
        found = []
        for number, emissions in enumerate(sentences):
            clock = budget.start()
            one = Sentences(emissions, read_only(np.array([0, len(emissions)], dtype=np.int64)))
            try:
                found.append(solve_in_slices(type(self).__name__, model, one, clock))
            except InfeasibleError as error:
                if len(sentences) == 1:
                    raise
                raise InfeasibleError(f"sentence {number}: {error}") from None
        return found

    @abstractmethod
    def _solve(
        self, model: ChainModel, sentences: Sentences, budget: Budget
    ) -> Sequence[ChainSolution]:
        """Solve a checked batch."""


def lacks_time(model: ChainModel, sentences: Sentences, budget: Budget) -> bool:
    """Return whether decoding one of the sentences in one go may take longer than the budget."""
    if budget.seconds is None or model.size <= SMALL:
        return False
    tokens = int(np.diff(sentences.offsets).max(initial=0))
    step = STEP if model.size > CACHED else 0.05 * STEP
    needed = step * tokens * model.size**2 + _seconds_for_tables(model)
    return needed > max(LEAST, SAFE * budget.seconds)


def _seconds_for_tables(model: ChainModel) -> float:
    return 0.0 if "padded" in vars(model) else TABLES * model.size**2


def solve_in_slices(
    decoder: str, model: ChainModel, sentence: Sentences, clock: Clock
) -> ChainSolution:
    """Return the best labelling of one sentence when the time ends, with a bound.

    Raises `InfeasibleError` if no labelling is legal.
    """
    rows, end = sentence.emissions, model.end_scores
    behind = _messages(model, "transposed", end, rows[::-1], clock)
    labels = _followed(model, sentence, behind)
    score, scale = sentence.scores_of(model, labels)[0].tolist()
    ahead = _messages(model, "transitions", model.start_scores, rows, clock)
    rest, terms = rows[len(ahead) :], [0.0]
    if len(rest):
        terms = [float(ahead[-1].max()), *rest.max(axis=1).tolist(), float(end.max())]
        terms.append(len(rest) * float(model.transitions.max()))
    elif len(rows):
        terms = [float(rounded_up(ahead[-1] + end).max())]
    bound = math.fsum(terms) + UP64 * math.fsum(map(abs, terms))
    return certified(decoder, labels, score, scale, bound)


def _messages(
    model: ChainModel, table: str, entry: Scores, rows: Scores, clock: Clock
) -> list[Floats]:
    """Return the best scores of what ends with each label, for as many tokens as time allows.

    ``V[i, y] = E[i, y] + max over x of (V[i - 1, x] + T[x, y])``, every sum rounded up; the
    transitions are a `table` of :class:`.Padded`, which is made if there is time.
    """
    found: list[Floats] = []
    best = entry.astype(np.float64)
    for row in rows:
        if found:
            if clock.seconds_left <= _seconds_for_tables(model):
                return found
            reached = np.empty(len(model.padded.end))
            pass_on(getattr(model.padded, table), found[-1], model.size, len(reached), reached)
            best = rounded_up(reached[: model.size])
        found.append(rounded_up(best + row))
    return found


def _followed(model: ChainModel, sentence: Sentences, behind: list[Floats]) -> NDArray[np.int32]:
    """Return a labelling: greedy from the left, then by the best that follows.

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
        scores = scores + (behind[left - 1] if left <= len(behind) else emissions[i])
        scores[list(dead.get(i, ()))] = -np.inf
        y = int(scores.argmax())
        if scores[y] > -np.inf:
            labels[i] = y
            i += 1
        else:
            i -= 1
            dead.setdefault(i, set()).add(int(labels[i]))
    if i < 0:  # every beginning ends: this says at which token
        decode_exactly(model, sentence, np.zeros(1, dtype=np.int64), labels)
    return labels


def rounded_up(values: ArrayLike) -> Floats:
    """Round sums up by more than the error of the last addition; forbidden ones stay ``-inf``."""
    sums = np.asarray(values)
    with np.errstate(invalid="ignore"):
        return np.where(sums > -np.inf, sums + UP64 * np.abs(sums), sums)
