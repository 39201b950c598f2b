"""Beam search, with or without lookahead."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from ...arrays import checked_whole
from ...budget import UNLIMITED, Budget, Clock
from ...errors import ProblemError
from .decoder import PathDecoder
from .kernels.beam import Candidates, Hypotheses, beam, fill_layer, next_layer
from .lagrangian_search import STEPS
from .problem import Floats, Integers, PathProblem, PathSolution
from .proof import quick_bound, some_path

__all__ = ["Beam"]

#: Hypotheses that a beam keeps once its time has ended.
NARROW = 10


@dataclass(frozen=True)
class Beam(PathDecoder):
    """Extend the `width` best paths vertex by vertex, visiting no class twice.

    Parameters
    ----------
    width
        Hypotheses kept at each length.
    lookahead
        Rank a hypothesis by its score plus that of the best walk from it to the end, which may
        repeat classes. A tenth of the width then finds as good a path, a hypothesis without any
        completion is pruned at once, and the best walk bounds the optimum.

    Raises
    ------
    ProblemError
        If `width` is not at least 1.

    References
    ----------
    Banko, Mittal, Witbrock (2000). Headline Generation Based on Statistical Translation.

    Examples
    --------
    >>> from spacy_decoders.decoders.path import PathProblem
    >>> problem = PathProblem([2, 1], [[0, 0], [9, 0]], [0, 0], classes=[0, 1])
    >>> Beam(width=1).decode(problem, 2).certificate.score
    2.0
    >>> Beam(width=1, lookahead=True).decode(problem, 2).certificate.score
    10.0
    """

    width: int = 80
    lookahead: bool = False

    def __post_init__(self) -> None:
        if isinstance(self.width, bool) or not self.width >= 1:
            raise ProblemError(f"width: a beam keeps at least 1 hypothesis, got {self.width!r}.")

    def decode(
        self, problem: PathProblem, length: int, *, budget: Budget = UNLIMITED
    ) -> PathSolution:
        """Find a good path, with a narrower beam once the budget's seconds have ended.

        Raises
        ------
        InfeasibleError
            If there is no path.
        """
        return self.k_best(problem, length, 1, budget=budget)[0]

    def k_best(
        self, problem: PathProblem, length: int, k: int, *, budget: Budget = UNLIMITED
    ) -> list[PathSolution]:
        """Return up to `k` paths of the last layer, best first; any path if it is empty."""
        length, k = problem.checked_length(length), checked_whole("k", k, low=1)
        clock = budget.start()
        if self.lookahead:
            outlook = problem.completions(length)
        else:
            outlook = np.zeros((length, problem.size))
            outlook[0] = problem.end
        scores, paths = self._grown(problem, outlook, clock)
        if not len(scores):
            found = [some_path(problem, length, clock)]
        elif k == 1:
            found = [paths[scores.argmax()]]
        else:
            found = problem.ranked(paths[np.argsort(-scores, kind="stable")[:k]])
        bound = np.inf
        if self.lookahead:
            bound = quick_bound(problem, length, problem.score(found[0]), nodes=0)
        return [PathSolution.certified("Beam", problem, path, bound) for path in found]

    def _grown(
        self, problem: PathProblem, outlook: Floats, clock: Clock
    ) -> tuple[Floats, Integers]:
        """Return the scores and the paths of the last layer."""
        size, length, graph = problem.size, len(outlook), problem.graph
        if self.width * size * length <= STEPS:
            scores, paths = beam(problem.arrays, outlook, self.width)
            return scores, paths
        # a wide beam is extended in rounds, and narrowed once the clock has ended
        scores, paths = np.zeros(1), np.zeros((1, length), dtype=np.int32)
        used = np.zeros(problem.class_count, dtype=np.bool_)
        a_round = 1 + STEPS // (8 * size)
        for depth in range(length):
            width = NARROW if clock.exhausted() else self.width
            capacity = min(width, len(scores) * size)
            candidates = Candidates(np.empty(capacity), np.empty(capacity, dtype=np.int64))
            layer, rest, count = Hypotheses(scores, paths), outlook[length - 1 - depth], 0
            for first in range(0, len(scores), a_round):
                last = min(first + a_round, len(scores))
                given = (graph, rest, layer, depth, used, first, last, candidates)
                count = fill_layer(*given, count)
                if clock.exhausted():
                    break
            scores, paths = next_layer(graph, layer, depth, candidates.members, count)
        return scores + problem.end[paths[:, -1]], paths
