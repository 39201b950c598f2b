"""Beam search, layer by layer."""

from collections.abc import Callable

import numpy as np

from ...arrays import Floats, Integers32
from .problem import PathProblem

__all__ = ["beam"]

#: Extensions ranked between two checks of the clock: a few milliseconds.
EXTENSIONS_PER_CHECK = 200_000
#: Width of the beam once its time has run out.
NARROW_WIDTH = 10


def beam(
    problem: PathProblem,
    outlook: Floats,
    width: int,
    exhausted: Callable[[], bool] = lambda: False,
) -> tuple[Floats, Integers32]:
    """Return the scores and paths of the last layer, in no particular order.

    ``outlook[l, v]``, **shape** ``(length, n)``, is added to the score of a hypothesis at v that
    lacks l more vertices, to rank it: the score of the best walk to the end, or, without
    lookahead, zeros and the end scores for l = 0. A layer keeps `width` hypotheses, and only
    `NARROW_WIDTH` once the time is `exhausted`.
    """
    size, classes = problem.size, problem.dense_classes
    scores, paths = np.zeros(1), np.empty((1, 0), dtype=np.int32)
    met = np.zeros((1, problem.class_count), dtype=bool)
    rows = 1 + EXTENSIONS_PER_CHECK // size
    for rest in outlook[::-1]:
        # the empty path is extended by the start scores, its row 0
        steps = problem.weights if paths.shape[1] else problem.start[None]
        ends = paths[:, -1] if paths.shape[1] else np.zeros(1, dtype=np.int32)
        ranks, extensions = np.empty(0), np.empty(0, dtype=np.int64)
        for first in range(0, len(scores), rows):
            part = slice(first, first + rows)
            rank = scores[part, None] + (steps[ends[part]] + rest)
            rank[met[part][:, classes]] = -np.inf
            legal = np.flatnonzero(rank > -np.inf)
            ranks = np.concatenate([ranks, rank.ravel()[legal]])
            extensions = np.concatenate([extensions, legal + first * size])
            late = exhausted()
            most = min(width, NARROW_WIDTH) if late else width
            if len(ranks) > most:
                best = np.argpartition(-ranks, most - 1)[:most]
                ranks, extensions = ranks[best], extensions[best]
            if late:
                break
        members, vertices = np.divmod(extensions, size)
        scores = scores[members] + steps[ends[members], vertices]
        paths = np.column_stack([paths[members], vertices]).astype(np.int32)
        met = met[members]
        met[np.arange(len(met)), classes[vertices]] = True
    return scores + problem.end[paths[:, -1]], paths
