"""The work that a decoder has done, in units of its budget's iterations."""

from __future__ import annotations

from ...budget import Clock

__all__ = ["STEPS", "Work"]

#: Vertices visited that count as one iteration: about 10 ms.
STEPS = 4_000_000


class Work:
    """The work done under one clock.

    A budget in iterations then allows about the same work whichever method a decoder uses, and
    the same on any machine.

    Attributes
    ----------
    clock
        The budget that runs.
    rounds
        Rounds of the method.
    steps
        Vertices visited beyond that.
    """

    def __init__(self, clock: Clock) -> None:
        self.clock = clock
        self.rounds = 1
        self.steps = 0

    @property
    def iterations(self) -> int:
        """The work done, in iterations."""
        return self.rounds + self.steps // STEPS

    @property
    def exhausted(self) -> bool:
        """Whether the budget allows no further round."""
        return self.clock.exhausted(self.iterations + 1)
