"""Calibration: from the probabilities of a model to how often its answers are right.

A temperature divides the scores before they become probabilities, and a logistic correction maps
the probability of an answer to the share of such answers that is right (Platt 1999). Both are
fitted on held-out data (:mod:`.calibration_fitting`) and stored in plain types with the component.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, fields
from math import inf
from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

from ..arrays import is_number
from ..errors import ProblemError

__all__ = ["Calibration", "log_odds", "sigmoid", "softmax"]

Floats = NDArray[np.float64]

#: Probabilities are corrected between this and 1 minus this: beyond, no held-out data tells.
LEAST = 1e-9
#: By so much a sum of probabilities may exceed 1.
ROUNDED = 1e-6


@dataclass(frozen=True)
class Calibration:
    """What turns the probabilities of one kind of answer into calibrated ones.

    A probability p, computed from scores that were divided by `temperature`, becomes
    ``sigmoid(slope * log_odds(p) + intercept)``.

    Parameters
    ----------
    temperature
        What scores are divided by, greater than 0.
    slope, intercept
        Of the correction of log-odds; 1 and 0 change nothing. The slope is greater than 0, so that
        the order of answers is kept.

    Raises
    ------
    ProblemError
        If a value is not a finite number, or the temperature or slope not greater than 0.

    Examples
    --------
    >>> calibration = Calibration(slope=0.5)
    >>> calibration.apply([0.9, 0.5]).round(3).tolist()
    [0.75, 0.5]
    >>> Calibration.from_dict(calibration.as_dict()) == calibration
    True
    """

    temperature: float = 1.0
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

        0 and 1 stay as they are: no other answer is possible then. The scores behind the
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
        corrected: Floats = np.where((given > 0.0) & (given < 1.0), sigmoid(odds), given)
        return corrected

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
                f"calibration: unknown {', '.join(unknown)}; calibrate anew by `python -m spacy "
                "decoders calibrate`."
            )
        return cls(**saved)


def log_odds(probabilities: ArrayLike) -> Floats:
    """Return log(p / (1 - p)), for p no nearer to 0 or 1 than 1e-9."""
    clipped = np.clip(np.asarray(probabilities, dtype=np.float64), LEAST, 1.0 - LEAST)
    odds: Floats = np.log(clipped) - np.log1p(-clipped)
    return odds


def sigmoid(odds: Floats) -> Floats:
    """Return 1 / (1 + exp(-odds))."""
    small = np.exp(-np.abs(odds))
    chance: Floats = np.where(odds >= 0.0, 1.0, small) / (1.0 + small)
    return chance


def softmax(scores: ArrayLike) -> Floats:
    """Return the probabilities of alternatives, proportional to exp(score).

    Of the scores, **shape (alternatives,)**, some may be ``-inf``, but not all.

    Examples
    --------
    >>> softmax([0.0, 0.0]).tolist()
    [0.5, 0.5]
    """
    given = np.asarray(scores, dtype=np.float64)
    if not given.size:
        return given
    weights = np.exp(given - given.max())
    shares: Floats = weights / weights.sum()
    return shares
