"""Fitting a calibration to answers of which it is known whether they were right."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from ..errors import ProblemError
from .calibration import Calibration, checked_probabilities, log_odds, sigmoid

__all__ = [
    "Answers",
    "correctable_loss",
    "cross_fitted",
    "fit_correction",
    "fit_temperature",
]

Floats = NDArray[np.float64]

#: The temperatures that are considered.
COLDEST, HOTTEST = 0.05, 20.0
#: Weight of the squared distance from no correction.
PENALTY = 0.01
#: A correction is used if it lowers the held-out loss of an answer by at least this (in nats).
GAIN = 1e-4
#: Parts of the answers that are held out in turn.
FOLDS = 5


class Answers(NamedTuple):
    """Answers of a model, and whether they were right."""

    #: **Shape (answers,)**, from 0 to 1.
    probabilities: Floats
    #: **Shape (answers,)**, bool.
    right: NDArray[np.bool_]
    #: **Shape (answers,)**: the document of each, as a number, for answers of one document are
    #: held out together; None if each stands for itself.
    groups: NDArray[np.int64] | None = None

    @classmethod
    def of(cls, rows: Sequence[tuple[float, bool, int]]) -> Answers:
        """Make them of rows of probability, whether it was right, and document."""
        return cls(
            np.array([row[0] for row in rows], dtype=np.float64),
            np.array([row[1] for row in rows], dtype=bool),
            np.array([row[2] for row in rows], dtype=np.int64),
        )

    def chosen(self, which: NDArray[np.bool_]) -> Answers:
        """Return some of the answers."""
        places = np.flatnonzero(which)
        return Answers(
            np.asarray(self.probabilities)[places],
            np.asarray(self.right)[places],
            None if self.groups is None else np.asarray(self.groups)[places],
        )

    def folds(self, count: int = FOLDS) -> NDArray[np.int64]:
        """The part of each answer, by its group, in order: **shape (answers,)**."""
        groups = np.arange(len(self.right)) if self.groups is None else np.asarray(self.groups)
        _, ranks = np.unique(groups, return_inverse=True)
        folds: NDArray[np.int64] = ranks.astype(np.int64) % count
        return folds


def fit_temperature(loss: Callable[[float], float]) -> float:
    """Return the temperature of the least loss, to three digits, over its logarithm.

    The loss at a temperature, such as the mean of -log probability of what is right, is assumed to
    have one minimum.

    Examples
    --------
    >>> round(fit_temperature(lambda t: (t - 2.0) ** 2), 2)
    2.0
    """
    from scipy.optimize import minimize_scalar

    found = minimize_scalar(
        lambda log: loss(float(np.exp(log))),
        bounds=(np.log(COLDEST), np.log(HOTTEST)),
        method="bounded",
        options={"xatol": 1e-3},
    )
    return float(np.exp(found.x))


def fit_correction(answers: Answers, *, temperature: float = 1.0) -> Calibration:
    """Fit slope and intercept, where they lower the logistic loss on held-out answers.

    Parameters
    ----------
    answers
        What the model answered, and whether it was right.
    temperature
        The temperature at which the probabilities were computed.

    References
    ----------
    Platt (1999), Probabilistic Outputs for Support Vector Machines.

    Examples
    --------
    >>> rng = np.random.default_rng(0)
    >>> chances = rng.uniform(size=4000)
    >>> sure = chances**0.25 / (chances**0.25 + (1 - chances) ** 0.25)  # not sure enough
    >>> found = fit_correction(Answers(sure, rng.uniform(size=4000) < chances))
    >>> 3.5 < found.slope < 4.5
    True
    """
    probabilities = checked_probabilities(answers.probabilities)
    right = np.asarray(answers.right, dtype=bool)
    if right.shape != probabilities.shape:
        raise ProblemError(f"right: expected {len(probabilities)}, got {len(right)}.")
    answers = _open(answers._replace(probabilities=probabilities, right=right))
    plain = Calibration(temperature)
    if len(answers.right) < 2 * FOLDS:
        return plain
    folds = answers.folds()
    losses = _losses(answers.probabilities, answers.right)
    corrected = losses.copy()
    for fold in range(FOLDS):
        held_out = folds == fold
        if held_out.any() and not held_out.all():
            rest = answers.chosen(held_out)
            found = _fitted(answers.chosen(~held_out), temperature)
            corrected[held_out] = _losses(found.apply(rest.probabilities), rest.right)
    gain = float(losses.mean() - corrected.mean())
    helps = gain > GAIN * max(float(losses.mean()), 0.01)
    return _fitted(answers, temperature) if helps else plain


def correctable_loss(answers: Answers) -> float:
    """Return the mean logistic loss of answers once slope and intercept have been fitted to them.

    This compares probabilities by how well they tell right answers from wrong ones, whatever a
    correction can mend.
    """
    left = _open(answers)
    if not len(left.right):
        return 0.0
    return float(_losses(_fitted(left, 1.0).apply(left.probabilities), left.right).mean())


def cross_fitted(answers: Answers, *, temperature: float = 1.0) -> Floats:
    """Return the probability of each answer by a calibration fitted without its fold.

    This is what a calibration is measured by on the data that it is fitted on.
    """
    corrected = np.array(answers.probabilities, dtype=np.float64)
    folds = answers.folds()
    for fold in range(FOLDS):
        held_out = folds == fold
        if held_out.any() and not held_out.all():
            found = fit_correction(answers.chosen(~held_out), temperature=temperature)
            corrected[held_out] = found.apply(corrected[held_out])
    return corrected


def _open(answers: Answers) -> Answers:
    """Those that are neither certain nor impossible, of which nothing can be learned."""
    return answers.chosen((answers.probabilities > 0.0) & (answers.probabilities < 1.0))


def _fitted(answers: Answers, temperature: float) -> Calibration:
    """Return the slope and intercept of least penalised logistic loss, a convex problem."""
    from scipy.optimize import minimize

    odds, right = log_odds(answers.probabilities), answers.right
    features, plain = np.stack([odds, np.ones(len(odds))], axis=1), np.array([1.0, 0.0])

    def loss(weights: Floats) -> tuple[float, Floats]:
        found, away = features @ weights, weights - plain
        fit = np.logaddexp(0.0, np.where(right, -found, found)).sum()
        gradient = features.T @ (sigmoid(found) - right) + PENALTY * away
        return float(fit + 0.5 * PENALTY * (away**2).sum()), gradient

    limits = [(0.05, None), (None, None)]
    slope, intercept = minimize(loss, plain, jac=True, method="L-BFGS-B", bounds=limits).x
    return Calibration(temperature, float(slope), float(intercept))


def _losses(probabilities: Floats, right: NDArray[np.bool_]) -> Floats:
    """The logistic loss of each answer."""
    clipped = np.clip(probabilities, 1e-9, 1.0 - 1e-9)
    losses: Floats = -np.log(np.where(right, clipped, 1.0 - clipped))
    return losses
