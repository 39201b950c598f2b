"""Transitions for scores that stay as they are, learned from a labelled sample."""

from __future__ import annotations

from collections.abc import Sequence
from typing import NamedTuple

import numpy as np
from numpy.typing import ArrayLike, NDArray

from ..arrays import checked_indices, checked_scores, is_number
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
    learn_scale: bool = True,
) -> LearnedChain:
    """Learn transitions, and how much the scores weigh, as a conditional random field.

    The scores are not changed: this is the last layer of a network that is frozen. The objective
    is concave, so nothing depends on where one starts.

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
    learn_scale
        Whether the scores get a factor. It calibrates the probabilities of a network that is too
        sure of itself.

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

    if not is_number(l2) or l2 < 0:
        raise ProblemError(f"l2: expected a number from 0 on, got {l2!r}.")
    sample = LabelledTexts.of(scores, gold, rules)
    objective = ChainObjective(sample, rules, l2, learn_scale)
    first = objective.initial()
    before = objective(first)[0]
    found = minimize(
        objective,
        first,
        jac=True,
        method="L-BFGS-B",
        bounds=objective.bounds(),
        options={"maxiter": ITERATIONS},
    )
    transitions, start, end, scale = objective.parts(found.x)
    return LearnedChain(
        transitions,
        start,
        end,
        scale,
        (before - objective.penalty(first)[0]) / len(sample.gold),
        (float(found.fun) - objective.penalty(found.x)[0]) / len(sample.gold),
        len(sample.lengths),
    )


class LabelledTexts(NamedTuple):
    """All texts, end to end."""

    scores: NDArray[np.float32]
    gold: NDArray[np.int64]
    lengths: NDArray[np.int64]

    @classmethod
    def of(
        cls, scores: Sequence[ArrayLike], gold: Sequence[ArrayLike], rules: ChainRules
    ) -> LabelledTexts:
        if len(scores) != len(gold):
            raise ProblemError(f"gold: expected {len(scores)} texts, got {len(gold)}.")
        size = len(rules.can_start)
        kept = []
        for number, (rows, labels) in enumerate(zip(scores, gold, strict=True)):
            checked = checked_scores(f"scores[{number}]", rows, (None, size), forbidden=False)
            right = checked_indices(
                f"gold[{number}]", labels, (len(checked),), low=0, high=size, dtype=np.int64
            )
            if len(right) and _is_legal(right, rules):
                kept.append((checked, right))
        if not kept:
            raise ProblemError("gold: no text has legal labels.")
        lengths = np.array([len(labels) for _, labels in kept], dtype=np.int64)
        return cls(
            np.concatenate([rows for rows, _ in kept]),
            np.concatenate([labels for _, labels in kept]),
            lengths,
        )


def _is_legal(labels: NDArray[np.int64], rules: ChainRules) -> bool:
    inner = rules.can_follow[labels[:-1], labels[1:]].all()
    return bool(inner and rules.can_start[labels[0]] and rules.can_end[labels[-1]])


class ChainObjective:
    """-log probability of the right labels, penalised, and its gradient."""

    def __init__(
        self, sample: LabelledTexts, rules: ChainRules, l2: float, learn_scale: bool
    ) -> None:
        self.sample, self.rules, self.l2, self.learn_scale = sample, rules, l2, learn_scale
        size = len(rules.can_start)
        ends = np.cumsum(sample.lengths)
        first, last = sample.gold[ends - sample.lengths], sample.gold[ends - 1]
        inner = np.ones(len(sample.gold), dtype=bool)
        inner[ends - sample.lengths] = False
        after = np.flatnonzero(inner)
        counts = np.zeros((size, size))
        np.add.at(counts, (sample.gold[after - 1], sample.gold[after]), 1.0)
        #: how often the right labels have each parameter
        self.counts = np.concatenate(
            [
                counts[rules.can_follow],
                np.bincount(first, minlength=size)[rules.can_start],
                np.bincount(last, minlength=size)[rules.can_end],
            ]
        ).astype(np.float64)
        right = sample.scores[np.arange(len(sample.gold)), sample.gold]
        self.right = float(right.sum(dtype=np.float64))

    def initial(self) -> Floats:
        """No transitions, and the scores as they are."""
        return np.concatenate([np.zeros(len(self.counts)), np.ones(1)])

    def bounds(self) -> list[tuple[float | None, float | None]]:
        """Let the scale be positive, or 1 if it is not learned."""
        scale = (0.01, 100.0) if self.learn_scale else (1.0, 1.0)
        return [(None, None)] * len(self.counts) + [scale]

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

    def penalty(self, values: Floats) -> tuple[float, Floats]:
        """Return what large transitions cost, and the gradient."""
        weights = np.append(values[:-1], 0.0)
        return 0.5 * self.l2 * float(weights @ weights), self.l2 * weights

    def __call__(self, values: Floats) -> tuple[float, Floats]:
        from ..decoders.chain import ChainModel, forward_backward

        transitions, start, end, scale = self.parts(values)
        emissions = self.sample.scores * np.float32(scale)
        found = forward_backward(
            ChainModel(transitions, start, end), emissions, self.sample.lengths
        )
        penalty, slope = self.penalty(values)
        loss = float(found.log_partitions.sum()) - scale * self.right
        loss -= float(self.counts @ values[:-1])
        expected = np.concatenate(
            [
                found.transitions[self.rules.can_follow],
                found.start[self.rules.can_start],
                found.end[self.rules.can_end],
            ]
        )
        of_scale = float(np.vdot(found.marginals, self.sample.scores)) - self.right
        return loss + penalty, np.append(expected - self.counts, of_scale) + slope
