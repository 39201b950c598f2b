"""Randomised decoding: colour the classes, find the best path that repeats no colour."""

import math
from collections.abc import Callable
from dataclasses import dataclass
from typing import Literal

import numpy as np

from ....arrays import Integers32, checked_whole, is_number
from ....budget import Clock
from ....errors import InfeasibleError, ProblemError, UndecidedError
from ..decoder import PathDecoder
from ..lagrangian_search import CANDIDATES_PER_CHECK
from ..problem import PathProblem, PathSolution
from ..proof import quick_bound, some_path
from .kernels.coloring import best_colorful

__all__ = [
    "ColorCoding",
    "Colorings",
    "best_color_count",
    "colorful_probability",
    "needed_colorings",
]

#: The largest table of a colouring, in bytes.
MEMORY = 1 << 28
#: Nodes of the proof if every class has its own colour.
PROOF_NODES = 1000


@dataclass(frozen=True)
class ColorCoding(PathDecoder):
    """The paper's randomised decoder, with its failure probability.

    Each iteration colours the classes at random with r colours and finds, by dynamic programming
    over (vertex, set of colours), the best path that repeats none. The optimum is found if it is
    colourful; enough iterations reduce the probability of missing it to `failure`. All vertices of
    a class share its colour, and colours are distributed evenly, which makes a given path
    colourful more often than independent draws do. If there are no more classes than colours, all
    get different ones, and a single pass finds the best path, which a bound then proves optimal.
    An iteration of the budget is a colouring; a budget that ends first lowers the certificate's
    confidence.

    Parameters
    ----------
    failure
        Probability with which the optimum may be missed, between 0 and 1.
    colors
        Number of colours r; ``"auto"`` minimises iterations times 2^r over k ... 2k.
    seed
        Colourings are a function of the seed and the iteration alone.

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
    >>> found = ColorCoding(failure=0.01).decode(problem, 3).certificate
    >>> found.status, found.confidence, found.iterations
    ('probable', 0.99, 12)
    """

    failure: float = 1e-3
    colors: int | Literal["auto"] = "auto"
    seed: int = 0

    def __post_init__(self) -> None:
        if not is_number(self.failure) or not 0.0 < self.failure < 1.0:
            raise ProblemError(
                f"failure: expected a probability between 0 and 1, got {self.failure!r}."
            )
        if self.colors != "auto":
            checked_whole("colors", self.colors, low=1)
        checked_whole("seed", self.seed, low=0)

    def _solve(
        self, problem: PathProblem, length: int, k: int, clock: Clock
    ) -> list[PathSolution]:
        colors = self._color_count(problem, length)
        chance = colorful_probability(problem.class_count, length, colors)
        needed = needed_colorings(chance, self.failure)
        colorings = Colorings(problem, length, colors, self.seed)
        last = min(needed, clock.budget.iterations or needed)
        done, path, score = 0, None, -np.inf
        while done < last and not (clock.exhausted(done) or problem.lacks_time(clock, 0)):
            found, whole = colorings.next_path(score, clock.exhausted)
            done += whole
            if found is not None:
                path, score = found, problem.score(found)
        bound, confidence = np.inf, None
        if done and chance < 1.0:
            confidence = 1.0 - self.failure if done == needed else 1.0 - (1.0 - chance) ** done
        if path is None or done < last:  # the time is over: any path may be better than this one
            try:
                other = some_path(problem, length, clock)
            except (InfeasibleError, UndecidedError):
                if path is None:
                    raise
            else:
                if path is None or problem.score(other) > score:
                    # the best path was colourful in no colouring: it would have been found
                    path, score, confidence = other, problem.score(other), None
        if chance == 1.0 or done < last:
            bound = quick_bound(problem, length, score, PROOF_NODES, clock)
        solution = PathSolution.certified(
            "ColorCoding", problem, path, bound, confidence=confidence, iterations=done
        )
        return [solution]

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
    """A sequence of random colourings of the classes, and the best path under each.

    With as many `colors` as classes, one colouring solves the problem.
    """

    def __init__(self, problem: PathProblem, length: int, colors: int, seed: int) -> None:
        self._problem, self._colors = problem, colors
        self._random = np.random.default_rng(seed & 0xFFFFFFFFFFFFFFFF)
        self._values = np.empty((1 << colors, problem.size))
        self._path = np.empty(length, dtype=np.int32)

    def next_path(
        self, floor: float, interrupted: Callable[[], bool]
    ) -> tuple[Integers32 | None, bool]:
        """Return the best path under the next colouring, and whether the pass was completed.

        The path is None if none scores more than `floor`. `interrupted` is called from time to
        time, and says whether to stop.
        """
        problem, found = self._problem, None
        # colours are distributed evenly over the classes
        colors = self._random.permutation(problem.class_count) % self._colors
        colors = colors[problem.dense_classes]
        members = np.argsort(colors)
        first_of = np.searchsorted(colors[members], np.arange(self._colors + 1))
        best, stop = np.array([floor]), 1 << self._colors
        sets_per_check = 1 + CANDIDATES_PER_CHECK // problem.size**2
        for begin in range(0, stop, sets_per_check):
            if begin and interrupted():
                return found, False
            sets = begin, min(begin + sets_per_check, stop)
            given = (colors, members, first_of, *sets, self._values, best, self._path)
            if best_colorful(problem.graph, *given):
                found = self._path.copy()
        return found, True


def colorful_probability(class_count: int, length: int, colors: int) -> float:
    """Return the probability that `length` given classes get different colours.

    Colours are distributed evenly. The elementary symmetric polynomial of the numbers of classes
    of each colour counts the colourful choices, and the binomial coefficient all choices.

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
    """Return the number of colours r from k to 2k with the least iterations times 2^r.

    Raises `ProblemError` if even k colours take too much memory.
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
