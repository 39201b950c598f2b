"""Randomised decoding: colour the classes, find the best path that repeats no colour."""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import dataclass
from typing import Literal

import numpy as np
from numpy.typing import NDArray

from ....budget import UNLIMITED, Budget, Clock
from ....errors import ProblemError
from ..beam_search import beam
from ..decoder import PathDecoder
from ..lagrangian_search import STEPS
from ..problem import Floats, Integers, PathProblem, PathSolution
from ..proof import quick_bound, some_path
from ..reduction import useful_vertices
from .kernels.coloring import BEST_VERTEX, NEXT_SET, SetTable, go_on_colorings

__all__ = [
    "ColorCoding",
    "Colorings",
    "best_color_count",
    "colorful_probability",
    "needed_colorings",
]

#: The most bytes of the table of one colouring.
MEMORY = 1 << 28
#: Width of the beam whose path excludes vertices before the first colouring.
BEAM_WIDTH = 10
#: Nodes of a depth-first proof, tried before one over all sets of classes.
PROOF_NODES = 1000


@dataclass(frozen=True)
class ColorCoding(PathDecoder):
    """The paper's randomised decoder, with its failure probability.

    Each iteration colours the classes at random with r colours and finds, by dynamic programming
    over (vertex, set of colours), the best path that repeats none. If the best path is colourful
    it is found; enough iterations reduce the probability of missing it to `failure`. Two members
    of a class share its colour, and colours are distributed evenly, which makes a given path
    colourful more often than independent draws do. If no more classes than colours remain, all get
    different ones and a single pass is a proof.

    Parameters
    ----------
    failure
        Probability with which the optimum may be missed, between 0 and 1.
    colors
        Number of colours r; ``"auto"`` minimises iterations times 2^r over k ... 2k.
    seed
        Colourings are a function of the seed and the iteration alone.
    reduce
        Start with a narrow beam's path and use safe bounds: vertices and states that cannot lead
        to a better one are pruned. The result is the same; without it, this is the algorithm as
        published.

    Raises
    ------
    ProblemError
        If an option is out of range, or the table would take more than 256 MB.

    References
    ----------
    Deshpande, Barzilay, Karger (2007), section 4. Alon, Yuster, Zwick (1995), Color-coding.

    Examples
    --------
    >>> from spacy_decoders.decoders.path import PathProblem
    >>> rng = np.random.default_rng(0)
    >>> problem = PathProblem(np.zeros(9), rng.random((9, 9)), np.zeros(9), np.arange(9))
    >>> plain = ColorCoding(failure=0.01, reduce=False).decode(problem, 3)
    >>> plain.certificate.status, plain.certificate.confidence, plain.certificate.iterations
    ('probable', 0.99, 12)
    """

    failure: float = 1e-3
    colors: int | Literal["auto"] = "auto"
    seed: int = 0
    reduce: bool = True

    def __post_init__(self) -> None:
        if not 0.0 < self.failure < 1.0:
            raise ProblemError(
                f"failure: expected a probability between 0 and 1, got {self.failure!r}."
            )
        if self.colors != "auto" and (isinstance(self.colors, (bool, str)) or self.colors < 1):
            raise ProblemError(
                f"colors: expected 'auto' or a number of at least 1, got {self.colors!r}."
            )

    def decode(
        self, problem: PathProblem, length: int, *, budget: Budget = UNLIMITED
    ) -> PathSolution:
        """Find a path that is optimal with the stated probability.

        An iteration of the budget is a colouring; a budget that ends first lowers the
        certificate's confidence.

        Raises
        ------
        InfeasibleError
            If there is no such path.
        """
        length = problem.checked_length(length)
        clock = budget.start()
        kept = np.arange(problem.size)
        rest = np.zeros((length, problem.size))
        path, bound = None, np.inf
        part = problem
        if self.reduce:
            rest = problem.completions(length)
            bound = float((problem.start + rest[length - 1]).max())
            scores, paths = beam(problem.arrays, rest, BEAM_WIDTH)
            path = paths[int(np.argmax(scores))] if len(scores) else None
            score = -np.inf if path is None else problem.score(path)
            kept = useful_vertices(problem, rest, score)
            part = problem.restrict(kept)
            rest = np.ascontiguousarray(rest[:, kept])
        done, chance, needed = 0, 0.0, 0
        if part.class_count >= length:
            colors = self._color_count(part, length)
            chance = colorful_probability(part.class_count, length, colors)
            needed = needed_colorings(chance, self.failure)
            colorings = Colorings(part, rest, colors, prune=self.reduce, seed=self.seed)
            done, path = _colored(problem, kept, colorings, path, bound, needed, clock)
        decided = chance == 1.0 and done > 0 and path is not None
        if path is None:
            path = some_path(problem, length, clock)
        confidence = 1.0 - self.failure if done >= needed else 1.0 - (1.0 - chance) ** done
        return PathSolution.certified(
            "ColorCoding",
            problem,
            path,
            self._bound(problem, path, decided=decided, clock=clock),
            confidence=confidence if done and chance < 1.0 else None,
            iterations=done,
        )

    def _bound(
        self, problem: PathProblem, path: Integers, *, decided: bool, clock: Clock
    ) -> float:
        """Prove a bound, by all sets of classes if the colouring has decided the problem."""
        if not (self.reduce or decided):
            return np.inf
        score = problem.score(path)
        bound = quick_bound(problem, len(path), score, PROOF_NODES if decided else 0)
        if decided and bound > score + 3.0 * problem.rounding(len(path), score):
            bound = min(bound, _bound_by_sets(problem, len(path), score, clock))
        return bound

    def _color_count(self, problem: PathProblem, length: int) -> int:
        if self.colors == "auto":
            return best_color_count(problem.class_count, length, problem.size, self.failure)
        if self.colors < length:
            raise ProblemError(
                f"colors: a path of {length} vertices needs {length} colours, got {self.colors}."
            )
        colors = min(self.colors, problem.class_count)
        _check_memory(colors, problem.size)
        return colors


