"""Adjacency among a few vertices."""

from __future__ import annotations

from ...jit import jit
from .searching import first_from

__all__ = ["add_pairs", "adjacent_pairs"]


@jit()
def adjacent_pairs(indptr, indices, vertices, out):
    """Set ``out[i, j]`` for joined vertices; `vertices` are distinct inner numbers.

    Inner numbers go by descending degree, so the larger number has the shorter list.
    """
    for i in range(vertices.size):
        for j in range(i):
            few, many = vertices[i], vertices[j]
            if few < many:
                few, many = many, few
            stop = indptr[few + 1]
            at = first_from(indptr, indices, few, many)
            if at < stop and indices[at] == many:
                out[i, j] = True
                out[j, i] = True


@jit()
def add_pairs(indptr, members, weights, out):
    """Add the weight of each group to ``out[u, v]`` of all its members u and v."""
    for group in range(weights.size):
        for i in range(indptr[group], indptr[group + 1]):
            for j in range(indptr[group], indptr[group + 1]):
                out[members[i], members[j]] += weights[group]
