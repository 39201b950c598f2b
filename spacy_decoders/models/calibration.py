"""Calibration: from the probabilities of a model to how often its answers are right.

A temperature divides the scores before they become probabilities, and a logistic correction maps
the probability of an answer to the share of such answers that is right. Both are fitted on
held-out data (:mod:`.calibration_fitting`) and stored in plain types with the component.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import asdict, dataclass, field, fields
from math import inf, isfinite
from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

from ..arrays import is_number
from ..errors import ProblemError

__all__ = ["KNOTS", "UNCALIBRATED", "Calibration", "log_odds", "pieces", "softmax"]

Floats = NDArray[np.float64]

#: Probabilities are corrected between this and 1 minus this: beyond, no held-out data tells.
LEAST = 1e-9

#: Log-odds at which the slope of a correction may change.
KNOTS = (-2.0, 0.0, 2.0, 4.0, 6.0, 9.0)


@dataclass(frozen=True)
class Calibration:
    """What turns the probabilities of one kind of answer into calibrated ones.

    A probability p of an answer with some label and length, computed from scores that were divided
    by `temperature`, becomes::

        sigmoid(slope * log_odds(p) + intercept + length * log(its length) + labels[its label])

    where the slope may differ between log-odds of -2, 0, 2, 4, 6 and 9.

    Parameters
    ----------
    temperature
        What scores are divided by, greater than 0.
    slope, intercept
        Of the correction of log-odds; 1 and 0 change nothing. The slope is greater than 0, so that
        the order of answers with the same label and length is kept.
    curve
        What the slope is multiplied by below -2, from there to 0, and so on: seven numbers, none
        of them negative. None for the same slope everywhere.
    length
        The weight of the logarithm of an answer's length in tokens.
    labels
        An offset for each label; others have none.

    Raises
    ------
    ProblemError
        If a value is not a finite number, or the temperature or slope not greater than 0.

    Examples
    --------
    >>> calibration = Calibration(slope=0.5, labels={"LOC": -1.0})
    >>> calibration.apply([0.9, 0.9], labels=["PER", "LOC"]).round(3).tolist()
    [0.75, 0.525]
    >>> Calibration.from_dict(calibration.as_dict()) == calibration
    True
    """

    temperature: float = 1.0
    slope: float = 1.0
    intercept: float = 0.0
    length: float = 0.0
    labels: Mapping[str, float] = field(default_factory=dict)
    curve: Sequence[float] | None = None

    def __post_init__(self) -> None:
        for name in ("temperature", "slope", "intercept", "length"):
            value = getattr(self, name)
            positive = name in ("temperature", "slope")
            if not is_number(value) or not isfinite(value) or (positive and value <= 0.0):
                limit = " greater than 0" if positive else ""
                raise ProblemError(f"{name}: expected a finite number{limit}; got {value!r}.")
        if self.curve is not None:
            given = self.curve
            several = isinstance(given, Sequence) and len(given) == len(KNOTS) + 1
            if not several or not all(is_number(x) and 0.0 <= x < inf for x in given):
                raise ProblemError(
                    f"curve: expected {len(KNOTS) + 1} numbers of at least 0; got {given!r}."
                )
            # as a tuple, whatever it was saved as
            object.__setattr__(self, "curve", tuple(map(float, given)))
        if not isinstance(self.labels, Mapping):
            raise ProblemError(f"labels: expected an offset for each label; got {self.labels!r}.")
        for label, offset in self.labels.items():
            if not isinstance(label, str) or not is_number(offset) or not isfinite(offset):
                raise ProblemError(
                    f"labels: expected a finite number for each label; got {label!r}: {offset!r}."
                )

    @property
    def corrects(self) -> bool:
        """Whether there is more to it than a temperature."""
        plain = Calibration(self.temperature)
        return self != plain

    def apply(
        self,
        probabilities: ArrayLike,
        labels: Sequence[str] | None = None,
        lengths: ArrayLike | None = None,
    ) -> Floats:
        """Correct the probabilities of answers.

        Parameters
        ----------
        probabilities
            **Shape (answers,)**, each from 0 to 1, of a model whose scores were divided by
            `temperature`.
        labels
            The label of each answer; None if they have none.
        lengths
            **Shape (answers,)**: the tokens of each answer; None where each has one.

        Returns
        -------
        **Shape (answers,)**, float64. 0 and 1 stay as they are: no other answer is possible then.

        Raises
        ------
        ProblemError
            If lengths differ, or a probability is not from 0 to 1.
        """
        given = checked_probabilities(probabilities)
        if not self.corrects:
            return given
        odds = log_odds(given)
        if self.curve is not None:
            odds = pieces(odds) @ np.asarray(self.curve)
        odds = self.slope * odds + self.intercept
        if self.length and lengths is not None:
            odds += self.length * np.log(np.maximum(_as_many("lengths", lengths, given), 1.0))
        if self.labels and labels is not None:
            odds += _as_many("labels", [self.labels.get(label, 0.0) for label in labels], given)
        corrected: Floats = np.where((given > 0.0) & (given < 1.0), sigmoid(odds), given)
        return corrected

    def as_dict(self) -> dict[str, Any]:
        """The calibration in plain types."""
        curve = None if self.curve is None else list(self.curve)
        return {**asdict(self), "labels": dict(self.labels), "curve": curve}

    @classmethod
    def from_dict(cls, saved: Mapping[str, Any]) -> Calibration:
        """Restore a calibration from :meth:`as_dict`.

        Raises
        ------
        ProblemError
            If there is an unknown key, or a value is not allowed.
        """
        if not isinstance(saved, Mapping):
            raise ProblemError(f"calibration: expected a dict; got {saved!r}.")
        unknown = sorted(set(saved) - {known.name for known in fields(cls)})
        if unknown:
            raise ProblemError(f"calibration: unknown {', '.join(unknown)}.")
        return cls(**saved)


#: Probabilities as the model gives them.
UNCALIBRATED = Calibration()


def log_odds(probabilities: ArrayLike) -> Floats:
    """Return log(p / (1 - p)), for p no nearer to 0 or 1 than 1e-9."""
    clipped = np.clip(np.asarray(probabilities, dtype=np.float64), LEAST, 1.0 - LEAST)
    odds: Floats = np.log(clipped) - np.log1p(-clipped)
    return odds


def pieces(odds: Floats) -> Floats:
    """Return the part of each number that lies between two `KNOTS`: **shape (n, knots + 1)**.

    Each row sums to its number.

    Examples
    --------
    >>> pieces(np.array([3.0, -1.0])).tolist()
    [[0.0, 0.0, 2.0, 1.0, 0.0, 0.0, 0.0], [0.0, -1.0, 0.0, 0.0, 0.0, 0.0, 0.0]]
    """
    ends = np.array([-np.inf, *KNOTS, np.inf])
    column = np.asarray(odds)[:, None]
    above = np.clip(column, np.maximum(ends[:-1], 0.0), np.maximum(ends[1:], 0.0))
    below = np.clip(column, np.minimum(ends[:-1], 0.0), np.minimum(ends[1:], 0.0))
    parts: Floats = (above - np.maximum(ends[:-1], 0.0)) + (below - np.minimum(ends[1:], 0.0))
    return parts


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


def checked_probabilities(probabilities: ArrayLike) -> Floats:
    """Return probabilities as float64, or raise if one is not from 0 to 1."""
    given = np.asarray(probabilities, dtype=np.float64)
    if given.ndim != 1:
        raise ProblemError(f"probabilities: expected one dimension; got {given.shape}.")
    bad = np.flatnonzero(~((given >= 0.0) & (given <= 1.0 + 1e-6)))
    if len(bad):
        raise ProblemError(
            f"probabilities: expected numbers from 0 to 1; got {given[bad[0]]} at {bad[0]}."
        )
    return np.minimum(given, 1.0)


def _as_many(name: str, values: ArrayLike | Iterable[float], given: Floats) -> Floats:
    """Return values as float64, one for each probability."""
    array = np.asarray(values, dtype=np.float64)
    if array.shape != given.shape:
        raise ProblemError(f"{name}: expected {len(given)}, one an answer; got {len(array)}.")
    return array
