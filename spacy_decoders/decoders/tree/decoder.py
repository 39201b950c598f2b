"""What all tree decoders share: one entry, honest certificates, plain refusals."""

from __future__ import annotations

from abc import ABC, abstractmethod

import numpy as np
from numpy.typing import NDArray

from ...budget import UNLIMITED, Budget
from ...certificate import Certificate
from ...errors import DecodersError, InfeasibleError, ProblemError
from .problem import TreeProblem, TreeSolution

__all__ = [
    "TreeDecoder",
    "certified",
    "certified_by_arcs",
    "infeasible",
    "rounding_slack",
    "tolerance_of",
]

#: Half a unit in the last place of float64: the relative error of one rounded sum.
UNIT = 2.0**-53

#: Above all that rounding denormal numbers may lose.
SMALLEST = 1e-300


class TreeDecoder(ABC):
    """A frozen dataclass of options that finds the best tree of a problem."""

    @abstractmethod
    def decode(self, problem: TreeProblem, *, budget: Budget = UNLIMITED) -> TreeSolution:
        """Find the best tree.

        Parameters
        ----------
        problem
            The scores of all trees over one sentence. Without tokens the empty tree is
            optimal.
        budget
            When to stop; decoders that need one pass only take it whatever the budget.

        Raises
        ------
        ProblemError
            If the problem has parts that this decoder can't score.
        InfeasibleError
            If no tree satisfies the constraints; the message says why.
        """


def rounding_slack(parts: int, score: float, positive: float) -> float:
    """Bound what float64 rounding can cost a dynamic program.

    A tree that could beat `score` has negative parts worth at most `positive` minus `score`
    together, however low single forbidden-like scores lie, so no partial sum of it exceeds
    ``abs(score) + 2 * positive``. Each of its `parts` additions is rounded by one unit of
    that, in the chart and in the sum that it is compared with.

    Parameters
    ----------
    parts
        The most parts that a tree may have.
    score
        The value that the dynamic program found.
    positive
        The most that the positive parts of a tree may be worth together.
    """
    return 4.0 * (parts + 1) * UNIT * (abs(score) + 2.0 * positive) + SMALLEST


def tolerance_of(scale: float, slack: float = 0.0) -> float:
    """Return by how much a bound may exceed an optimal score.

    Parameters
    ----------
    scale
        The sum of the absolute scores of the tree's parts.
    slack
        What the bound includes for rounding.
    """
    return max(1e-9 * (1.0 + scale), 2.0 * slack)


def certified(
    decoder: str,
    problem: TreeProblem,
    heads: NDArray[np.int32],
    score: float,
    scale: float,
    bound: float,
    slack: float,
    iterations: int = 1,
) -> TreeSolution:
    """Return a tree with the comparison of its score and a bound that was computed apart.

    Parameters
    ----------
    score, scale
        What the tree's parts are worth together, and their absolutes.
    bound
        What no tree exceeds, but for rounding.
    slack
        What rounding may have lost of the bound; it is added.
    """
    return TreeSolution(
        heads,
        Certificate.from_bound(
            decoder,
            score,
            bound + slack,
            tolerance=tolerance_of(scale, slack),
            scale=scale,
            scope=problem.scope,
            iterations=iterations,
        ),
    )


def certified_by_arcs(
    decoder: str, problem: TreeProblem, heads: NDArray[np.int32], bound: float, slack: float
) -> TreeSolution:
    """Return a tree of single arcs with its certificate.

    Raises
    ------
    DecodersError
        If the heads are none of the problem's trees: then the kernel is at fault.
    """
    from .kernels import proofs  # compiled where it is first needed

    legal, score, scale = proofs.tally(
        problem.arcs, heads, problem.projective, problem.single_root
    )
    if not legal:
        raise DecodersError(f"{decoder}: the compiled code returned no tree of the problem.")
    return certified(decoder, problem, heads, score, scale, bound, slack)


def infeasible(problem: TreeProblem) -> InfeasibleError:
    """Return the error for a problem without any tree, naming the cause where it is plain."""
    without = np.flatnonzero(~problem.allowed[:, 1:].any(axis=0)) + 1
    if without.size:
        return InfeasibleError(
            f"token {int(without[0])} has no candidate head: allow at least one for each token."
        )
    if not problem.allowed[0, 1:].any():
        return InfeasibleError("no token may hang on the root: allow at least one.")
    kind = "projective " if problem.projective else ""
    root = "exactly one root" if problem.single_root else "the root"
    return InfeasibleError(
        f"no {kind}tree with {root} can be made of the {int(problem.allowed.sum())} allowed "
        "arcs: allow more, or prune with prune(), which keeps at least one tree."
    )


def refuse_unless(problem: TreeProblem, decoder: str, *, projective: bool) -> None:
    """Refuse parts beyond single arcs, and the other kind of tree."""
    if not problem.is_first_order:
        parts = [
            name
            for name in ("grandparents", "siblings", "factors")
            if getattr(problem, name) is not None
        ]
        raise ProblemError(
            f"{decoder}: scores arcs only, but the problem has {' and '.join(parts)}; use "
            "BranchAndBound, or leave them out."
        )
    if problem.projective != projective:
        other = "ChuLiuEdmonds" if projective else "Eisner"
        kind = "projective" if projective else "non-projective"
        raise ProblemError(
            f"{decoder}: finds {kind} trees; use {other}, or set projective={projective}."
        )
