"""Choosing the length and number of headlines of single words, within a limit of characters."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import TYPE_CHECKING

from ...budget import Budget, allowing_for_compilation
from ...errors import InfeasibleError
from ..factories.headline_generator import HeadlineOptions
from .headlines import Headline

if TYPE_CHECKING:
    from ...decoders.path import PathProblem, PathSolution

__all__ = ["lengths_of", "written_paths"]

#: Ranked headlines that are searched for one that fits `max_chars`.
LOOKED_THROUGH = 20


def lengths_of(options: HeadlineOptions, usual: tuple[int, int], classes: int) -> list[int]:
    """Return the lengths to choose from, for a text with so many classes."""
    if options.length == "auto":
        least, most = usual
    elif isinstance(options.length, int):
        least = most = options.length
    else:
        least, most = options.length[0], options.length[-1]
    most = min(most, classes)
    return list(range(min(least, most), most + 1))


def written_paths(
    options: HeadlineOptions,
    problem: PathProblem,
    usual: tuple[int, int],
    render: Callable[[PathSolution], Headline],
) -> list[Headline]:
    """Decode and render, best first; nothing if there is no path at all.

    Parameters
    ----------
    options
        Those of the component.
    problem
        The graph.
    usual
        Least and most words of a usual headline.
    render
        Renders a path as text.
    """
    lengths = lengths_of(options, usual, problem.class_count)
    if not lengths or lengths[-1] < 1:
        return []
    length, best = _best_length(options, problem, lengths)
    if best is not None and options.max_chars is None and options.n_best == 1:
        return [render(best)]
    for shorter in range(length, 0, -1):
        headlines = _ranked(options, problem, shorter, render)
        if headlines:
            return headlines
    return []


def _best_length(
    options: HeadlineOptions, problem: PathProblem, lengths: Sequence[int]
) -> tuple[int, PathSolution | None]:
    """Return the length to write, with its best path if that is known already."""
    if len(lengths) == 1 and (options.n_best > 1 or options.max_chars is not None):
        return lengths[0], None
    solutions = options.decoder.decode_lengths(problem, lengths, budget=_budget(options))
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
    options: HeadlineOptions,
    problem: PathProblem,
    length: int,
    render: Callable[[PathSolution], Headline],
) -> list[Headline]:
    """Return the best headlines of one length that fit, each text once."""
    limit, wanted = options.max_chars, options.n_best
    looked_at = wanted if limit is None else wanted + LOOKED_THROUGH
    try:
        solutions = options.decoder.k_best(problem, length, looked_at, budget=_budget(options))
    except InfeasibleError:
        return []
    by_text: dict[str, Headline] = {}
    for solution in solutions:
        headline = render(solution)
        if limit is None or len(headline.text) <= limit:
            by_text.setdefault(headline.text, headline)
    return list(by_text.values())[:wanted]


def _budget(options: HeadlineOptions) -> Budget:
    return allowing_for_compilation(Budget(options.seconds, options.iterations), options.decoder)
