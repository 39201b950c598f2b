"""The base class of chain decoders, and decoding within a time limit.

With hundreds of labels, or thousands of tokens, a pass over a sentence may take seconds: it is
made in slices, between which the clock is checked. Messages from the right give the labelling;
tokens that they have not reached when time runs out are labelled greedily. Messages from the left
bound the best labelling; tokens that they have not reached are bounded by the maxima of their
scores.
"""

from abc import ABC, abstractmethod
from collections.abc import Sequence
from typing import ClassVar

import numpy as np
from numpy.typing import ArrayLike

from ...arrays import Floats, Floats32, Integers32, checked_type
from ...budget import UNLIMITED, Budget, Clock
from ...errors import InfeasibleError, UndecidedError
from .kernels.layout import UP64
from .kernels.slices import follow, send
from .problem import ChainModel, Sentences
from .proof import certified
from .solutions import ChainSolution

__all__ = ["ChainDecoder", "lacks_time", "rounded_up", "solve_in_slices"]

#: Seconds that a decoder with its proof may take on a slow machine: for each token and pair of
#: labels, for each token and label, for each token; and for a model's tables for each pair.
STEP, LABEL, TOKEN, TABLES = 4e-9, 4e-8, 1e-6, 2e-8

#: The most labels whose transitions stay in the cache, where a step takes a twentieth.
CACHED = 512

#: Seconds that a decoder may take whatever the budget.
OVERTIME = 0.05
#: The share of the budget that a decoder may plan for, since the machine may be busy.
SAFE = 0.25

#: Pairs of labels between two checks of the clock: a millisecond, or ten beyond the cache; and the
#: number of pairs that the overhead of a token amounts to.
PAIRS_PER_CHECK, OVERHEAD = 2_000_000, 1_000

NOTHING_YET = "the time ended before a legal labelling was found."


class ChainDecoder(ABC):
    """The base class of chain decoders: `decode` and `decode_batch`.

    A decoder implements `_solve` for a validated batch.
    """

    #: How many times as long as `ForwardDominance` it takes if the transitions fit in the cache.
    pace: ClassVar[float] = 1.0

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
            When to stop. Decoders of a single pass ignore a limit on iterations; a decoding that
            may take longer than `seconds` returns the best legal labelling so far, with a bound.

        Raises
        ------
        ProblemError
            If an argument is of another type, a shape is wrong, or a score is NaN, ``+inf``, or
            larger than 1e30.
        InfeasibleError
            If no labelling is legal; the message names the token.
        UndecidedError
            If the time ended before a legal labelling was found.
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
        """Decode several sentences, concatenated without padding.

        Errors are those of :meth:`decode`; the message also names the sentence.

        Parameters
        ----------
        emissions
            **Shape (sum of lengths, L)**.
        lengths
            **Shape (sentences,)**: the number of tokens of each sentence; may be 0.
        budget
            The budget of each sentence.
        """
        sentences = Sentences.of(model, emissions, lengths)
        return self._solve_within(model, sentences, budget)

    def _solve_within(
        self, model: ChainModel, sentences: Sentences, budget: Budget
    ) -> Sequence[ChainSolution]:
        """Solve a validated batch at once, or each sentence in slices if time may run out."""
        checked_type("budget", budget, Budget)
        if not lacks_time(model, sentences, budget, self.pace):
            return self._solve(model, sentences, budget)
        found = []
        for number, emissions in enumerate(sentences):
            clock = budget.start()
            one = Sentences.single(emissions)
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
        """Solve a validated batch."""


def lacks_time(model: ChainModel, sentences: Sentences, budget: Budget, pace: float = 1.0) -> bool:
    """Return whether decoding the longest sentence in one pass may exceed the budget."""
    if budget.seconds is None:
        return False
    tokens = int(np.diff(sentences.offsets).max(initial=0))
    of_token = TOKEN + LABEL * model.size
    if model.size > CACHED:
        of_token += STEP * model.size**2
    else:
        of_token = pace * (of_token + 0.05 * STEP * model.size**2)
    needed = tokens * of_token + _seconds_for_tables(model)
    return needed > max(OVERTIME, SAFE * budget.seconds)


