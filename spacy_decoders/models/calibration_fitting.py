"""Fitting a calibration to answers of which it is known whether they were right."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from ..errors import ProblemError
from .calibration import (
    Calibration,
    checked_probabilities,
    log_odds,
    pieces,
    sigmoid,
)

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
#: Weight of the squared offsets of labels, and of the other weights' distance from no change.
LABEL_PENALTY, PENALTY = 2.0, 0.01
#: A correction is used if it lowers the held-out loss of an answer by at least this (in nats).
GAIN = 1e-4
#: Parts of the answers that are held out in turn.
FOLDS = 5
STEPS = 200


class Answers(NamedTuple):
    """Answers of a model, and whether they were right.

    Attributes
    ----------
    probabilities
        **Shape (answers,)**, from 0 to 1.
    right
        **Shape (answers,)**, bool.
    labels
        The label of each; None if they have none.
    lengths
        **Shape (answers,)**: the tokens of each; None where each has one.
    groups
        **Shape (answers,)**: the document of each, as a number, for answers of one document are
        held out together; None if each stands for itself.
    """

    probabilities: Floats
    right: NDArray[np.bool_]
    labels: Sequence[str] | None = None
    lengths: Floats | None = None
    groups: NDArray[np.int64] | None = None

    def chosen(self, which: NDArray[np.bool_]) -> Answers:
        """Return some of the answers."""
        places = np.flatnonzero(which)
        return Answers(
            np.asarray(self.probabilities)[places],
            np.asarray(self.right)[places],
            None if self.labels is None else [self.labels[place] for place in places.tolist()],
            None if self.lengths is None else np.asarray(self.lengths)[places],
            None if self.groups is None else np.asarray(self.groups)[places],
        )

    def folds(self, count: int = FOLDS) -> NDArray[np.int64]:
        """The part of each answer, by its group, in order: **shape (answers,)**."""
        groups = np.arange(len(self.right)) if self.groups is None else np.asarray(self.groups)
        _, ranks = np.unique(groups, return_inverse=True)
        folds: NDArray[np.int64] = ranks.astype(np.int64) % count
        return folds


def fit_temperature(loss: Callable[[float], float], *, steps: int = 18) -> float:
    """Return the temperature of the least loss, by golden-section search over its logarithm.

    Parameters
    ----------
    loss
        The loss at a temperature, such as the mean of -log probability of what is right; assumed
        to have one minimum.
    steps
        How often the interval is made smaller; 18 give three digits.

    Examples
    --------
    >>> round(fit_temperature(lambda t: (t - 2.0) ** 2), 2)
    2.0
    """
    ratio = (np.sqrt(5.0) - 1.0) / 2.0
    low, high = np.log(COLDEST), np.log(HOTTEST)
    left, right = high - ratio * (high - low), low + ratio * (high - low)
    at_left, at_right = loss(float(np.exp(left))), loss(float(np.exp(right)))
    for _ in range(steps):
        if at_left <= at_right:
            high, right, at_right = right, left, at_left
            left = high - ratio * (high - low)
            at_left = loss(float(np.exp(left)))
        else:
            low, left, at_left = left, right, at_right
            right = low + ratio * (high - low)
            at_right = loss(float(np.exp(right)))
    return float(np.exp(left if at_left <= at_right else right))


def fit_correction(answers: Answers, *, temperature: float = 1.0) -> Calibration:
    """Fit the simplest correction that helps on held-out answers.

    Considered are, in this order: none; slope and intercept; a slope that differs between
    intervals; also the length; also an offset for each label. A later one is used if it lowers
    the cross-validated logistic loss.

    Parameters
    ----------
    answers
        What the model answered, and whether it was right.
    temperature
        The temperature at which the probabilities were computed.

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
    # of what is certain, or impossible, nothing can be learned
    open_ones = (probabilities > 0.0) & (probabilities < 1.0)
    answers = answers._replace(probabilities=probabilities, right=right).chosen(open_ones)
    best = Calibration(temperature)
    if len(answers.right) < 2 * FOLDS:
        return best
    least = _loss(best.apply(answers.probabilities), answers.right)
    folds = answers.folds()
    for family in _families(answers):
        losses = np.zeros(len(answers.right))
        for fold in range(FOLDS):
            held_out = folds == fold
            if held_out.all() or not held_out.any():
                continue
            found = _fitted(answers.chosen(~held_out), temperature, family)
            rest = answers.chosen(held_out)
            corrected = found.apply(rest.probabilities, rest.labels, rest.lengths)
            losses[held_out] = _losses(corrected, rest.right)
        loss = float(losses.mean())
        if loss < least - GAIN * max(least, 0.01):
            least = loss
            best = _fitted(answers, temperature, family)
    return best


