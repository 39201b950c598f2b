"""How far probabilities are from the share of answers that are right, and how well they rank."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
from numpy.typing import ArrayLike, NDArray

from ..errors import ProblemError
from .calibration import checked_probabilities

__all__ = [
    "Reliability",
    "auroc",
    "errors_among_least_certain",
    "reliability",
]

#: Intervals of probabilities.
BINS = 15


class Reliability(NamedTuple):
    """Answers by their probability, in intervals of the same width."""

    #: **Shape (bins,)**, int64: answers of each interval.
    counts: NDArray[np.int64]
    #: **Shape (bins,)**, float64: their mean probability; 0 where there are none.
    predicted: NDArray[np.float64]
    #: **Shape (bins,)**, float64: the share of them that is right; 0 where there are none.
    observed: NDArray[np.float64]

    @property
    def error(self) -> float:
        """The expected calibration error, from 0 to 1 (Guo et al. 2017, equation 3)."""
        total = max(1, int(self.counts.sum()))
        return float((self.counts * np.abs(self.predicted - self.observed)).sum() / total)


def reliability(probabilities: ArrayLike, right: ArrayLike, *, bins: int = BINS) -> Reliability:
    """Put answers into intervals of their probability.

    Parameters
    ----------
    probabilities
        **Shape (answers,)**, from 0 to 1.
    right
        **Shape (answers,)**, bool.
    bins
        How many intervals.

    Examples
    --------
    >>> found = reliability([0.2, 0.3, 0.9], [False, True, True], bins=2)
    >>> found.counts.tolist(), found.observed.tolist()
    ([2, 1], [0.5, 1.0])
    """
    chances, truth = _checked(probabilities, right)
    places = np.minimum((chances * bins).astype(np.int64), bins - 1)
    counts = np.bincount(places, minlength=bins)
    divisor = np.maximum(counts, 1)
    return Reliability(
        counts,
        np.bincount(places, weights=chances, minlength=bins) / divisor,
        np.bincount(places, weights=truth, minlength=bins) / divisor,
    )


def auroc(probabilities: ArrayLike, right: ArrayLike) -> float:
    """Return the probability that a right answer ranks above a wrong one, ties counting half.

    NaN if all are right, or all are wrong.

    Examples
    --------
    >>> auroc([0.9, 0.8, 0.3], [True, False, False])
    1.0
    """
    chances, truth = _checked(probabilities, right)
    positive, negative = int(truth.sum()), int((~truth).sum())
    if not positive or not negative:
        return float("nan")
    _, inverse, counts = np.unique(chances, return_inverse=True, return_counts=True)
    ranks = (np.cumsum(counts) - (counts - 1) / 2.0)[inverse]
    above = float(ranks[truth].sum()) - positive * (positive + 1) / 2.0
    return above / (positive * negative)


def errors_among_least_certain(
    probabilities: ArrayLike, right: ArrayLike, *, share: float = 0.1
) -> float:
    """Return the share of all errors that the least probable answers have; NaN without errors.

    Examples
    --------
    >>> errors_among_least_certain([0.1, 0.9, 0.8, 0.7], [False, True, False, True], share=0.25)
    0.5
    """
    chances, truth = _checked(probabilities, right)
    wrong = ~truth
    if not wrong.any():
        return float("nan")
    first = np.argsort(chances, kind="stable")[: round(share * len(chances))]
    return float(wrong[first].sum() / wrong.sum())


def _checked(
    probabilities: ArrayLike, right: ArrayLike
) -> tuple[NDArray[np.float64], NDArray[np.bool_]]:
    chances, truth = checked_probabilities(probabilities), np.asarray(right, dtype=bool)
    if truth.shape != chances.shape:
        raise ProblemError(f"right: expected {len(chances)}, one an answer; got {truth.shape}.")
    return chances, truth