def _seconds_for_tables(model: ChainModel) -> float:
    return 0.0 if "padded" in vars(model) else TABLES * model.size**2


def solve_in_slices(
    decoder: str, model: ChainModel, sentence: Sentences, clock: Clock
) -> ChainSolution:
    """Return the best labelling of one sentence within the time, with a bound.

    Raises `InfeasibleError` if no labelling is legal, and `UndecidedError` if the time ended
    before one was found.
    """
    rows, end = sentence.emissions, model.end
    if not len(rows):
        return certified(decoder, np.zeros(0, dtype=np.int32), 0.0, 0.0, 0.0)
    behind = np.empty(rows.shape)
    known, _ = _messages(model, "transposed", end, sentence, behind, clock)
    labels = _followed(model, sentence, behind, known, clock)
    score, scale = sentence.scores_of(model, labels)[0].tolist()
    ahead = np.empty((2, model.size))
    reached, _ = _messages(model, "transitions", model.start, sentence, ahead, clock)
    best = ahead[(reached - 1) % 2]
    if reached == len(rows):
        return certified(decoder, labels, score, scale, float(rounded_up(best + end).max()))
    most = rows[reached:].max(axis=1).astype(np.float64)
    links = (len(rows) - reached) * float(model.transitions.max())
    terms = np.array([best.max(), most.sum(), end.max(), links])
    rounding = len(rows) * UP64 * (np.abs(terms).sum() + np.abs(most).sum())
    return certified(decoder, labels, score, scale, float(terms.sum() + rounding))


def _messages(
    model: ChainModel,
    table: str,
    entry: Floats32,
    sentence: Sentences,
    values: Floats,
    clock: Clock,
) -> tuple[int, bool]:
    """Fill in the messages of as many tokens as time allows, from the left or the right.

    The transitions are the attribute `table` of :class:`.Padded`, which is computed if there is
    time. Returns how many tokens are reached, and whether any message of the last is finite.
    """
    n, size, flat = len(sentence.emissions), model.size, sentence.emissions.reshape(-1)
    way = -1 if table == "transposed" else 1
    values[0] = rounded_up(entry.astype(np.float64) + sentence.emissions[::way][0])
    alive, reached = bool((values[0] > -np.inf).any()), 1
    while alive and reached < n and clock.seconds_left > _seconds_for_tables(model):
        stop = min(n, reached + 1 + PAIRS_PER_CHECK // (size**2 + OVERHEAD))
        links = getattr(model.padded, table)
        found = send(links, flat, size, way, values, reached, stop)
        alive, reached = found == stop, min(found + 1, stop)
    return reached, alive


def _followed(
    model: ChainModel, sentence: Sentences, behind: Floats, known: int, clock: Clock
) -> Integers32:
    """Return a labelling: greedy from the left, then, where messages are known, the best.

    It backtracks from labels that are dead ends, and never visits these again.
    """
    emissions, start = sentence.emissions, model.start
    n = len(emissions)
    labels, dead = np.zeros(n, dtype=np.int32), np.zeros(emissions.shape, dtype=bool)
    given = model.transitions, start, emissions, behind, known, labels, dead
    moves_per_check = 1 + PAIRS_PER_CHECK // model.size
    i = follow(*given, 0, n + moves_per_check)
    while 0 <= i < n:
        if clock.seconds_left == 0.0:
            raise UndecidedError(NOTHING_YET)
        i = follow(*given, i, moves_per_check)
    if i < 0:
        ahead = np.empty((2, model.size))
        reached, alive = _messages(model, "transitions", start, sentence, ahead, clock)
        # all prefixes end there, or, if messages are missing, at the last token at the latest
        raise sentence.infeasible(0, n - 1 if alive else reached - 1)
    return labels


def rounded_up(values: ArrayLike) -> Floats:
    """Round sums up by more than the error of the last addition; ``-inf`` stays."""
    sums = np.asarray(values)
    with np.errstate(invalid="ignore"):
        return np.where(sums > -np.inf, sums + UP64 * np.abs(sums), sums)