def correctable_loss(answers: Answers) -> float:
    """Return the mean logistic loss of answers once slope and intercept have been fitted to them.

    This compares probabilities by how well they tell right answers from wrong ones, whatever a
    correction can mend.
    """
    open_ones = (answers.probabilities > 0.0) & (answers.probabilities < 1.0)
    left = answers.chosen(open_ones)
    if not len(left.right):
        return 0.0
    fitted = _fitted(left, 1.0, _Family())
    return _loss(fitted.apply(left.probabilities), left.right)


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
            rest = answers.chosen(held_out)
            corrected[held_out] = found.apply(rest.probabilities, rest.labels, rest.lengths)
    return corrected


class _Family(NamedTuple):
    """What a correction may depend on, besides the probability itself."""

    curved: bool = False
    length: bool = False
    labels: bool = False


def _families(answers: Answers) -> list[_Family]:
    """The corrections to consider."""
    families = [_Family(), _Family(curved=True)]
    longer = answers.lengths is not None and bool((np.asarray(answers.lengths) != 1).any())
    if longer:
        families.append(_Family(curved=True, length=True))
    if answers.labels is not None and len(set(answers.labels)) > 1:
        families += [_Family(curved, longer, labels=True) for curved in (False, True)]
    return families


def _fitted(answers: Answers, temperature: float, family: _Family) -> Calibration:
    """Fit one family: a convex problem, as every weight is penalised."""
    odds = log_odds(answers.probabilities)
    slopes = pieces(odds) if family.curved else odds[:, None]
    columns = [slopes, np.ones((len(odds), 1))]
    if family.length:
        lengths = np.asarray(answers.lengths, dtype=np.float64)
        columns.append(np.log(np.maximum(lengths, 1.0))[:, None])
    names: list[str] = []
    if family.labels and answers.labels is not None:
        names = sorted(set(answers.labels))
        number = {name: place for place, name in enumerate(names)}
        of_answer = np.array([number[label] for label in answers.labels])
        columns.append((of_answer[:, None] == np.arange(len(names))).astype(np.float64))
    bends = slopes.shape[1]
    weights = _logistic(np.concatenate(columns, axis=1), answers.right, bends, len(names))
    plain = len(weights) - len(names)
    slope = max(float(weights[:bends].mean()), 0.05)
    return Calibration(
        temperature,
        slope=slope,
        intercept=float(weights[bends]),
        length=float(weights[bends + 1]) if family.length else 0.0,
        labels={name: float(x) for name, x in zip(names, weights[plain:], strict=True)},
        curve=[float(x) / slope for x in weights[:bends]] if family.curved else None,
    )


def _logistic(features: Floats, right: NDArray[np.bool_], bends: int, labels: int) -> Floats:
    """Return the weights of least penalised loss.

    The first `bends` are slopes, not negative and close to 1; the others are close to 0.
    """
    from scipy.optimize import minimize

    size = features.shape[1]
    prior = np.zeros(size)
    prior[:bends] = 1.0
    penalty = np.full(size, PENALTY)
    penalty[:bends] *= bends**2
    penalty[size - labels :] = LABEL_PENALTY

    def loss(weights: Floats) -> tuple[float, Floats]:
        odds = features @ weights
        away = weights - prior
        fit = np.logaddexp(0.0, np.where(right, -odds, odds)).sum()
        gradient = features.T @ (sigmoid(odds) - right) + penalty * away
        return float(fit + 0.5 * (penalty * away**2).sum()), gradient

    limits = [(0.0, None)] * bends + [(None, None)] * (size - bends)
    options = {"maxiter": STEPS, "maxcor": 30}
    found = minimize(loss, prior, jac=True, method="L-BFGS-B", bounds=limits, options=options)
    weights: Floats = found.x
    return weights


def _loss(probabilities: Floats, right: NDArray[np.bool_]) -> float:
    return float(_losses(probabilities, right).mean())


def _losses(probabilities: Floats, right: NDArray[np.bool_]) -> Floats:
    """The logistic loss of each answer."""
    clipped = np.clip(probabilities, 1e-9, 1.0 - 1e-9)
    losses: Floats = -np.log(np.where(right, clipped, 1.0 - clipped))
    return losses
