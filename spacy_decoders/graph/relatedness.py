"""Pair costs from shared neighbours, as alternatives to distances."""

from __future__ import annotations

from typing import Literal

import numpy as np
from numpy.typing import ArrayLike, NDArray

from ..arrays import read_only
from .concept_graph import ConceptGraph
from .kernels.searching import add_pairs, adjacent_pairs

__all__ = [
    "adjacency",
    "milne_witten",
    "pointwise_mutual_information",
    "shared_neighbour_cosine",
    "weighted_overlap",
]


def adjacency(graph: ConceptGraph, vertices: ArrayLike) -> NDArray[np.bool_]:
    """**Shape:** (v, v): which of some distinct vertices are joined by an edge.

    Examples
    --------
    >>> graph = ConceptGraph.from_edges([[0, 1], [1, 2]])
    >>> adjacency(graph, [2, 1, 0]).astype(int)
    array([[0, 1, 0],
           [1, 0, 1],
           [0, 1, 0]])
    """
    arrays = graph.arrays
    inner = arrays.inner[graph.rows(vertices)]
    joined = np.zeros((len(inner), len(inner)), dtype=np.bool_)
    adjacent_pairs(arrays.indptr, arrays.indices, inner, joined)
    return joined


def shared_neighbour_cosine(
    graph: ConceptGraph,
    vertices: ArrayLike,
    within: Literal["vertices", "graph"] = "vertices",
    *,
    most: int | None = None,
    hubs: Literal["logarithm", "root"] = "logarithm",
) -> NDArray[np.float64]:
    r"""**Shape:** (v, v): how much of their neighbourhood some vertices share, from 0 to 1.

    Each neighbourhood holds its own vertex. It and the degrees are taken within the given
    vertices or, in a sparse graph where few of these are joined, within the whole graph:

    .. math:: \frac{\sum_{x \in N[u] \cap N[v]} w_x}{\sqrt{s_u s_v}}, \quad
        s_u = \sum_{x \in N[u]} w_x, \quad w_x = \frac{1}{\ln(1.5 + \deg x)}.

    A neighbour with many neighbours is less informative, and has less weight; with ``"root"`` it
    is :math:`1 / \sqrt{\deg x}`, which leaves hardly any to the hubs of a whole graph.

    Parameters
    ----------
    graph, vertices
        The graph, and distinct vertices of it.
    within
        Where neighbourhoods and degrees are taken.
    most
        With "graph": of how many neighbours of each vertex, those with the fewest neighbours
        of their own; None for all.
    hubs
        How fast the weight of a neighbour falls with its degree.

    Examples
    --------
    >>> graph = ConceptGraph.from_edges([[0, 1], [1, 2], [3, 4]])
    >>> shared_neighbour_cosine(graph, [0, 1, 2, 3]).round(2)
    array([[1.  , 0.8 , 0.42, 0.  ],
           [0.8 , 1.  , 0.8 , 0.  ],
           [0.42, 0.8 , 1.  , 0.  ],
           [0.  , 0.  , 0.  , 1.  ]])
    """
    if within == "vertices":
        joined = adjacency(graph, vertices)
        degrees = joined.sum(axis=1)
        np.fill_diagonal(joined, True)
        groups, members = np.nonzero(joined)
    else:
        groups, members, degrees = _neighbourhoods(graph, vertices, most)
    indptr = np.searchsorted(groups, np.arange(len(degrees) + 1))
    falls = np.log(1.5 + degrees) if hubs == "logarithm" else np.sqrt(np.maximum(degrees, 1))
    shared = weighted_overlap(indptr, members, 1.0 / falls, len(vertices))  # type: ignore[arg-type]
    sizes = np.sqrt(shared.diagonal())
    cosine: NDArray[np.float64] = shared / np.outer(sizes, sizes)
    np.fill_diagonal(cosine, 1.0)
    return cosine


def _neighbourhoods(
    graph: ConceptGraph, vertices: ArrayLike, most: int | None
) -> tuple[NDArray[np.int64], NDArray[np.int64], NDArray[np.int64]]:
    """Return the neighbourhoods that contain each vertex, as sorted (group, member) pairs.

    Returns the groups, the places of the members in `vertices`, and the groups' degrees.
    """
    arrays = graph.arrays
    inner = arrays.inner[graph.rows(vertices)]
    begins, ends = arrays.indptr[inner], arrays.indptr[inner + 1]
    if most is not None:  # inner numbers go by descending degree
        begins = np.maximum(begins, ends - most)
    lists = [
        np.append(arrays.indices[begin:end], v)
        for v, begin, end in zip(inner, begins, ends, strict=True)
    ]
    members = np.repeat(np.arange(len(inner)), [len(neighbours) for neighbours in lists])
    found, groups = np.unique(np.concatenate([*lists, np.empty(0, np.int32)]), return_inverse=True)
    order = np.argsort(groups.reshape(-1), kind="stable")
    degrees = arrays.indptr[found + 1] - arrays.indptr[found]
    return groups.reshape(-1)[order], members[order], degrees


def weighted_overlap(
    indptr: ArrayLike, members: ArrayLike, weights: ArrayLike, size: int
) -> NDArray[np.float64]:
    """**Shape:** (size, size): the summed weights of the groups that two items share.

    Parameters
    ----------
    indptr, members
        The members of each group, end to end. **Shapes:** (groups + 1,), (total,)
    weights
        Of each group. **Shape:** (groups,)

    Examples
    --------
    >>> weighted_overlap([0, 2, 3], [0, 1, 1], [1.0, 0.5], 2)
    array([[1. , 1. ],
           [1. , 1.5]])
    """
    overlap = np.zeros((size, size))
    starts, places = np.asarray(indptr, np.int64), np.asarray(members, np.int64)
    each = np.asarray(weights, np.float64)
    # all read-only: for each mixture numba would compile anew
    add_pairs(read_only(starts), read_only(places), read_only(each), overlap)
    return overlap


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
    r"""**Shape:** (v, v): how much more often neighbours are shared than by chance.

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
    from scipy.sparse import csr_array

    arrays = graph.arrays
    inner = arrays.inner[graph.rows(vertices)]
    lists = [arrays.indices[arrays.indptr[v] : arrays.indptr[v + 1]] for v in inner]
    starts = np.cumsum([0, *map(len, lists)])
    ends = np.concatenate([*lists, np.empty(0, np.int32)])
    rows = csr_array((np.ones(len(ends)), ends, starts), (len(inner), len(graph)))
    shared = (rows @ rows.T).toarray()
    degrees = np.diff(starts).astype(np.float64)
    return (shared, np.minimum.outer(degrees, degrees), np.maximum.outer(degrees, degrees))
