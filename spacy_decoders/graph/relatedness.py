"""Pair costs from shared neighbours, as alternatives to distances."""

from typing import Literal

import numpy as np
from numpy.typing import ArrayLike, NDArray

from .concept_graph import ConceptGraph
from .kernels.searching import add_pairs, adjacent_pairs

__all__ = ["adjacency", "shared_neighbour_cosine", "weighted_overlap"]


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
    joined: NDArray[np.bool_] | None = None,
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
    joined
        What `adjacency` says of the vertices, where that is known.

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
        within_them = adjacency(graph, vertices) if joined is None else joined.copy()
        degrees = within_them.sum(axis=1)
        np.fill_diagonal(within_them, True)
        members = np.nonzero(within_them)[1]
        indptr = np.cumsum([0, *(degrees + 1).tolist()])
    else:
        indptr, members, degrees = _neighbourhoods(graph, vertices, most)
    falls = np.log(1.5 + degrees) if hubs == "logarithm" else np.sqrt(np.maximum(degrees, 1))
    shared = weighted_overlap(indptr, members, 1.0 / falls, len(vertices))  # type: ignore[arg-type]
    sizes = np.sqrt(shared.diagonal())
    cosine: NDArray[np.float64] = shared / np.outer(sizes, sizes)
    np.fill_diagonal(cosine, 1.0)
    return cosine


def _neighbourhoods(
    graph: ConceptGraph, vertices: ArrayLike, most: int | None
) -> tuple[NDArray[np.int64], NDArray[np.int64], NDArray[np.int64]]:
    """Return the neighbourhoods that have some of the vertices as members.

    Returns where those of each begin, their places in `vertices`, and the degrees of the vertices
    whose neighbourhoods these are.
    """
    arrays = graph.arrays
    inner = arrays.inner[graph.rows(vertices)]
    begins, ends = arrays.indptr[inner], arrays.indptr[inner + 1]
    if most is not None:  # inner numbers go by descending degree
        begins = np.maximum(begins, ends - most)
    # each vertex is in its own neighbourhood
    lists = [inner, *map(arrays.indices.__getitem__, map(slice, begins.tolist(), ends.tolist()))]
    places = np.arange(len(inner))
    members = np.concatenate([places, places.repeat(ends - begins)])
    # by one number for both: sorted much faster than pairs
    pairs = np.concatenate(lists, dtype=np.int64) * len(inner) + members
    pairs.sort()
    groups, members = np.divmod(pairs, len(inner))
    starts = np.flatnonzero(np.diff(groups, prepend=-1))
    found = groups[starts]
    degrees = arrays.indptr[found + 1] - arrays.indptr[found]
    return np.append(starts, len(groups)), members, degrees


def weighted_overlap(
    indptr: ArrayLike, members: ArrayLike, weights: ArrayLike, size: int
) -> NDArray[np.float64]:
    """**Shape:** (size, size): the summed weights of the groups that two items share.

    **Shape:** indptr (groups + 1,) and members (total,), those of each group, end to end; weights
    (groups,).

    Examples
    --------
    >>> weighted_overlap([0, 2, 3], [0, 1, 1], [1.0, 0.5], 2)
    array([[1. , 1. ],
           [1. , 1.5]])
    """
    overlap = np.zeros((size, size))
    # copies can all be written: for each mixture numba would compile anew
    starts, places = np.array(indptr, np.int64), np.array(members, np.int64)
    add_pairs(starts, places, np.array(weights, np.float64), overlap)
    return overlap
