"""Fitting a calibration to answers of which it is known whether they were right."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import NamedTuple

import numpy as np
from numpy.typing import ArrayLike, NDArray

from ..errors import ProblemError
from .calibration import Calibration, checked_probabilities, log_odds, sigmoid, softmax

__all__ = ["Answers", "cross_fitted", "fit_correction", "fit_temperature", "softmax_temperature"]

Floats = NDArray[np.float64]

#: The temperatures that are considered.
COLDEST, HOTTEST = 0.05, 20.0
#: Weight of the squared offsets of labels, and of the other weights' distance from no change.
LABEL_PENALTY, PENALTY = 2.0, 0.01
#: A correction is used if it lowers the held-out loss of an answer by at least this (in nats).
GAIN = 1e-4
#: Parts of the answers that are held out in turn.
FOLDS = 5
NEWTON_STEPS = 50


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


def softmax_temperature(scores: Sequence[ArrayLike], right: Sequence[int]) -> float:
    """Return the temperature at which the right ones of some alternatives are most probable.

    Parameters
    ----------
    scores
        For each choice, the scores of its alternatives, **shape (alternatives,)**.
    right
        For each choice, the index of the right alternative.

    Examples
    --------
    >>> softmax_temperature([[4.0, 0.0]] * 4, [0, 0, 0, 1]) > 1.0
    True
    """
    if len(scores) != len(right):
        raise ProblemError(f"right: expected {len(scores)}, one a choice; got {len(right)}.")
    if not len(scores):
        return 1.0

    def loss(temperature: float) -> float:
        chances = [
            float(softmax(of_choice, temperature)[index])
            for of_choice, index in zip(scores, right, strict=True)
        ]
        return float(-np.log(np.maximum(chances, 1e-300)).mean())

    return fit_temperature(loss)


def fit_correction(answers: Answers, *, temperature: float = 1.0) -> Calibration:
    """Fit the simplest correction that helps on held-out answers.

    Considered are, in this order: none; slope and intercept; also the length; also an offset for
    each label. A later one is used if it lowers the cross-validated logistic loss.

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
    for with_length, with_labels in _families(answers):
        losses = np.zeros(len(answers.right))
        for fold in range(FOLDS):
            held_out = folds == fold
            if held_out.all() or not held_out.any():
                continue
            found = _fitted(answers.chosen(~held_out), temperature, with_length, with_labels)
            rest = answers.chosen(held_out)
            corrected = found.apply(rest.probabilities, rest.labels, rest.lengths)
            losses[held_out] = _losses(corrected, rest.right)
        loss = float(losses.mean())
        if loss < least - GAIN * max(least, 0.01):
            least = loss
            best = _fitted(answers, temperature, with_length, with_labels)
    return best


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


def _families(answers: Answers) -> list[tuple[bool, bool]]:
    """The corrections to consider: whether by length, whether by label."""
    longer = answers.lengths is not None and bool((np.asarray(answers.lengths) != 1).any())
    families = [(False, False)]
    if longer:
        families.append((True, False))
    if answers.labels is not None and len(set(answers.labels)) > 1:
        families.append((longer, True))
    return families


def _fitted(
    answers: Answers, temperature: float, with_length: bool, with_labels: bool
) -> Calibration:
    """Fit by Newton's method: convex, as every weight is penalised."""
    columns = [log_odds(answers.probabilities), np.ones(len(answers.right))]
    if with_length:
        columns.append(np.log(np.maximum(np.asarray(answers.lengths, dtype=np.float64), 1.0)))
    names: list[str] = []
    if with_labels and answers.labels is not None:
        names = sorted(set(answers.labels))
        number = {name: place for place, name in enumerate(names)}
        of_answer = np.array([number[label] for label in answers.labels])
        columns += [(of_answer == place).astype(np.float64) for place in range(len(names))]
    weights = _logistic(np.stack(columns, axis=1), answers.right, len(names))
    plain = len(weights) - len(names)
    return Calibration(
        temperature,
        slope=max(float(weights[0]), 0.05),
        intercept=float(weights[1]),
        length=float(weights[2]) if with_length else 0.0,
        labels={name: float(x) for name, x in zip(names, weights[plain:], strict=True)},
    )


def _logistic(features: Floats, right: NDArray[np.bool_], labels: int) -> Floats:
    """Return the weights of least penalised loss; the first starts from 1, the others from 0."""
    size = features.shape[1]
    prior = np.zeros(size)
    prior[0] = 1.0
    penalty = np.full(size, PENALTY)
    penalty[size - labels :] = LABEL_PENALTY

    def loss(weights: Floats) -> float:
        odds = features @ weights
        fit = np.logaddexp(0.0, np.where(right, -odds, odds)).sum()
        return float(fit + 0.5 * (penalty * (weights - prior) ** 2).sum())

    weights = prior.copy()
    now = loss(weights)
    for _ in range(NEWTON_STEPS):
        chance = sigmoid(features @ weights)
        gradient = features.T @ (chance - right) + penalty * (weights - prior)
        curvature = (features * (chance * (1.0 - chance))[:, None]).T @ features
        step = np.linalg.solve(curvature + np.diag(penalty), gradient)
        length = 1.0
        while length > 1e-6 and (then := loss(weights - length * step)) > now:
            length *= 0.5
        if length <= 1e-6:
            break
        weights, gained, now = weights - length * step, now - then, then
        if gained < 1e-9 * (1.0 + now):
            break
    return weights


def _loss(probabilities: Floats, right: NDArray[np.bool_]) -> float:
    return float(_losses(probabilities, right).mean())


def _losses(probabilities: Floats, right: NDArray[np.bool_]) -> Floats:
    """The logistic loss of each answer."""
    clipped = np.clip(probabilities, 1e-9, 1.0 - 1e-9)
    losses: Floats = -np.log(np.where(right, clipped, 1.0 - clipped))
    return losses
