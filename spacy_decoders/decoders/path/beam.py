"""Beam search, with or without lookahead."""

from dataclasses import dataclass

import numpy as np

from ...arrays import checked_flags, checked_whole
from ...budget import UNLIMITED, Budget, Clock
from .beam_search import beam
from .decoder import PathDecoder
from .problem import PathProblem, PathSolution
from .proof import quick_bound, some_path

__all__ = ["Beam", "solved_by_beam"]


@dataclass(frozen=True)
class Beam(PathDecoder):
    """Extend the `width` best paths vertex by vertex, visiting each class at most once.

    The beam is narrowed when the budget's seconds run out.

    Parameters
    ----------
    width
        Number of hypotheses kept at each length.
    lookahead
        Rank a hypothesis by its score plus that of the best walk from it to the end, which may
        repeat classes. A tenth of the width then finds equally good paths, a hypothesis without
        any completion is pruned at once, and the best walk bounds the optimum from above.

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
        checked_whole("width", self.width, low=1)
        checked_flags(self, "lookahead")

    def k_best(
        self, problem: PathProblem, length: int, k: int, *, budget: Budget = UNLIMITED
    ) -> list[PathSolution]:
        """Return up to `k` paths of the last layer, best first; if it is empty, any legal path."""
        (length, clock), k = self._begun(problem, length, budget), checked_whole("k", k, low=1)
        return self._solve(problem, length, k, clock)

    def _solve(
        self, problem: PathProblem, length: int, k: int, clock: Clock
    ) -> list[PathSolution]:
        return solved_by_beam("Beam", problem, length, k, self.width, clock, self.lookahead)


def solved_by_beam(
    decoder: str,
    problem: PathProblem,
    length: int,
    k: int,
    width: int,
    clock: Clock,
    lookahead: bool = True,
) -> list[PathSolution]:
    """Return up to `k` paths of a beam, best first; any legal path if every hypothesis dies.

    Lookahead is skipped where too little time is left for it. Only with `lookahead` is there a
    bound.
    """
    if lookahead and not problem.lacks_time(clock, length, 2):
        outlook = problem.completions(length)
    else:
        outlook = np.zeros((length, problem.size))
        outlook[0] = problem.end
    scores, paths = beam(problem, outlook, width, clock.exhausted)
    if not len(scores):
        found = [some_path(problem, length, clock)]
    elif k == 1:
        found = [paths[scores.argmax()]]
    else:
        found = problem.ranked(paths[np.argsort(-scores, kind="stable")[:k]])
    bound = np.inf
    if lookahead:
        bound = quick_bound(problem, length, problem.score(found[0]), 0, clock)
    return [PathSolution.certified(decoder, problem, path, bound) for path in found]
