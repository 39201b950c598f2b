"""What comes back of choices of representatives, and the base class of their decoders."""

from __future__ import annotations

from abc import ABC, abstractmethod
from dataclasses import dataclass, field
from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

from ...budget import UNLIMITED, Budget
from ...certificate import Certificate
from .costs import relative_tolerance
from .problem import RepresentativesProblem

__all__ = [
    "RepresentativesDecoder",
    "RepresentativesSolution",
    "certificate_of",
    "least_of_others",
]

_LARGEST = float(np.finfo(np.float32).max)


class RepresentativesDecoder(ABC):
    """What all decoders of representatives share: options in fields, and `decode`."""

    @abstractmethod
    def decode(
        self, problem: RepresentativesProblem, *, budget: Budget = UNLIMITED
    ) -> RepresentativesSolution:
        """Choose one candidate of each set.

        Parameters
        ----------
        budget
            When to stop; decoders that need one pass only take it whatever the budget.

        Raises
        ------
        InfeasibleError
            If all candidates of a set are forbidden.
        """


@dataclass(frozen=True, eq=False)
class RepresentativesSolution:
    """One candidate chosen from each set."""

    choices: NDArray[np.int32]
    """**Shape:** (k,), int32: an index into each set."""
    vertices: NDArray[np.int64]
    """**Shape:** (k,), int64: the caller's ids of the chosen vertices."""
    margins: NDArray[np.float32]
    """**Shape:** (k,), float32: how much more it would cost to choose otherwise in each set;
    infinite where no other candidate is allowed. What the others may then do depends on the
    decoder: from an exact one it is the best cost with another candidate there less the best cost;
    from a heuristic all other choices stay, and the margin may be negative."""
    exact_margins: NDArray[np.bool_]
    """**Shape:** (k,), bool: which margins are proven to be the best cost with another candidate
    less the best cost, to within 1e-6 times 1 and the absolute costs of the two choices. From an
    exact decoder any other margin is a lower bound; from a heuristic it says nothing of the
    others' best answer."""
    certificate: Certificate
    """The cost, and what is known of the least one."""
    problem: RepresentativesProblem = field(repr=False)
    """What was solved."""

    @classmethod
    def of(
        cls,
        problem: RepresentativesProblem,
        choices: ArrayLike,
        certificate: Certificate,
        margins: NDArray[Any] | None = None,
        exact: NDArray[np.bool_] | bool = False,
    ) -> RepresentativesSolution:
        """Make a solution; without `margins` with what the best other candidates cost more while
        all other choices stay. Proven are the `exact`, and where nothing else can be chosen."""
        own = np.array(choices, np.int32)
        if margins is None:
            costs, offsets = problem.conditional_costs(own), problem.offsets
            margins = least_of_others(costs, offsets, own) - costs[offsets[:-1] + own]
        exact = np.isposinf(margins) | exact
        vertices = problem.vertices[problem.members[problem.offsets[:-1] + own]]
        # what is too large for float32 becomes its largest number
        clipped = np.minimum(np.maximum(margins, -_LARGEST), _LARGEST)
        single = np.where(np.isinf(margins), margins, clipped).astype(np.float32)
        for array in (own, vertices, single, exact):
            array.flags.writeable = False
        return cls(own, vertices, single, exact, certificate, problem)

    @property
    def distance_cost(self) -> float:
        """The sum of distances over ordered pairs of sets: the paper's f(S)."""
        positions = self.problem.offsets[:-1] + self.choices
        return 2.0 * self.problem.sum_among(positions)[0]


def certificate_of(
    decoder: str,
    problem: RepresentativesProblem,
    positions: NDArray[np.int64],
    bound: float,
    *,
    tolerance: float | None = None,
    iterations: int = 0,
) -> Certificate:
    """Compare what candidates cost with a bound; the tolerance is by default that of sums.

    They are told by where they are, all sets end to end. **Shape:** positions (k,).
    """
    cost, scale = problem.priced(positions)
    return Certificate.from_bound(
        decoder,
        cost,
        bound,
        minimized=True,
        tolerance=relative_tolerance(scale) if tolerance is None else tolerance,
        scale=scale,
        iterations=iterations,
    )


def least_of_others(
    values: NDArray[Any], offsets: NDArray[np.int64], choices: NDArray[Any]
) -> NDArray[Any]:
    """**Shape:** (k,): the least value of each set without what was chosen.

    The largest number that there is where nothing else can be.
    """
    others = values.copy()
    whole = values.dtype.kind == "i"
    others[offsets[:-1] + choices] = np.iinfo(values.dtype).max if whole else np.inf
    return np.minimum.reduceat(others, offsets[:-1])
