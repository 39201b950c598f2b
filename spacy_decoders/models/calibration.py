"""Calibration: probabilities that match how often a model's answers are right.

A temperature divides the scores before they become probabilities, and a logistic correction maps
the probability of an answer to the share of such answers that are right (Platt 1999,
*Probabilistic Outputs for Support Vector Machines*). Both are fitted to held-out answers that are
known to be right or wrong, and stored in plain types with the component. Quality is measured by
how far probabilities are from the share that is right, and by how well they rank answers.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, fields
from math import inf
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import ArrayLike

from ..arrays import Booleans, Floats, Integers, is_number
from ..errors import ProblemError

__all__ = [
    "Answers", "Calibration", "auroc", "calibration_error", "correctable_loss", "cross_fitted",
    "fit_correction", "fit_temperature", "sigmoid",
]  # fmt: skip


#: Probabilities are clipped to between this and 1 minus this, beyond which data are too few.
LEAST = 1e-9
#: How far a sum of probabilities may exceed 1 by rounding.
ROUNDED = 1e-6
#: The range of temperatures.
COLDEST, HOTTEST = 0.05, 20.0
#: The ridge penalty on intercept and logarithm of the slope, against overfitting to few answers.
PENALTY = 10.0
#: The number of folds of cross-validation.
FOLDS = 5
#: The number of bins of the calibration error.
BINS = 15


@dataclass(frozen=True)
class Calibration:
    """The calibration of the probabilities of one kind of answer.

    A probability p, computed from scores that were divided by `temperature`, becomes
    ``sigmoid(slope * log_odds(p) + intercept)``. Raises `ProblemError` if a value is not a finite
    number, or the temperature or slope is not greater than 0.

    Examples
    --------
    >>> calibration = Calibration(slope=0.5)
    >>> calibration.apply([0.9, 0.5]).round(3).tolist()
    [0.75, 0.5]
    >>> Calibration.from_dict(calibration.as_dict()) == calibration
    True
    """

    #: The divisor of scores, greater than 0.
    temperature: float = 1.0
    #: The correction of log-odds; 1 and 0 change nothing. A slope greater than 0 keeps the order
    #: of answers.
    slope: float = 1.0
    intercept: float = 0.0

    def __post_init__(self) -> None:
        for name, value in vars(self).items():
            least = -inf if name == "intercept" else 0.0
            if not is_number(value) or not least < value < inf:
                limit = "" if name == "intercept" else " greater than 0"
                raise ProblemError(f"{name}: expected a finite number{limit}; got {value!r}.")

    def apply(self, probabilities: ArrayLike) -> Floats:
        """Correct the probabilities of answers, **shape (answers,)**.

        0 and 1 are not changed: then no other answer is possible. The scores behind the
        probabilities were divided by `temperature`. Raises `ProblemError` if one is not from 0 to
        1.
        """
        given = np.asarray(probabilities, dtype=np.float64)
        if not ((given >= 0.0) & (given <= 1.0 + ROUNDED)).all():
            raise ProblemError(f"probabilities: expected numbers from 0 to 1; got {given}.")
        given = np.minimum(given, 1.0)
        if (self.slope, self.intercept) == (1.0, 0.0):
            return given
        odds = self.slope * log_odds(given) + self.intercept
        return np.where((given > 0.0) & (given < 1.0), sigmoid(odds), given)

    def before(self, probability: float) -> float:
        """Return the probability that `apply` turns into this one.

        Examples
        --------
        >>> round(Calibration(slope=0.5).before(0.75), 3)
        0.9
        """
        odds = (log_odds([probability]) - self.intercept) / self.slope
        return float(sigmoid(odds)[0])

    def as_dict(self) -> dict[str, Any]:
        """The calibration in plain types."""
        return dict(vars(self))

    @classmethod
    def from_dict(cls, saved: Mapping[str, Any]) -> Calibration:
        """Restore a calibration from :meth:`as_dict`.

        Raises `ProblemError` if there is an unknown key, or a value is not allowed.
        """
        if not isinstance(saved, Mapping):
            raise ProblemError(f"calibration: expected a dict; got {saved!r}.")
        unknown = sorted(set(saved) - {known.name for known in fields(cls)})
        if unknown:
            raise ProblemError(
                f"calibration: unknown {', '.join(unknown)}; calibrate anew with `python -m spacy "
                "decoders calibrate`."
            )
        return cls(**saved)


def log_odds(probabilities: ArrayLike) -> Floats:
    """Return log(p / (1 - p)), with p clipped to at least 1e-9 from 0 and 1."""
    clipped = np.clip(np.asarray(probabilities, dtype=np.float64), LEAST, 1.0 - LEAST)
    return np.log(clipped) - np.log1p(-clipped)


def sigmoid(odds: Floats) -> Floats:
    """Return 1 / (1 + exp(-odds))."""
    small = np.exp(-np.abs(odds))
    return np.where(odds >= 0.0, 1.0, small) / (1.0 + small)


class Answers(NamedTuple):
    """Answers of a model, and whether they were right."""

    #: **Shape (answers,)**, from 0 to 1.
    probabilities: Floats
    #: **Shape (answers,)**, bool.
    right: Booleans
    #: **Shape (answers,)**: the number of each one's document: answers of one document are held
    #: out together.
    groups: Integers

    @classmethod
    def of(cls, rows: Sequence[tuple[float, bool, int]]) -> Answers:
        """Make answers from rows of (probability, whether it was right, document)."""
        return cls(
            np.array([row[0] for row in rows], dtype=np.float64),
            np.array([row[1] for row in rows], dtype=bool),
            np.array([row[2] for row in rows], dtype=np.int64),
        )

    def chosen(self, which: Booleans) -> Answers:
        """Return some of the answers."""
        return Answers(self.probabilities[which], self.right[which], self.groups[which])

    def loss(self) -> float:
        """The mean logistic loss."""
        clipped = np.clip(self.probabilities, LEAST, 1.0 - LEAST)
        return float(-np.log(np.where(self.right, clipped, 1.0 - clipped)).mean())

    def folds(self) -> Integers:
        """The fold of each answer, by its group: **shape (answers,)**."""
        _, ranks = np.unique(self.groups, return_inverse=True)
        return ranks.astype(np.int64) % FOLDS


def fit_temperature(loss: Callable[[float], float]) -> float:
    """Return the temperature of least loss, to three digits.

    The loss at a temperature, such as the mean of -log probability of right answers, is assumed to
    have a single minimum.

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
    """Fit slope and intercept by the least penalised logistic loss.

    The probabilities of the answers were computed at the `temperature`; those that are 0 or 1 are
    ignored.

    Examples
    --------
    >>> rng = np.random.default_rng(0)
    >>> chances = rng.uniform(size=4000)
    >>> sure = chances**0.25 / (chances**0.25 + (1 - chances) ** 0.25)  # not sure enough
    >>> found = fit_correction(Answers(sure, rng.uniform(size=4000) < chances, np.arange(4000)))
    >>> 3.5 < found.slope < 4.5
    True
    """
    from scipy.optimize import minimize

    left = _open(answers)
    odds, right = log_odds(left.probabilities), left.right

    def loss(values: Floats) -> tuple[float, Floats]:
        scaled = np.exp(values[0]) * odds
        found = scaled + values[1]
        fit, away = np.logaddexp(0.0, np.where(right, -found, found)).sum(), sigmoid(found) - right
        gradient = np.array([scaled @ away, away.sum()]) + PENALTY * values
        return float(fit + 0.5 * PENALTY * (values @ values)), gradient

    log_slope, intercept = minimize(loss, np.zeros(2), jac=True, method="L-BFGS-B").x
    return Calibration(temperature, float(np.exp(log_slope)), float(intercept))


