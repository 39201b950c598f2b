"""How much of a budget a decoder has used, counted in work."""

from __future__ import annotations

from ...budget import Clock

__all__ = ["STEPS", "Work"]

#: Vertices looked at that count as an iteration: about 10 ms.
STEPS = 4_000_000


class Work:
    """The work done under one clock.

    A budget in iterations then means about the same work whichever way a decoder goes, and
    the same on any machine.

    Attributes
    ----------
    clock
        The budget that runs.
    rounds
        Rounds of the method.
    steps
        Vertices looked at beyond that.
    """

    def __init__(self, clock: Clock) -> None:
        self.clock = clock
        self.rounds = 1
        self.steps = 0

    @property
    def iterations(self) -> int:
        """The iterations that this comes to."""
        return self.rounds + self.steps // STEPS

    @property
    def exhausted(self) -> bool:
        """Whether the budget allows no further round."""
        return self.clock.exhausted(self.iterations + 1)
