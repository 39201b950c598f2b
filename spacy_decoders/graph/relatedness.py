"""Pair costs from shared neighbours, as alternatives to distances."""

from __future__ import annotations

import numpy as np
from numpy.typing import ArrayLike, NDArray

from .concept_graph import ConceptGraph

__all__ = ["milne_witten", "pointwise_mutual_information"]


def milne_witten(graph: ConceptGraph, vertices: ArrayLike) -> NDArray[np.float64]:
    r"""**Shape:** (v, v): the normalised distance of Milne and Witten, from 0 to 1.

    .. math:: \frac{\log \max(|A|, |B|) - \log |A \cap B|}{\log n - \log \min(|A|, |B|)},

    for the sets of neighbours A and B; 1 where they share none, and 0 from a vertex to
    itself.

    References
    ----------
    Milne, Witten 2008, *Learning to Link with Wikipedia*.

    Examples
    --------
    >>> graph = ConceptGraph.from_edges([[0, 1], [0, 2], [3, 1], [3, 2], [4, 0]])
    >>> milne_witten(graph, [0, 3, 4]).round(2)
    array([[0.  , 0.44, 1.  ],
           [0.44, 0.  , 1.  ],
           [1.  , 1.  , 0.  ]])
    """
    shared, least, most = _sizes(graph, vertices)
    with np.errstate(divide="ignore", invalid="ignore"):
        costs = (np.log(most) - np.log(shared)) / (np.log(len(graph)) - np.log(least))
    costs = np.where(shared > 0, np.clip(np.nan_to_num(costs, nan=0.0), 0.0, 1.0), 1.0)
    np.fill_diagonal(costs, 0.0)
    return costs


def pointwise_mutual_information(graph: ConceptGraph, vertices: ArrayLike) -> NDArray[np.float64]:
    r"""**Shape:** (v, v): how much oftener neighbours are shared than by chance.

    .. math:: \log \frac{n |A \cap B|}{|A| |B|}, \text{ divided by } -\log (|A \cap B| / n),

    which lies in [-1, 1] (the normalised form); -1 where none are shared. The larger, the
    nearer: take ``1 - pmi`` for a cost.

    Examples
    --------
    >>> graph = ConceptGraph.from_edges([[0, 1], [0, 2], [3, 1], [3, 2], [4, 0]])
    >>> pointwise_mutual_information(graph, [0, 3, 4]).round(2)
    array([[ 1.  ,  0.56, -1.  ],
           [ 0.56,  1.  , -1.  ],
           [-1.  , -1.  ,  1.  ]])
    """
    shared, least, most = _sizes(graph, vertices)
    size = len(graph)
    with np.errstate(divide="ignore", invalid="ignore"):
        information = np.log(size * shared / (least * most)) / -np.log(shared / size)
    information = np.where(shared > 0, np.nan_to_num(information, nan=1.0, posinf=1.0), -1.0)
    np.fill_diagonal(information, 1.0)
    return np.clip(information, -1.0, 1.0)


def _sizes(
    graph: ConceptGraph, vertices: ArrayLike
) -> tuple[NDArray[np.float64], NDArray[np.float64], NDArray[np.float64]]:
    """Return the numbers of shared neighbours, and the smaller and larger degrees."""
    shared = graph.common_neighbours(vertices).astype(np.float64)
    degrees = graph.degree[graph.rows(vertices)].astype(np.float64)
    return (
        shared,
        np.minimum.outer(degrees, degrees),
        np.maximum.outer(degrees, degrees),
    )
