"""Sentence boundaries."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray
from thinc.api import Linear, Model, Relu, chain
from thinc.types import Floats2d

__all__ = ["Boundaries", "sentence_offsets"]


def Boundaries(hidden: int, nI: int, dropout: float = 0.0) -> Model[Floats2d, Floats2d]:
    """Score each token as the first of a sentence.

    Takes token vectors, shape (tokens, nI); returns log-odds, shape (tokens, 1).
    """
    layer: Model[Floats2d, Floats2d] = chain(
        Relu(hidden, nI=nI, dropout=dropout), Linear(1, hidden)
    )
    layer.name = "boundaries"
    return layer


def sentence_offsets(
    log_odds: NDArray[np.float32], preset: NDArray[np.integer] | None = None
) -> NDArray[np.int64]:
    """Cut one document into sentences.

    Parameters
    ----------
    log_odds
        Log-odds of a sentence start, shape (tokens,).
    preset
        Boundaries that are set already, shape (tokens,): 1 for a start, -1 for none, 0 for
        unknown.

    Returns
    -------
    ndarray
        Where sentences begin, and at last the number of tokens.

    Examples
    --------
    >>> sentence_offsets(np.array([-1.0, 2.0, 3.0, -1.0]), np.array([0, 0, -1, 1]))
    array([0, 1, 3, 4])
    """
    starts = log_odds > 0
    if preset is not None:
        starts = np.where(preset == 0, starts, preset > 0)
    if len(starts):
        starts[0] = True
    return np.append(np.flatnonzero(starts), len(starts))