class Colorings:
    """The dynamic program over sets of colours, for random colourings of the classes.

    Parameters
    ----------
    problem
        The graph.
    rest
        ``rest[l, v]``: a bound on the score of l vertices after v. **Shape:** ``(length, n)``
    colors
        The number of colours; as many as there are classes decide the problem.
    prune
        Whether to prune states that cannot exceed the best path known.
    seed
        The seed of the colourings.
    """

    def __init__(
        self, problem: PathProblem, rest: Floats, colors: int, *, prune: bool, seed: int
    ) -> None:
        seed &= 0xFFFFFFFFFFFFFFFF
        self._size = problem.size
        self._given = (problem.graph, rest, prune, colors, seed)
        self._of_class = np.zeros(problem.class_count, dtype=np.int64)
        self._of_vertex = np.zeros(problem.size, dtype=np.int64)
        path = np.empty(len(rest), dtype=np.int32)
        values = np.empty((1 << colors, problem.size))
        self._table = SetTable(values, path, np.full(1, -np.inf), np.array([0, 0, -1]))

    def run(
        self, first: int, last: int, threshold: float, interrupted: Callable[[], bool]
    ) -> tuple[int, Integers | None]:
        """Colour until a path scores more than `threshold`; return the progress and the path.

        Parameters
        ----------
        first, last
            The number of the next colouring, and the end of the range.
        interrupted
            Called from time to time; returns whether to stop.
        """
        table = self._table
        table.best[0], table.state[:] = threshold, (0, 0, -1)
        sets = 1 + STEPS // max(1, self._size) ** 2
        while first < last:
            given = (first, last, sets, self._of_class, self._of_vertex, table)
            first = go_on_colorings(*self._given, *given)
            if table.state[NEXT_SET] == 0 and table.state[BEST_VERTEX] >= 0:
                return first, table.path.copy()
            if first < last and interrupted():
                break
        return first, None


def _colored(
    problem: PathProblem,
    kept: NDArray[np.int64],
    colorings: Colorings,
    path: Integers | None,
    bound: float,
    needed: int,
    clock: Clock,
) -> tuple[int, Integers | None]:
    """Colour until the failure probability is reached; return the colourings and the path.

    It also stops when a path attains the bound.
    """
    done, score = 0, -np.inf if path is None else problem.score(path)
    limit = clock.budget.iterations
    last = needed if limit is None else min(needed, limit)
    while done < last and score < bound and not clock.exhausted(done):
        done, found = colorings.run(done, last, score, clock.exhausted)
        if found is not None:
            path = kept[found].astype(np.int32)
            score = problem.score(path)
    return done, path


def _bound_by_sets(problem: PathProblem, length: int, score: float, clock: Clock) -> float:
    """Bound all paths by the dynamic program from behind, each class with a colour of its own."""
    backwards, slack = problem.reversed, problem.rounding(length, score)
    floor = score - 3.0 * slack
    rest = backwards.completions(length)
    kept = useful_vertices(backwards, rest, floor)
    part = backwards.restrict(kept)
    if _table_bytes(part.class_count, part.size) > MEMORY:
        return np.inf
    rest = np.ascontiguousarray(rest[:, kept])
    colorings = Colorings(part, rest, part.class_count, prune=True, seed=0)
    ended, path = colorings.run(0, 1, floor, clock.exhausted)
    if not ended:
        return np.inf
    # a path as good as the known one has to be found again
    return -np.inf if path is None else part.score(path) + 2.0 * slack


def colorful_probability(class_count: int, length: int, colors: int) -> float:
    """Return the probability that `length` given classes get different colours.

    Colours are distributed evenly. The elementary symmetric polynomial of their shares counts the
    colourful choices of classes, and the binomial coefficient all choices.

    >>> colorful_probability(4, 2, 2)  # colours a a b b: 4 of 6 pairs differ
    0.6666666666666666
    """
    small, larger = divmod(class_count, colors)
    ways = [1] + [0] * length
    for color in range(colors):
        share = small + (color < larger)
        for size in range(length, 0, -1):
            ways[size] += share * ways[size - 1]
    return ways[length] / math.comb(class_count, length)


def needed_colorings(chance: float, failure: float) -> int:
    """Return how many colourings reduce the failure probability to `failure`.

    The exact count; the paper's ``ln(1 / failure) / chance`` is a little larger.

    >>> needed_colorings(0.5, 0.25)
    2
    """
    if chance >= 1.0:
        return 1
    return max(1, math.ceil(math.log(failure) / math.log1p(-chance)))


def best_color_count(class_count: int, length: int, size: int, failure: float) -> int:
    """Return the number of colours from k to 2k with the least iterations times 2^r.

    Raises
    ------
    ProblemError
        If even k colours take too much memory.
    """
    _check_memory(length, size)
    most = min(2 * length, class_count)
    affordable = [r for r in range(length, most + 1) if _table_bytes(r, size) <= MEMORY]
    return min(
        affordable,
        key=lambda r: (
            needed_colorings(colorful_probability(class_count, length, r), failure) * 2.0**r
        ),
    )


def _table_bytes(colors: int, size: int) -> int:
    return 8 * size << colors


def _check_memory(colors: int, size: int) -> None:
    if _table_bytes(colors, size) > MEMORY:
        raise ProblemError(
            f"colors: {colors} colours and {size} vertices need a table of "
            f"{_table_bytes(colors, size) >> 20} MB, more than {MEMORY >> 20}. Use ExactPath, a "
            "shorter length, or fewer vertices."
        )
