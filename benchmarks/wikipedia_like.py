"""A seeded graph of Wikipedia's size, and documents whose mentions have candidates in it."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

__all__ = ["PAPER", "documents", "edges"]

#: Vertices and edges of the Wikipedia graph of Blanco, Boldi and Marino 2014.
PAPER = (3_685_351, 36_066_162)
SMALL, LARGE = 200, 20_000
TAIL = 0.7


def edges(vertices: int, count: int, seed: int = 0) -> NDArray[np.int32]:
    """Return `count` different edges of a connected graph, (count, 2).

    One end of each edge is drawn by popularity, a power law; the other likewise, or from
    the small or the large community of the first. A tree over the popularity ranks
    connects everything.
    """
    random = np.random.default_rng(seed)
    vertex_of_rank = random.permutation(vertices).astype(np.int32)
    ranks = np.arange(1, vertices)
    above = (ranks * random.random(vertices - 1) ** 2).astype(np.int64)
    tree = np.stack([vertex_of_rank[ranks], vertex_of_rank[above]], axis=1)
    needed = np.unique(_keys(tree, vertices))
    drawn = np.empty(0, dtype=np.int64)
    found = needed
    while len(found) < count:
        wanted = int((count - len(found)) * 1.25) + 1000
        more = _draw(random, vertex_of_rank, wanted)
        drawn = np.concatenate([drawn, _keys(more[more[:, 0] != more[:, 1]], vertices)])
        found = np.unique(np.concatenate([needed, drawn]))
    # too many: some that the tree does not need go
    spare = np.ones(len(found), dtype=bool)
    spare[np.searchsorted(found, needed)] = False
    spare = np.flatnonzero(spare)
    gone = spare[random.permutation(len(spare))[: len(found) - count]]
    found = np.delete(found, gone)
    out = np.empty((count, 2), dtype=np.int32)
    out[:, 0], out[:, 1] = found // vertices, found % vertices
    return out


def _draw(
    random: np.random.Generator, vertex_of_rank: NDArray[np.int32], count: int
) -> NDArray[np.int32]:
    """Draw edges, with loops and repeats."""
    vertices = len(vertex_of_rank)
    out = np.empty((count, 2), dtype=np.int32)
    out[:, 0] = ends = vertex_of_rank[popular(random, vertices, count)]
    out[:, 1] = vertex_of_rank[popular(random, vertices, count)]
    kind = random.random(count)
    for size, low, high in ((SMALL, 0.0, 0.35), (LARGE, 0.35, 0.6)):
        inside = (low <= kind) & (kind < high)
        begin = ends[inside] // size * size
        width = np.minimum(size, vertices - begin)
        out[inside, 1] = begin + (random.random(len(begin)) * width).astype(np.int64)
    return out


def documents(
    vertices: int, count: int, sets: int, size: int, seed: int = 1
) -> list[list[NDArray[np.int64]]]:
    """Return documents: lists of sets of different candidates.

    Each document has a topic, a large community; two candidates of each set come from its
    small communities, a fifth of the others are popular, and the rest is anything.
    """
    random = np.random.default_rng(seed)
    vertex_of_rank = np.random.default_rng(0).permutation(vertices)
    out = []
    for _ in range(count):
        topic = random.integers(max(1, vertices // LARGE)) * LARGE
        near = topic + random.integers(0, min(LARGE, vertices - topic), 4) // SMALL * SMALL
        document = []
        for _ in range(sets):
            own = (random.choice(near, 2) + random.integers(0, SMALL, 2)) % vertices
            famous = vertex_of_rank[popular(random, vertices, size // 5)]
            rest = random.integers(0, vertices, 2 * size)
            _, first = np.unique(np.concatenate([own, famous, rest]), return_index=True)
            members = np.concatenate([own, famous, rest])[np.sort(first)[:size]]
            document.append(random.permutation(members).astype(np.int64))
        out.append(document)
    return out


def popular(random: np.random.Generator, vertices: int, count: int) -> NDArray[np.int64]:
    """Draw popularity ranks: rank r with probability in proportion to r ** -TAIL."""
    return (vertices * random.random(count) ** (1 / (1 - TAIL))).astype(np.int64)


def _keys(pairs: NDArray[np.int32], vertices: int) -> NDArray[np.int64]:
    return pairs.min(axis=1).astype(np.int64) * vertices + pairs.max(axis=1)
