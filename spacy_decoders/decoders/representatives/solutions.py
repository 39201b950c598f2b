"""What every decoder of representatives is, and what it gives back."""

from __future__ import annotations

from abc import ABC, abstractmethod
from dataclasses import dataclass, field
from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

from ...arrays import read_only
from ...budget import UNLIMITED, Budget
from ...certificate import Certificate
from .problem import RepresentativesProblem

__all__ = ["RepresentativesDecoder", "RepresentativesSolution", "conditional_margins"]

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
        problem
            Distances and sets of candidates.
        budget
            When to stop; decoders that need one pass only take it whatever the budget.

        Raises
        ------
        InfeasibleError
            If all candidates of a set are forbidden.
        """


@dataclass(frozen=True, eq=False)
class RepresentativesSolution:
    """One candidate chosen from each set.

    Attributes
    ----------
    choices
        **Shape:** (k,), int32: an index into each set.
    vertices
        **Shape:** (k,), int64: the caller's ids of the chosen vertices.
    margins
        **Shape:** (k,), float32: how much more it would cost to choose otherwise in each
        set; infinite where no other candidate is allowed. What the others may then do
        depends on the decoder: from an exact one it is the best cost with another
        candidate there less the best cost; from a heuristic all other choices stay, and
        the margin may be negative.
    exact_margins
        **Shape:** (k,), bool: which margins are proven to be the best cost with another
        candidate less the best cost, to within 1e-6 times 1 and the absolute costs of the
        two choices. From an exact decoder any other margin is a lower bound; from a
        heuristic it says nothing of the others' best answer.
    certificate
        The cost, and what is known of the least one.
    problem
        What was solved.
    """

    choices: NDArray[np.int32]
    vertices: NDArray[np.int64]
    margins: NDArray[np.float32]
    exact_margins: NDArray[np.bool_]
    certificate: Certificate
    problem: RepresentativesProblem = field(repr=False)

    @classmethod
    def of(
        cls,
        problem: RepresentativesProblem,
        choices: ArrayLike,
        certificate: Certificate,
        margins: NDArray[Any] | None = None,
        exact: NDArray[np.bool_] | None = None,
    ) -> RepresentativesSolution:
        """Make a solution; without `margins` the conditional ones, without `exact` proven
        only where nothing else can be chosen."""
        array = problem.checked_choices(choices)
        if margins is None:
            margins = conditional_margins(problem, array)
        if exact is None:
            exact = np.isposinf(margins)
        vertices = problem.ids(problem.members[problem.offsets[:-1] + array])
        return cls(
            read_only(array),
            read_only(vertices),
            read_only(_in_single(margins)),
            read_only(exact),
            certificate,
            problem,
        )

    @property
    def distance_cost(self) -> float:
        """The sum of distances over ordered pairs of sets: the paper's f(S)."""
        return 2.0 * self.problem.pair_sum(self.choices)


def conditional_margins(
    problem: RepresentativesProblem, choices: NDArray[Any]
) -> NDArray[np.float64]:
    """**Shape:** (k,): the extra cost of the best other candidate, all other choices fixed."""
    costs = problem.conditional_costs(choices)
    margins = np.full(problem.size, np.inf)
    for i, choice in enumerate(choices):
        of_set = costs[problem.offsets[i] : problem.offsets[i + 1]]
        if len(of_set) > 1:
            margins[i] = np.delete(of_set, choice).min() - of_set[choice]
    return margins


def _in_single(margins: NDArray[Any]) -> NDArray[np.float32]:
    """Round to float32, what is too large for it to its largest number."""
    clipped = np.clip(margins, -_LARGEST, _LARGEST)
    return np.where(np.isinf(margins), margins, clipped).astype(np.float32)
