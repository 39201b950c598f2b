"""Pair costs from shared neighbours, as alternatives to distances."""

import numpy as np
from numpy.typing import ArrayLike

from ..arrays import Booleans, Floats, Integers, checked_type
from .concept_graph import ConceptGraph
from .kernels.searching import add_pairs, adjacent_pairs

__all__ = ["adjacency", "shared_neighbour_cosine"]


def adjacency(graph: ConceptGraph, vertices: ArrayLike) -> Booleans:
    """**Shape:** (v, v): whether an edge joins each two of some distinct vertices.

    Examples
    --------
    >>> graph = ConceptGraph.from_edges([[0, 1], [1, 2]])
    >>> adjacency(graph, [2, 1, 0]).astype(int)
    array([[0, 1, 0],
           [1, 0, 1],
           [0, 1, 0]])
    """
    arrays = checked_type("graph", graph, ConceptGraph, "ConceptGraph.from_edges(edges)").arrays
    inner = arrays.inner[graph.rows(vertices)]
    joined = np.zeros((len(inner), len(inner)), dtype=np.bool_)
    adjacent_pairs(arrays.indptr, arrays.indices, inner, joined)
    return joined


def shared_neighbour_cosine(
    graph: ConceptGraph,
    vertices: ArrayLike,
    *,
    most: int | None = None,
    joined: Booleans | None = None,
) -> Floats:
    r"""**Shape:** (v, v): the cosine similarity of vertices' neighbourhoods, from 0 to 1.

    A neighbourhood includes the vertex itself. Neighbours of high degree are less informative, and
    weigh less:

    .. math:: \frac{\sum_{x \in N[u] \cap N[v]} w_x}{\sqrt{s_u s_v}}, \quad
        s_u = \sum_{x \in N[u]} w_x, \quad w_x = \frac{1}{\sqrt{\deg x}},

    so that hubs count for hardly anything. In the subgraph of the vertices alone, which `joined`
    asks for, :math:`w_x = 1 / \ln(1.5 + \deg x)`.

    Parameters
    ----------
    graph, vertices
        The graph, and distinct vertices of it.
    most
        The most neighbours of a vertex that are considered, those of lowest degree; None for all.
    joined
        What `adjacency` returns for the vertices, to consider their subgraph alone.

    Examples
    --------
    >>> graph = ConceptGraph.from_edges([[0, 1], [1, 2], [3, 4]])
    >>> joined = adjacency(graph, [0, 1, 2, 3])
    >>> shared_neighbour_cosine(graph, [0, 1, 2, 3], joined=joined).round(2)
    array([[1.  , 0.8 , 0.42, 0.  ],
           [0.8 , 1.  , 0.8 , 0.  ],
           [0.42, 0.8 , 1.  , 0.  ],
           [0.  , 0.  , 0.  , 1.  ]])
    """
    checked_type("graph", graph, ConceptGraph, "ConceptGraph.from_edges(edges)")
    if joined is None:
        indptr, members, degrees = _by_neighbour(graph, vertices, most)
        divisors = np.sqrt(np.maximum(degrees, 1))
    else:
        within = joined | np.eye(len(joined), dtype=bool)
        members, degrees = np.nonzero(within)[1], joined.sum(axis=1)
        indptr = np.cumsum([0, *(degrees + 1).tolist()])
        divisors = np.log(1.5 + degrees)
    size = len(vertices)  # type: ignore[arg-type]
    shared = weighted_overlap(indptr, members, 1.0 / divisors, size)
    sizes = np.sqrt(shared.diagonal())
    cosine: Floats = shared / np.outer(sizes, sizes)
    np.fill_diagonal(cosine, 1.0)
    return cosine


def _by_neighbour(
    graph: ConceptGraph, vertices: ArrayLike, most: int | None
) -> tuple[Integers, Integers, Integers]:
    """Group vertices by their neighbours: those that a vertex of the graph is a neighbour of.

    Returns the offsets of the groups, their members as positions in `vertices`, and the degrees of
    the neighbours.
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
    # a pair in one number: these are sorted much faster
    pairs = np.concatenate(lists, dtype=np.int64) * len(inner) + members
    pairs.sort()
    groups, members = np.divmod(pairs, len(inner))
    starts = np.flatnonzero(np.diff(groups, prepend=-1))
    found = groups[starts]
    degrees = arrays.indptr[found + 1] - arrays.indptr[found]
    return np.append(starts, len(groups)), members, degrees


def weighted_overlap(
    indptr: ArrayLike, members: ArrayLike, weights: ArrayLike, size: int
) -> Floats:
    """**Shape:** (size, size): the summed weights of the groups that two items are both in.

    **Shapes:** indptr (groups + 1,) and members (total,), those of all groups, concatenated;
    weights (groups,). Nothing is checked.

    Examples
    --------
    >>> weighted_overlap([0, 2, 3], [0, 1, 1], [1.0, 0.5], 2)
    array([[1. , 1. ],
           [1. , 1.5]])
    """
    overlap = np.zeros((size, size))
    # numba compiles for each mixture of read-only and writable arrays; copies are all writable
    starts, places = np.array(indptr, np.int64), np.array(members, np.int64)
    add_pairs(starts, places, np.array(weights, np.float64), overlap)
    return overlap
