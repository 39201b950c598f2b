"""Transitions for scores that stay as they are, learned from a labelled sample."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import ArrayLike, NDArray

from ..arrays import checked_indices, checked_scores
from ..errors import ProblemError
from .tokens.scheme import EntityScheme

__all__ = ["LearnedChain", "learn_chain"]

Floats = NDArray[np.float64]
Weights = NDArray[np.float32]

#: Iterations of L-BFGS: the objective is concave, and a hundred or two suffice.
ITERATIONS = 300
#: The weight of the squared norm of the transitions, in units of a text.
L2 = 1.0


class LearnedChain(NamedTuple):
    """What was learned.

    Attributes
    ----------
    transitions, start, end
        **Shape (L, L)**, **(L,)**, **(L,)**, float32; ``-inf`` for what the scheme forbids.
    scale
        By what the scores are multiplied.
    """

    transitions: Weights
    start: Weights
    end: Weights
    scale: float


def learn_chain(
    scores: Sequence[ArrayLike], gold: Sequence[ArrayLike], scheme: EntityScheme
) -> LearnedChain:
    """Learn transitions, and a factor of the scores, as a conditional random field.

    This is the last layer of a network that is frozen; the factor calibrates one that is too sure
    of itself. The objective is concave, so nothing depends on where one starts.

    Parameters
    ----------
    scores
        For each text **shape (n, L)**, finite.
    gold
        For each text **shape (n,)**: the right labels. Texts whose labels the scheme forbids are
        left out.
    scheme
        What is legal.

    Raises
    ------
    ProblemError
        If a shape does not fit, or no text is left.

    References
    ----------
    Lafferty, McCallum, Pereira 2001, *Conditional Random Fields*.

    Examples
    --------
    >>> scores = [[[1.0, 0.0], [0.4, 0.5], [1.0, 0.0]]] * 4
    >>> learned = learn_chain(scores, [[0, 0, 0]] * 4, EntityScheme(["O", "I-PER"]))
    >>> bool(learned.transitions[0, 0] > learned.transitions[0, 1])
    True
    """
    from scipy.optimize import minimize

    objective = ChainObjective(scores, gold, scheme)
    size = len(objective.counts)
    found = minimize(
        objective,
        np.append(np.zeros(size), 1.0),  # no transitions, and the scores as they are
        jac=True,
        method="L-BFGS-B",
        bounds=[(None, None)] * size + [(0.01, 100.0)],
        options={"maxiter": ITERATIONS},
    )
    return objective.parts(found.x)


class ChainObjective:
    """-log probability of the right labels, penalised, and its gradient.

    Its argument has the allowed transitions, starts and ends, and the scale of the scores.
    """

    def __init__(
        self, scores: Sequence[ArrayLike], gold: Sequence[ArrayLike], scheme: EntityScheme
    ) -> None:
        if len(scores) != len(gold):
            raise ProblemError(f"gold: expected {len(scores)} texts, got {len(gold)}.")
        self.allowed = (scheme.can_follow, scheme.can_start, scheme.can_end)
        size = len(scheme)
        #: how often the right labels have each transition, start and end
        counts = [np.zeros((size, size)), np.zeros(size), np.zeros(size)]
        kept = []
        self.right = 0.0
        for number, (given, labels) in enumerate(zip(scores, gold, strict=True)):
            rows = checked_scores(f"scores[{number}]", given, (None, size), forbidden=False)
            right = checked_indices(
                f"gold[{number}]", labels, (len(rows),), low=0, high=size, dtype=np.int64
            )
            if not len(right) or scheme.breaks(right):
                continue
            kept.append(rows)
            np.add.at(counts[0], (right[:-1], right[1:]), 1.0)
            counts[1][right[0]] += 1.0
            counts[2][right[-1]] += 1.0
            self.right += float(rows[np.arange(len(rows)), right].sum(dtype=np.float64))
        if not kept:
            raise ProblemError("gold: no text has legal labels.")
        self.scores = np.concatenate(kept)
        self.lengths = np.array([len(rows) for rows in kept], dtype=np.int64)
        self.counts = self._entries(counts)

    def parts(self, values: Floats) -> LearnedChain:
        """Return transitions, start, end and scale of the parameters."""
        arrays, begin = [], 0
        for allowed in self.allowed:
            array = np.full(allowed.shape, -np.inf, dtype=np.float32)
            stop = begin + int(allowed.sum())
            array[allowed] = values[begin:stop]
            arrays.append(array)
            begin = stop
        transitions, start, end = arrays
        return LearnedChain(transitions, start, end, float(values[-1]))

    def __call__(self, values: Floats) -> tuple[float, Floats]:
        from ..decoders.chain import ChainModel, forward_backward

        *arrays, scale = self.parts(values)
        found = forward_backward(
            ChainModel(*arrays), self.scores * np.float32(scale), self.lengths
        )
        weights = values[:-1]
        loss = float(found.log_partitions.sum()) - scale * self.right - self.counts @ weights
        expected = self._entries([found.transitions, found.start, found.end])
        slope = np.append(
            expected - self.counts + L2 * weights,
            float(np.vdot(found.marginals, self.scores)) - self.right,
        )
        return float(loss + 0.5 * L2 * (weights @ weights)), slope

    def _entries(self, arrays: Sequence[NDArray[Any]]) -> Floats:
        """The entries of transitions, starts and ends that are allowed."""
        parts = [array[allowed] for array, allowed in zip(arrays, self.allowed, strict=True)]
        return np.concatenate(parts).astype(np.float64)