def correctable_loss(answers: Answers) -> float:
    """Return the mean logistic loss of answers after a slope and intercept are fitted to them.

    It compares probabilities by how well they tell right answers from wrong ones, apart from what
    a correction can repair.
    """
    left = _open(answers)
    if not len(left.right):
        return 0.0
    return left._replace(probabilities=fit_correction(left).apply(left.probabilities)).loss()


def cross_fitted(answers: Answers, *, temperature: float = 1.0) -> Answers:
    """Return the answers with probabilities that are each calibrated without their own fold.

    A calibration is evaluated with these on the data that it is fitted to.
    """
    corrected = np.array(answers.probabilities, dtype=np.float64)
    folds = answers.folds()
    for fold in range(FOLDS):
        held_out = folds == fold
        if held_out.any() and not held_out.all():
            fitted = fit_correction(answers.chosen(~held_out), temperature=temperature)
            corrected[held_out] = fitted.apply(corrected[held_out])
    return answers._replace(probabilities=corrected)


def calibration_error(answers: Answers) -> float:
    """Return the expected calibration error, from 0 to 1 (Guo et al. 2017, equation 3).

    In each bin, the mean probability is compared with the share that is right.

    Examples
    --------
    >>> answers = Answers.of([(0.9, True, 0), (0.9, False, 0), (0.1, False, 1), (0.1, False, 1)])
    >>> round(calibration_error(answers), 3)
    0.25
    """
    places = np.minimum((answers.probabilities * BINS).astype(np.int64), BINS - 1)
    surplus = np.bincount(places, answers.probabilities - answers.right, BINS)
    return float(np.abs(surplus).sum() / max(1, len(answers.right)))


def auroc(answers: Answers) -> float:
    """Return the probability that a right answer ranks above a wrong one, where ties count half.

    NaN if all are right or all are wrong.

    Examples
    --------
    >>> auroc(Answers.of([(0.9, True, 0), (0.8, False, 0), (0.3, False, 0)]))
    1.0
    """
    from spacy.scorer import ROCAUCScore

    found = ROCAUCScore()
    found.cands, found.golds = answers.probabilities.tolist(), answers.right.tolist()
    return float(found.score) if found.is_binary() else float("nan")


def _open(answers: Answers) -> Answers:
    """The answers whose probability is neither 0 nor 1, which can't be corrected."""
    return answers.chosen((answers.probabilities > 0.0) & (answers.probabilities < 1.0))
