"""The base class of chain decoders."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Sequence
from typing import ClassVar

import numpy as np
from numpy.typing import ArrayLike

from ...arrays import read_only
from ...budget import UNLIMITED, Budget
from ...errors import InfeasibleError
from .kernels.layout import all_valid
from .problem import ChainModel, Sentences
from .solutions import ChainSolution
from .timed import lacks_time, solve_in_slices

__all__ = ["ChainDecoder"]


class ChainDecoder(ABC):
    """The base class of chain decoders: `decode` and `decode_batch`.

    A decoder implements `_solve` for a validated batch, and sets `_kernel_checks` if its kernels
    detect NaN and ``+inf`` themselves.
    """

    _kernel_checks: ClassVar[bool] = False

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
        sentences = Sentences.of(model, emissions, checked_later=self._kernel_checks)
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

        Parameters
        ----------
        model
            The scores that all sentences share.
        emissions
            **Shape (sum of lengths, L)**.
        lengths
            **Shape (sentences,)**: tokens of each sentence; 0 is fine.
        budget
            The budget of each sentence.

        Raises
        ------
        ProblemError
            If a shape is wrong, or a score is NaN, ``+inf``, or larger than 1e30.
        InfeasibleError
            If a sentence has no legal labelling; the message names sentence and token.
        """
        sentences = Sentences.of(model, emissions, lengths, checked_later=self._kernel_checks)
        return self._solve_within(model, sentences, budget)

    def _solve_within(
        self, model: ChainModel, sentences: Sentences, budget: Budget
    ) -> Sequence[ChainSolution]:
        """Solve a checked batch in one go, or sentence by sentence if time may be lacking."""
        if not lacks_time(model, sentences, budget):
            return self._solve(model, sentences, budget)
        if not all_valid(sentences.emissions.reshape(-1), 0, sentences.emissions.size):
            sentences.refuse()
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
