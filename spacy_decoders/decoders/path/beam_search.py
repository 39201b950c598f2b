"""Beam search, one layer of the path after another."""

from collections.abc import Callable
from typing import Any

import numpy as np

from .kernels.walks import Graph
from .problem import Floats, Integers

__all__ = ["beam"]

#: Extensions that are ranked between two looks at the clock: some milliseconds.
LOOKS = 500_000
#: Hypotheses that a beam keeps once its time has ended.
NARROW = 10


def beam(
    arrays: tuple[Any, ...],
    outlook: Floats,
    width: int,
    exhausted: Callable[[], bool] = lambda: False,
) -> tuple[Floats, Integers]:
    """Return the scores and paths of the last layer, in no particular order.

    The arrays are those of :class:`Graph`. ``outlook[l, v]``, **shape** ``(length, n)``, is added
    to a hypothesis at v that lacks l more vertices, to rank it: the best walk to the end, or zero
    except for the ends in the last layer. A layer keeps `width` hypotheses, and only a few once
    the time is `exhausted`.
    """
    graph = Graph(*arrays)
    size = len(graph.start)
    scores, paths = np.zeros(1), np.empty((1, 0), dtype=np.int32)
    met = np.zeros((1, graph.class_count), dtype=bool)
    rows = 1 + LOOKS // size
    for rest in outlook[::-1]:
        # a path that is still empty begins at "row 0", the starts
        steps = graph.edges if paths.shape[1] else graph.start[None]
        ends = paths[:, -1] if paths.shape[1] else np.zeros(1, dtype=np.int32)
        most = min(width, NARROW) if exhausted() else width
        ranks, extensions = np.empty(0), np.empty(0, dtype=np.int64)
        for first in range(0, len(scores), rows):
            part = slice(first, first + rows)
            rank = scores[part, None] + (steps[ends[part]] + rest)
            rank[met[part][:, graph.classes]] = -np.inf
            legal = np.flatnonzero(rank > -np.inf)
            ranks = np.concatenate([ranks, rank.ravel()[legal]])
            extensions = np.concatenate([extensions, legal + first * size])
            if len(ranks) > most:
                best = np.argpartition(-ranks, most - 1)[:most]
                ranks, extensions = ranks[best], extensions[best]
            if exhausted():
                break
        members, vertices = np.divmod(extensions, size)
        scores = scores[members] + steps[ends[members], vertices]
        paths = np.column_stack([paths[members], vertices]).astype(np.int32)
        met = met[members]
        met[np.arange(len(met)), graph.classes[vertices]] = True
    return scores + graph.end[paths[:, -1]], paths
