"""Bounds on the transitions, computed once for a model."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from ...arrays import read_only
from .kernels.layout import aligned

if TYPE_CHECKING:
    from .problem import ChainModel

__all__ = ["TransitionBounds"]


@dataclass(frozen=True, eq=False)
class TransitionBounds:
    """What the transitions into and out of each label are worth at most and at least.

    All have **shape (stride,)**, the number of labels rounded up to a multiple of 16, and
    are ``-inf`` beyond the labels.

    Attributes
    ----------
    most_in, least_in
        The largest and the smallest transition into each label.
    most_out, least_out
        The largest and the smallest transition out of each label.
    largest
        The largest transition, start or end score, or 0 if all are negative.

    References
    ----------
    Belanger et al. 2012, section 4.3: the bounds U of the reduced-cost oracle, and the data-
    independent terms of equation 14.
    """

    most_in: NDArray[np.float32]
    least_in: NDArray[np.float32]
    most_out: NDArray[np.float32]
    least_out: NDArray[np.float32]
    largest: float

    @classmethod
    def of(cls, model: ChainModel) -> TransitionBounds:
        """Compute the bounds of a model."""
        scores = model.transitions
        stride = len(model.padded.end)

        def padded(values: Any) -> NDArray[np.float32]:
            wide = aligned(stride)
            wide[: model.size], wide[model.size :] = values, -np.inf
            return read_only(wide)

        ends = (scores, model.start_scores, model.end_scores)
        return cls(
            padded(scores.max(axis=0)),
            padded(scores.min(axis=0)),
            padded(scores.max(axis=1)),
            padded(scores.min(axis=1)),
            max(0.0, *(float(values.max()) for values in ends)),
        )
