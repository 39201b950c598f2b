"""Product quantisation: vectors as a few bytes each."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

__all__ = ["CENTROIDS", "Quantised", "nearest", "quantise"]

#: Centroids of each part: what a byte can number.
CENTROIDS = 256

#: Passes of k-means; later ones change little.
_PASSES = 12
#: Vectors compared at once.
_BLOCK = 8192


class Quantised(NamedTuple):
    """Vectors of which each part is the nearest of 256 centroids.

    Attributes
    ----------
    codes
        **Shape (vectors, parts)**, uint8: which centroid.
    centroids
        **Shape (parts, 256, size)**, float16: part p has the columns p, p + parts, ...
    """

    codes: NDArray[np.uint8]
    centroids: NDArray[np.float16]

    def rows(self, places: NDArray[np.int64]) -> NDArray[np.float32]:
        """**Shape (places, size * parts)**: vectors, zeros at places below 0."""
        parts = np.arange(self.codes.shape[1])
        found = self.centroids[parts, self.codes[places]].astype(np.float32)
        found[places < 0] = 0.0
        width = found.shape[1] * found.shape[2]
        return np.ascontiguousarray(found.transpose(0, 2, 1)).reshape(len(places), width)


def quantise(vectors: NDArray[np.float32], parts: int, seed: int = 0) -> Quantised:
    """Quantise vectors by k-means on each part of their columns.

    Parameters
    ----------
    vectors
        **Shape (vectors, columns)**.
    parts
        Bytes a vector; columns are filled with zeros to a multiple of it.
    seed
        Of the first centroids.

    Notes
    -----
    Jégou, Douze, Schmid 2011, *Product Quantization for Nearest Neighbor Search*. Columns of
    principal components fall in variance: every part takes some of all.

    Examples
    --------
    >>> vectors = np.eye(4, dtype=np.float32)
    >>> bool((quantise(vectors, parts=2).rows(np.arange(4)) == vectors).all())
    True
    """
    rng = np.random.default_rng(seed)
    columns = -(-vectors.shape[1] // parts) * parts
    filled = np.zeros((len(vectors), columns), dtype=np.float32)
    filled[:, : vectors.shape[1]] = vectors
    codes = np.empty((len(vectors), parts), dtype=np.uint8)
    centroids = np.zeros((parts, CENTROIDS, columns // parts), dtype=np.float16)
    for part in range(parts):
        points = np.ascontiguousarray(filled[:, part::parts])
        means = _means(points, rng)
        centroids[part, : len(means)] = means
        codes[:, part] = nearest(points, means)
    return Quantised(codes, centroids)


def _means(points: NDArray[np.float32], rng: np.random.Generator) -> NDArray[np.float32]:
    """Lloyd's algorithm, from points drawn at random; a mean of no point is drawn anew."""
    distinct = np.unique(points, axis=0)
    if len(distinct) <= CENTROIDS:
        return distinct
    means = distinct[rng.choice(len(distinct), CENTROIDS, replace=False)]
    for _ in range(_PASSES):
        closest = nearest(points, means)
        counts = np.bincount(closest, minlength=CENTROIDS)
        for column, values in enumerate(points.T):
            sums = np.bincount(closest, values, CENTROIDS)
            means[:, column] = sums / np.maximum(counts, 1)
        empty = np.flatnonzero(counts == 0)
        means[empty] = distinct[rng.choice(len(distinct), len(empty))]
    return means


def nearest(points: NDArray[np.float32], means: NDArray[np.float32]) -> NDArray[np.int64]:
    """**Shape (points,)**: which of the means is the nearest to each point."""
    halves = (means * means).sum(axis=1) / 2
    blocks = range(0, len(points), _BLOCK)
    return np.concatenate(
        [np.zeros(0, dtype=np.int64)]
        + [(points[b : b + _BLOCK] @ means.T - halves).argmax(axis=1) for b in blocks]
    )
