"""Learning the transitions of a chain from labelled texts, while its emissions stay fixed."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from typing import TYPE_CHECKING, NamedTuple

import numpy as np
from numpy.typing import ArrayLike

from ..arrays import Floats, Floats32, checked_indices, checked_list, checked_scores, checked_type
from ..errors import ProblemError
from ..models.tagger.losses import UNKNOWN, ChainBatch, negative_log_likelihood, trainable

if TYPE_CHECKING:
    from ..decoders.chain import ChainModel

__all__ = ["LearnedChain", "learn_chain"]


#: The weight of half the squared norm of the transitions, beside the loss summed over texts.
L2 = 1.0

#: The most iterations of L-BFGS: the objective is convex, and one or two hundred suffice.
ITERATIONS = 300


class LearnedChain(NamedTuple):
    """Learned transitions, and how well they fit."""

    #: **Shape (L, L)**, **(L,)**, **(L,)**, float32; ``-inf`` for what the rules forbid.
    transitions: Floats32
    start: Floats32
    end: Floats32
    #: The factor of the scores.
    scale: float
    #: The mean negative log-likelihood per token, without transitions and with them.
    before: float
    after: float
    #: The number of texts that were learned from.
    texts: int


def learn_chain(
    scores: Sequence[ArrayLike],
    gold: Sequence[ArrayLike],
    rules: ChainModel,
) -> LearnedChain:
    """Learn transitions, and a factor of the scores, as a conditional random field.

    This trains a last layer on top of a frozen network; the factor calibrates an overconfident
    one. The objective is convex, so the result does not depend on the start.

    Parameters
    ----------
    scores
        For each text **shape (n, L)**, finite.
    gold
        For each text **shape (n,)**: the right labels, -1 for unknown ones. Texts whose labels the
        rules forbid are left out.
    rules
        A chain model with L labels, whose ``-inf`` stay forbidden.

    Raises
    ------
    ProblemError
        If a shape does not fit, or no text is left.

    References
    ----------
    Lafferty, McCallum, Pereira 2001, *Conditional Random Fields*.

    Examples
    --------
    >>> from spacy_decoders.decoders.chain import ChainModel
    >>> scores = [[[1.0, 0.0], [0.4, 0.5], [1.0, 0.0]]] * 4
    >>> learned = learn_chain(scores, [[0, 0, 0]] * 4, ChainModel(np.zeros((2, 2))))
    >>> bool(learned.transitions[0, 0] > learned.transitions[0, 1]), learned.texts
    (True, 4)
    """
    from scipy.optimize import minimize

    objective = ChainObjective(scores, gold, rules)
    found = minimize(
        objective,
        objective.first,
        jac=True,
        method="L-BFGS-B",
        bounds=[*((None, None) if free else (0.0, 0.0) for free in objective.free), (0.01, 100.0)],
        options={"maxiter": ITERATIONS},
    )
    tokens = len(objective.batch.gold)
    return LearnedChain(
        *objective.parts(found.x),
        before=objective.loss(objective.first)[0] / tokens,
        after=objective.loss(found.x)[0] / tokens,
        texts=len(objective.batch.lengths),
    )


class ChainObjective:
    """The penalised negative log-likelihood of the right labels, and its gradient.

    The parameters are transitions, starts and ends, of which forbidden ones are ignored, and the
    scale of the scores.
    """

    def __init__(
        self,
        scores: Sequence[ArrayLike],
        gold: Sequence[ArrayLike],
        rules: ChainModel,
    ) -> None:
        from ..decoders.chain import ChainModel

        checked_type("rules", rules, ChainModel)
        scores = checked_list("scores", scores, "arrays, one for each text")
        gold = checked_list("gold", gold, "labels, those of each text")
        if len(scores) != len(gold):
            raise ProblemError(f"gold: expected {len(scores)} texts, got {len(gold)}.")
        self.size = rules.size
        given = (rules.transitions.ravel(), rules.start, rules.end)
        self.free = np.isfinite(np.concatenate(given))
        #: the first parameters: no transitions, and a scale of 1
        self.first = np.append(np.zeros(len(self.free)), 1.0)
        rows, labels = [np.zeros((0, self.size), np.float32)], [np.zeros(0, np.int32)]
        for number, (of_text, right) in enumerate(zip(scores, gold, strict=True)):
            rows.append(
                checked_scores(f"scores[{number}]", of_text, (None, self.size), forbidden=False)
            )
            shape = (len(rows[-1]),)
            labels.append(
                checked_indices(f"gold[{number}]", right, shape, low=UNKNOWN, high=self.size)
            )
        lengths = np.array([len(of_text) for of_text in labels[1:]], np.int64)
        texts = ChainBatch(
            self._model(self.first), np.concatenate(rows), lengths, np.concatenate(labels)
        )
        self.batch = replace(trainable(texts), places=None)
        if not len(self.batch.gold):
            raise ProblemError("gold: no text has legal labels.")

    def parts(self, values: Floats) -> tuple[Floats32, Floats32, Floats32, float]:
        """Return transitions, start, end and scale of the parameters."""
        scores = np.where(self.free, values[:-1], -np.inf).astype(np.float32)
        transitions, start, end = np.split(scores, [-2 * self.size, -self.size])
        return transitions.reshape(self.size, -1), start, end, float(values[-1])

    def loss(self, values: Floats) -> tuple[float, Floats]:
        """The negative log-likelihood of the right labels, and its gradient."""
        scores = self.batch.emissions
        scaled = replace(
            self.batch, model=self._model(values), emissions=scores * np.float32(values[-1])
        )
        loss, slope = negative_log_likelihood(scaled)
        of_scale = np.vdot(slope.emissions.astype(np.float64), scores)
        return loss, np.concatenate(
            [slope.transitions.ravel(), slope.start, slope.end, [of_scale]]
        )

    def __call__(self, values: Floats) -> tuple[float, Floats]:
        loss, slope = self.loss(values)
        weights = np.append(values[:-1], 0.0)
        return loss + 0.5 * L2 * float(weights @ weights), slope + L2 * weights

    def _model(self, values: Floats) -> ChainModel:
        from ..decoders.chain import ChainModel

        return ChainModel(*self.parts(values)[:3])
