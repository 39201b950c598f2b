"""Chosen representatives, with their certificates."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

from ...arrays import Booleans, Floats32, Immutable, Integers, Integers32
from ...certificate import Certificate
from .costs import relative_tolerance
from .problem import RepresentativesProblem

__all__ = [
    "RepresentativesSolution",
    "certificate_of",
    "least_of_others",
]

_LARGEST = float(np.finfo(np.float32).max)


@dataclass(frozen=True, eq=False)
class RepresentativesSolution(Immutable):
    """One candidate chosen from each set."""

    choices: Integers32
    """**Shape:** (k,), int32: an index into each set."""
    vertices: Integers
    """**Shape:** (k,), int64: the caller's ids of the chosen vertices."""
    margins: Floats32
    """**Shape:** (k,), float32: how much more it would cost to choose another candidate in each
    set; infinite where no other is allowed. From an exact decoder it is the least cost with
    another candidate, less the least cost; from a heuristic all other choices are kept, and the
    margin may be negative."""
    exact_margins: Booleans
    """**Shape:** (k,), bool: which margins are proven to be the least cost with another candidate
    less the least cost, to within 1e-6 times 1 plus the absolute costs of the two choices. From an
    exact decoder any other margin is a lower bound; from a heuristic it proves nothing."""
    certificate: Certificate
    """The cost, and what is proven about it."""
    problem: RepresentativesProblem = field(repr=False)
    """The problem that was solved."""

    @classmethod
    def of(
        cls,
        problem: RepresentativesProblem,
        choices: ArrayLike,
        certificate: Certificate,
        margins: NDArray[Any] | None = None,
        exact: Booleans | bool = False,
    ) -> RepresentativesSolution:
        """Return a solution; by default its margins are those with all other choices kept.

        The margins marked in `exact` are proven, as are those of sets without an alternative.
        """
        own = np.array(choices, np.int32)
        if margins is None:
            costs, offsets = problem.conditional_costs(own), problem.offsets
            margins = least_of_others(costs, offsets, own) - costs[offsets[:-1] + own]
        proven: Any = np.isposinf(margins) | exact
        vertices = problem.vertices[problem.members[problem.offsets[:-1] + own]]
        # a finite margin too large for float32 becomes its largest number
        clipped = np.minimum(np.maximum(margins, -_LARGEST), _LARGEST)
        proven &= np.isinf(margins) | (clipped == margins)
        single = np.where(np.isinf(margins), margins, clipped).astype(np.float32)
        for array in (own, vertices, single, proven):
            array.flags.writeable = False
        return cls(own, vertices, single, proven, certificate, problem)

    @property
    def distance_cost(self) -> float:
        """The sum of distances over ordered pairs of sets: the paper's f(S)."""
        positions = self.problem.offsets[:-1] + self.choices
        return 2.0 * self.problem.sum_among(positions)[0]


def certificate_of(
    decoder: str,
    problem: RepresentativesProblem,
    positions: Integers,
    bound: float,
    *,
    tolerance: float | None = None,
    iterations: int = 0,
) -> Certificate:
    """Return the certificate that compares the cost of candidates with a lower bound.

    `positions`, **shape** (k,), are those of the candidates in `problem.members`. The default
    tolerance is that of rounding errors.
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
    values: NDArray[Any], offsets: Integers, choices: NDArray[Any]
) -> NDArray[Any]:
    """**Shape:** (k,): the least value of each set apart from its choice.

    Where a set has no other candidate, it is the largest number of the dtype.
    """
    others = values.copy()
    whole = values.dtype.kind == "i"
    others[offsets[:-1] + choices] = np.iinfo(values.dtype).max if whole else np.inf
    return np.minimum.reduceat(others, offsets[:-1])
