"""Separation: rows of the grandparent program that a point violates."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

__all__ = ["crossing_arcs", "exceeded_arcs", "implied_chains"]

Floats = NDArray[np.float64]
Pairs = tuple[NDArray[np.intp], NDArray[np.intp]]
Triples = tuple[NDArray[np.intp], NDArray[np.intp], NDArray[np.intp]]

#: Violations below this are within the solver's tolerance.
SLACK = 1e-6


def exceeded_arcs(arcs: Floats, chains: Triples, values: Floats) -> NDArray[np.bool_]:
    """Return which chains g -> p -> c exceed their upper arc: violated GPArc rows."""
    g, p, _ = chains
    exceeded: NDArray[np.bool_] = values > arcs[g, p] + SLACK
    return exceeded


def implied_chains(arcs: Floats) -> Triples:
    """Return the chains that both their arcs imply; without a column they violate ArcGP.

    References
    ----------
    Riedel, Smith and McCallum (2012), section 4.4.
    """
    h, m = np.nonzero(arcs > SLACK)
    one, other = np.nonzero(m[:, None] == h[None, :])
    g, p, c = h[one], m[one], m[other]
    implied = arcs[g, p] + arcs[p, c] > 1.0 + SLACK
    return g[implied], p[implied], c[implied]


def crossing_arcs(arcs: Floats) -> tuple[Pairs, Pairs]:
    """Return pairs of crossing arcs whose values add up to more than one."""
    h, m = np.nonzero(arcs > SLACK)
    left, right = np.minimum(h, m), np.maximum(h, m)
    inside = (left[:, None] < left) & (left < right[:, None]) & (right > right[:, None])
    one, other = np.nonzero(inside & (arcs[h, m][:, None] + arcs[h, m] > 1.0 + SLACK))
    return (h[one], m[one]), (h[other], m[other])
