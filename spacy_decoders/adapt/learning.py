"""Transitions for scores that stay as they are, learned from a labelled sample."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import ArrayLike, NDArray
from pydantic import NonNegativeFloat

from ..arrays import checked_indices, checked_scores
from ..components.option_checks import check_of
from ..errors import ProblemError

__all__ = ["ChainRules", "LearnedChain", "learn_chain"]

Floats = NDArray[np.float64]
Weights = NDArray[np.float32]

#: Iterations of L-BFGS: the objective is concave, and a hundred or two suffice.
ITERATIONS = 300


class ChainRules(NamedTuple):
    """Which labels may follow which, and be first and last: **(L, L)**, **(L,)**, **(L,)**."""

    can_follow: NDArray[np.bool_]
    can_start: NDArray[np.bool_]
    can_end: NDArray[np.bool_]

    @classmethod
    def none(cls, size: int) -> ChainRules:
        """No rules at all, for so many labels."""
        return cls(np.ones((size, size), bool), np.ones(size, bool), np.ones(size, bool))


class LearnedChain(NamedTuple):
    """What was learned.

    Attributes
    ----------
    transitions, start, end
        **Shape (L, L)**, **(L,)**, **(L,)**, float32; ``-inf`` for what the rules forbid.
    scale
        By what the scores are multiplied.
    before, after
        The mean of -log probability of the right labels of a token: without transitions and
        with them.
    texts
        How many texts were learned from.
    """

    transitions: NDArray[np.float32]
    start: NDArray[np.float32]
    end: NDArray[np.float32]
    scale: float
    before: float
    after: float
    texts: int


def learn_chain(
    scores: Sequence[ArrayLike],
    gold: Sequence[ArrayLike],
    rules: ChainRules,
    *,
    l2: float = 1.0,
) -> LearnedChain:
    """Learn transitions, and a factor of the scores, as a conditional random field.

    This is the last layer of a network that is frozen; the factor calibrates one that is too sure
    of itself. The objective is concave, so nothing depends on where one starts.

    Parameters
    ----------
    scores
        For each text **shape (n, L)**, finite.
    gold
        For each text **shape (n,)**: the right labels. Texts whose labels the rules forbid are
        left out.
    rules
        What is legal.
    l2
        The weight of the squared norm of the transitions, in units of a text; not negative.

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
    >>> learned = learn_chain(scores, [[0, 0, 0]] * 4, ChainRules.none(2))
    >>> bool(learned.transitions[0, 0] > learned.transitions[0, 1]), learned.texts
    (True, 4)
    """
    from scipy.optimize import minimize

    check_of(NonNegativeFloat)("l2", l2)
    objective = ChainObjective(scores, gold, rules, l2)
    size = len(objective.counts)
    first = np.append(np.zeros(size), 1.0)  # no transitions, and the scores as they are
    found = minimize(
        objective,
        first,
        jac=True,
        method="L-BFGS-B",
        bounds=[(None, None)] * size + [(0.01, 100.0)],
        options={"maxiter": ITERATIONS},
    )
    tokens = int(objective.lengths.sum())
    return LearnedChain(
        *objective.parts(found.x),
        before=objective.loss(first)[0] / tokens,
        after=objective.loss(found.x)[0] / tokens,
        texts=len(objective.lengths),
    )


class ChainObjective:
    """-log probability of the right labels, penalised, and its gradient.

    Its argument has the allowed transitions, starts and ends, and the scale of the scores.
    """

    def __init__(
        self,
        scores: Sequence[ArrayLike],
        gold: Sequence[ArrayLike],
        rules: ChainRules,
        l2: float,
    ) -> None:
        if len(scores) != len(gold):
            raise ProblemError(f"gold: expected {len(scores)} texts, got {len(gold)}.")
        self.rules, self.l2 = rules, l2
        size = len(rules.can_start)
        #: how often the right labels have each transition, start and end
        counts = [np.zeros((size, size)), np.zeros(size), np.zeros(size)]
        kept = []
        self.right = 0.0
        for number, (given, labels) in enumerate(zip(scores, gold, strict=True)):
            rows = checked_scores(f"scores[{number}]", given, (None, size), forbidden=False)
            right = checked_indices(
                f"gold[{number}]", labels, (len(rows),), low=0, high=size, dtype=np.int64
            )
            if not len(right) or not _is_legal(right, rules):
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
        self.counts = self._allowed(counts)

    def parts(self, values: Floats) -> tuple[Weights, Weights, Weights, float]:
        """Return transitions, start, end and scale of the parameters."""
        arrays, begin = [], 0
        for allowed in self.rules:
            array = np.full(allowed.shape, -np.inf, dtype=np.float32)
            stop = begin + int(allowed.sum())
            array[allowed] = values[begin:stop]
            arrays.append(array)
            begin = stop
        return arrays[0], arrays[1], arrays[2], float(values[-1])

    def loss(self, values: Floats) -> tuple[float, Floats]:
        """-log probability of the right labels, and its gradient."""
        from ..decoders.chain import ChainModel, forward_backward

        transitions, start, end, scale = self.parts(values)
        model = ChainModel(transitions, start, end)
        found = forward_backward(model, self.scores * np.float32(scale), self.lengths)
        loss = float(found.log_partitions.sum()) - scale * self.right
        expected = self._allowed([found.transitions, found.start, found.end])
        of_scale = float(np.vdot(found.marginals, self.scores)) - self.right
        return loss - float(self.counts @ values[:-1]), np.append(expected - self.counts, of_scale)

    def __call__(self, values: Floats) -> tuple[float, Floats]:
        loss, slope = self.loss(values)
        weights = np.append(values[:-1], 0.0)
        return loss + 0.5 * self.l2 * float(weights @ weights), slope + self.l2 * weights

    def _allowed(self, arrays: Sequence[NDArray[Any]]) -> Floats:
        """The entries of transitions, starts and ends that the rules allow."""
        parts = [array[allowed] for array, allowed in zip(arrays, self.rules, strict=True)]
        return np.concatenate(parts).astype(np.float64)


def _is_legal(labels: NDArray[np.int64], rules: ChainRules) -> bool:
    inner = rules.can_follow[labels[:-1], labels[1:]].all()
    return bool(inner and rules.can_start[labels[0]] and rules.can_end[labels[-1]])
