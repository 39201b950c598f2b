"""The base class of the decoders of representatives."""

from ...arrays import checked_type
from ...budget import UNLIMITED, Budget, Clock
from .problem import RepresentativesProblem
from .solutions import RepresentativesSolution

__all__ = ["RepresentativesDecoder"]


class RepresentativesDecoder:
    """A decoder of representatives, with its options as fields."""

    def decode(
        self, problem: RepresentativesProblem, *, budget: Budget = UNLIMITED
    ) -> RepresentativesSolution:
        """Choose one candidate of each set.

        Parameters
        ----------
        budget
            When to stop; decoders that make a single pass always complete it.

        Raises
        ------
        InfeasibleError
            If all candidates of a set are forbidden.
        ProblemError
            If an argument is of another type.
        """
        clock = checked_type("budget", budget, Budget).start()
        return self._solve(checked_type("problem", problem, RepresentativesProblem), clock)

    def _solve(self, problem: RepresentativesProblem, clock: Clock) -> RepresentativesSolution:
        """Choose one candidate of each set."""
        raise NotImplementedError(f"{type(self).__name__} has neither `decode` nor `_solve`.")
