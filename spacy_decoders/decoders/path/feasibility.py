"""Finding any path at all, or proving that there is none."""

from __future__ import annotations

import math

from ...budget import Clock
from ...errors import InfeasibleError
from .problem import Integers, PathProblem, infeasible_message
from .proof import Proof
from .work import STEPS

__all__ = ["some_path"]

#: Nodes of the first search, made whatever the budget: enough for small problems.
NODES = 20_000


def some_path(problem: PathProblem, length: int, clock: Clock) -> Integers:
    """Return any path: the fallback of decoders that found none.

    Raises
    ------
    InfeasibleError
        If it is proven that there is none, or the clock ends first; the message says which.
    """
    nodes, limit = NODES, clock.budget.iterations
    while True:
        proof = Proof(problem, length, -math.inf, clock)
        proof.search(nodes)
        if proof.witness is not None:
            return proof.witness
        nodes *= 4
        too_many = limit is not None and nodes * problem.size > (limit + 10) * STEPS
        if proof.bound == -math.inf or too_many or clock.exhausted():
            break
    if proof.bound == -math.inf:
        raise InfeasibleError(infeasible_message(length))
    raise InfeasibleError(
        f"The budget ended before any path of {length} vertices was found; there may be one. "
        "Allow more time or iterations."
    )
