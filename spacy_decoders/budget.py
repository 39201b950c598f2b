"""Limits on the work of a decoder on one problem."""

from __future__ import annotations

import math
from dataclasses import dataclass
from time import perf_counter

from .arrays import checked_whole, is_number
from .errors import ProblemError

__all__ = ["UNLIMITED", "Budget", "Clock", "Compiling", "rest_of"]


@dataclass(frozen=True)
class Budget:
    """A limit on the time and the outer iterations that one decoding may take.

    When the budget ends, a decoder returns the best structure it has, with a valid bound. The
    limit is checked between iterations, so it is exceeded by at most one.

    Parameters
    ----------
    seconds
        Wall-clock seconds, greater than 0; None for no limit.
    iterations
        Outer iterations of the method, at least 1: without one there is no structure to return.
        None for no limit.

    Raises
    ------
    ProblemError
        If a limit is not a positive number.

    Examples
    --------
    >>> clock = Budget(iterations=2).start()
    >>> [clock.exhausted(done) for done in (0, 1, 2)]
    [False, False, True]
    """

    seconds: float | None = None
    iterations: int | None = None

    def __post_init__(self) -> None:
        seconds = self.seconds
        if seconds is not None and not (is_number(seconds) and seconds > 0):
            raise ProblemError(
                "budget: seconds must be a number greater than 0, or None for no limit; "
                f"got {seconds!r}."
            )
        if seconds is not None:  # numpy's numbers are none for the standard library
            object.__setattr__(self, "seconds", float(seconds))
        if self.iterations is not None:
            checked_whole("budget: iterations", self.iterations, low=1)

    def start(self) -> Clock:
        """Start the clock of one decoding."""
        return Clock(self, _working_time())


#: No limit: the default of every decoder.
UNLIMITED = Budget()


class Compiling:
    """The seconds that this process has spent compiling, which no budget counts."""

    seconds = 0.0


@dataclass(frozen=True)
class Clock:
    """A running budget; made by :meth:`Budget.start`. It stands still while code is compiled."""

    budget: Budget
    #: The time of the start, less the seconds spent compiling before.
    started: float

    @property
    def seconds_left(self) -> float:
        """Seconds until the budget ends, never negative; infinite without a limit."""
        if self.budget.seconds is None:
            return math.inf
        return max(0.0, self.budget.seconds - (_working_time() - self.started))

    def exhausted(self, iterations: int = 0) -> bool:
        """Whether the budget has ended after so many outer iterations."""
        seconds, limit = self.budget.seconds, self.budget.iterations
        if limit is not None and iterations >= limit:
            return True
        return seconds is not None and self.seconds_left == 0.0


def _working_time() -> float:
    return perf_counter() - Compiling.seconds


def rest_of(clock: Clock, iterations: int) -> Budget:
    """Return what is left of a budget after so many outer iterations, which is never nothing."""
    limits = clock.budget
    if limits.seconds is None and limits.iterations is None:
        return UNLIMITED
    return Budget(
        None if limits.seconds is None else max(clock.seconds_left, 1e-6),
        None if limits.iterations is None else max(1, limits.iterations - iterations),
    )
