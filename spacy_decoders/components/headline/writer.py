"""Choosing the length and the number of headlines within a limit of characters."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING

from ...budget import Budget, allowing_for_compilation
from ...decoders.protocols import PathDecoding
from ...errors import InfeasibleError
from ..factories.headline_generator import Length
from .headlines import Headline

if TYPE_CHECKING:
    from ...decoders.path import PathProblem, PathSolution

__all__ = ["HeadlineWriter"]

#: Ranked headlines that are searched for one that fits `max_chars`.
LOOKED_THROUGH = 20


@dataclass(frozen=True)
class HeadlineWriter:
    """The policy that turns a graph into headlines; its attributes are component options.

    See :class:`~spacy_decoders.components.factories.headline_generator.HeadlineOptions`.
    """

    decoder: PathDecoding
    length: Length
    max_chars: int | None
    n_best: int
    seconds: float | None
    iterations: int | None

    def lengths(self, usual: tuple[int, int], classes: int) -> list[int]:
        """Return the lengths to choose from, for a text with so many classes."""
        if self.length == "auto":
            least, most = usual
        elif isinstance(self.length, int):
            least = most = self.length
        else:
            least, most = self.length[0], self.length[-1]
        most = min(most, classes)
        return list(range(min(least, most), most + 1))

    def write(
        self,
        problem: PathProblem,
        usual: tuple[int, int],
        render: Callable[[PathSolution], Headline],
    ) -> list[Headline]:
        """Decode and render, best first; nothing if there is no path at all.

        Parameters
        ----------
        problem
            The graph.
        usual
            Least and most words of a usual headline.
        render
            Renders a path as text.
        """
        lengths = self.lengths(usual, problem.class_count)
        if not lengths or lengths[-1] < 1:
            return []
        first = self._best_length(problem, lengths)
        for length in range(first[0], 0, -1):
            if first[1] is not None and self.max_chars is None and self.n_best == 1:
                return [render(first[1])]
            headlines = self._ranked(problem, length, render)
            if headlines:
                return headlines
        return []

    def _best_length(
        self, problem: PathProblem, lengths: Sequence[int]
    ) -> tuple[int, PathSolution | None]:
        """Return the length to write, with its best path if that is known already."""
        if len(lengths) == 1 and (self.n_best > 1 or self.max_chars is not None):
            return lengths[0], None
        solutions = self.decoder.decode_lengths(problem, lengths, budget=self._budget)
        found = [
            # a single word has no step: avoid dividing by zero
            (solution.certificate.score / max(length - 1, 0.5), length, solution)
            for length, solution in zip(lengths, solutions, strict=True)
            if solution.certificate.score is not None
        ]
        if not found:
            return lengths[0], None
        # lengths are distinct, so that solutions are never compared
        _, length, solution = max(found)
        return length, solution

    def _ranked(
        self, problem: PathProblem, length: int, render: Callable[[PathSolution], Headline]
    ) -> list[Headline]:
        """Return the best headlines of one length that fit, each text once."""
        wanted = self.n_best if self.max_chars is None else self.n_best + LOOKED_THROUGH
        try:
            solutions = self.decoder.k_best(problem, length, wanted, budget=self._budget)
        except InfeasibleError:
            return []
        by_text: dict[str, Headline] = {}
        for solution in solutions:
            headline = render(solution)
            if self.max_chars is None or len(headline.text) <= self.max_chars:
                by_text.setdefault(headline.text, headline)
        return list(by_text.values())[: self.n_best]

    @property
    def _budget(self) -> Budget:
        return allowing_for_compilation(Budget(self.seconds, self.iterations), self.decoder)
