"""Max-marginal margins: how much worse the best labelling with another label at a token is."""

from __future__ import annotations

import math

import numpy as np
from numpy.typing import ArrayLike, NDArray

from ...arrays import is_number, read_only
from ...errors import ProblemError
from .certifying import SHARE
from .forward_dominance import ForwardDominance
from .kernels import lattice
from .problem import ChainModel, Sentences

__all__ = ["max_marginal_margins"]


def max_marginal_margins(
    model: ChainModel,
    emissions: ArrayLike,
    lengths: ArrayLike | None = None,
    *,
    cap: float = math.inf,
) -> NDArray[np.float32]:
    """Return how much worse the best labelling with another label at each token is.

    Parameters
    ----------
    model
        The scores that all sentences share.
    emissions
        **Shape (n, L)**, or of several sentences laid end to end.
    lengths
        **Shape (sentences,)**: tokens of each sentence; None for one sentence.
    cap
        Larger margins are returned as `cap`. Usually only small margins matter, and a cap makes
        this several times faster.

    Returns
    -------
    **Shape (n,)**, float32, not negative: 0 where another labelling is as good, ``inf`` (or
    `cap`) where no legal labelling has another label at that token. Computed in float64: exact
    to ``1e-9 * (1 + scale)``, for the sum of the absolute scores of the best labelling's parts,
    and then rounded to float32.

    Raises
    ------
    ProblemError
        If a shape is wrong, a score is NaN or ``+inf``, or `cap` is not greater than 0.
    InfeasibleError
        If a sentence has no legal labelling.

    Examples
    --------
    >>> max_marginal_margins(ChainModel([[1, 0], [0, 1]]), [[3, 0], [0, 1.5]])
    array([2. , 0.5], dtype=float32)
    """
    if not is_number(cap) or not cap > 0:
        raise ProblemError(f"cap: expected a number greater than 0, got {cap!r}.")
    sentences = Sentences.of(model, emissions, lengths)
    best = ForwardDominance().solve(model, sentences)
    margins = lattice.margins(
        model.links,
        model.padded.transposed,
        sentences.emissions.reshape(-1),
        sentences.offsets,
        model.size,
        best.labels,
        float(cap),
        SHARE,
    )
    return read_only(margins.astype(np.float32))
