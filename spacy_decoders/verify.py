"""Check a certificate independently of the decoder that made it.

Each core has a `verification` module that computes, by code that shares nothing with its decoders,
the score of a structure and a bound on the best; this module compares these with the claims of the
certificate.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass
from importlib import import_module
from typing import Any, Literal

import numpy as np

from .arrays import Floats, is_number
from .certificate import Certificate, largest_tolerance
from .errors import ProblemError

__all__ = ["Findings", "Verification", "best_of_program", "verify"]

#: The tolerance of a recomputed sum, relative to the sum of its absolute terms.
ROUNDING = 1e-9

#: The core whose `verification` examines a solution, by the name of the solution's class.
EXAMINERS = {
    "ChainSolution": ".decoders.chain",
    "TreeSolution": ".decoders.tree",
    "PathSolution": ".decoders.path",
    "SubtreeSolution": ".decoders.path",
    "RepresentativesSolution": ".decoders.representatives",
}


@dataclass(frozen=True)
class Findings:
    """The result of an independent check of a structure and its problem."""

    #: Why the structure is not one of the problem's; None if it is legal.
    fault: str | None
    #: Its score or cost, summed from the problem.
    score: float
    #: The sum of the absolute scores of its parts.
    scale: float
    #: The score of the best structure that the check found: `score` if it found no other.
    best: float
    #: A bound on all structures; infinite without a proof.
    bound: float
    #: Whether the objective is a cost.
    minimized: bool = False

    @classmethod
    def illegal(cls, fault: str) -> Findings:
        """Report a structure that the problem does not allow."""
        return cls(fault, math.nan, math.nan, math.nan, math.nan)


def best_of_program(
    gains: Floats,
    rows: Sequence[tuple[Any, Any, Any]],
    seconds: float,
    whole: Any = None,
    upper: Any = 1.0,
) -> tuple[Floats | None, float]:
    """Maximise an integer program by scipy; return the columns, if found, and the solver's bound.

    Each of the `rows` is a matrix, **shape** (m, n), with the least and largest values of its
    product with the columns, **shape** (n,), which are from 0 to `upper` and, by default, integer.
    The bound is infinite if the solver gives none.
    """
    from scipy.optimize import Bounds, LinearConstraint, milp

    found: Any = milp(
        -gains,
        integrality=np.ones(len(gains)) if whole is None else whole,
        bounds=Bounds(0.0, upper),
        constraints=[LinearConstraint(*row) for row in rows],
        options={"time_limit": seconds, "mip_rel_gap": 0.0},
    )
    bound = getattr(found, "mip_dual_bound", None)
    return found.x, math.inf if bound is None or not math.isfinite(bound) else -float(bound)


@dataclass(frozen=True)
class Verification:
    """The outcome of checking a certificate; true if it is confirmed.

    Attributes
    ----------
    outcome
        ``"confirmed"``: all that the certificate claims holds; ``"refuted"``: some of it is wrong;
        ``"undecided"``: no error was found, but the check's own bound is too weak, or its time too
        short, to prove the claim.
    reason
        What was compared, in a sentence.
    score, bound
        The score of the structure and the bound on all structures, as computed by the check; None
        if not computed.
    """

    outcome: Literal["confirmed", "refuted", "undecided"]
    reason: str
    score: float | None = None
    bound: float | None = None

    def __bool__(self) -> bool:
        return self.outcome == "confirmed"


def verify(problem: Any, solution: Any, *, seconds: float = 60.0) -> Verification:
    """Check the certificate of a solution by code that shares nothing with its decoder.

    The structure must be legal, its score must be that of the problem, the numbers of the
    certificate must agree with each other and with its status, and its claim about the best
    structure is derived again: by enumeration where that is short, otherwise by plain dynamic
    programming (chains) or an integer program (trees with factors, paths, representatives).

    Parameters
    ----------
    problem
        The decoded problem: a `TreeProblem`, `PathProblem` or `RepresentativesProblem`; for a
        chain, ``(model, emissions)``; for a path also ``(problem, length)``, to check its length,
        too; for a subtree, ``(SubtreeProblem, capacity, least)``; for the tree of an adapted
        parser, what its `problem` returns.
    solution
        The solution, with its certificate.
    seconds
        About how long the check may take; when it ends the outcome may be ``"undecided"``.

    Returns
    -------
    Verification
        True if the certificate's claims about the structure are confirmed. It can't check the
        decoder's name, the number of iterations, a confidence below 1, and pruning that the
        problem does not record. `SecondOrder` as the decoder's name means that adjacent siblings
        alone are scored.

    Raises
    ------
    ProblemError
        If `solution` is not one of a core, or `problem` does not belong to it.

    Examples
    --------
    >>> from dataclasses import replace
    >>> from spacy_decoders.decoders.chain import ChainModel, ForwardDominance
    >>> model, emissions = ChainModel([[1, 0], [0, 1]]), [[3, 0], [0, 1.5]]
    >>> solution = ForwardDominance().decode(model, emissions)
    >>> verify((model, emissions), solution).outcome
    'confirmed'
    >>> verify((model, emissions), replace(solution, labels=[1, 1])).reason
    'score: the certificate says 4.5, the structure is worth 2.5.'
    """
    core = EXAMINERS.get(type(solution).__name__)
    if core is None or not isinstance(getattr(solution, "certificate", None), Certificate):
        raise ProblemError(
            f"solution: expected one of {', '.join(EXAMINERS)}, got {type(solution).__name__}."
        )
    if not is_number(seconds) or not seconds > 0:
        raise ProblemError(f"seconds: expected a number greater than 0, got {seconds!r}.")
    examiner = import_module(f"{core}.verification", __package__)
    return judge(solution.certificate, examiner.examine(problem, solution, seconds=seconds))


def judge(certificate: Certificate, found: Findings) -> Verification:
    """Compare the claims of a certificate with the findings of a check."""
    if found.fault is not None:
        return Verification("refuted", f"structure: {found.fault}")
    rounding = ROUNDING * (1.0 + found.scale)
    sign = -1.0 if found.minimized else 1.0
    fault = _fault_of_numbers(certificate, found, sign)
    optimal = certificate.status == "optimal"
    slack = max(certificate.tolerance, rounding) if optimal and fault is None else rounding
    if fault is None:
        fault = _fault_of_claim(certificate, found, sign, slack) or _fault_of_status(certificate)
    numbers = (found.score, found.bound if math.isfinite(found.bound) else None)
    if fault is not None:
        return Verification("refuted", fault, *numbers)
    claim = certificate.score if optimal else certificate.bound
    if claim is not None and sign * (found.bound - claim) > slack:
        reason = f"the check proves no better bound than {found.bound!r}."
        return Verification("undecided", reason, *numbers)
    if claim is None:
        return Verification("confirmed", "the score is right; no bound is claimed.", *numbers)
    reason = f"no structure exceeds {found.bound!r}; this one has {found.score!r}."
    return Verification("confirmed", reason, *numbers)


def _fault_of_claim(
    certificate: Certificate, found: Findings, sign: float, slack: float
) -> str | None:
    """Return how the claim about the best structure is disproved, if it is."""
    certain = certificate.status == "optimal" or certificate.confidence == 1.0
    if certain and sign * (found.best - found.score) > slack:
        status = certificate.status
        return f"{status}: another structure has {found.best!r}, this one {found.score!r}."
    bound = certificate.bound
    if bound is not None and sign * (found.best - bound) > ROUNDING * (1.0 + found.scale):
        return f"bound: {bound!r}, but a structure has {found.best!r}."
    return None


def _fault_of_numbers(certificate: Certificate, found: Findings, sign: float) -> str | None:
    """Return what is wrong with the certificate's own numbers, if anything is."""
    score, bound, gap = certificate.score, certificate.bound, certificate.gap
    rounding = ROUNDING * (1.0 + found.scale)
    if score is None or certificate.status == "infeasible":
        return f"status: {certificate.status!r}, but the structure is legal."
    for name in ("score", "bound", "gap", "tolerance", "confidence", "iterations"):
        value = getattr(certificate, name)
        if value is None and name in ("bound", "gap", "confidence"):
            continue
        if not isinstance(value, (int, float)) or not math.isfinite(value):
            return f"{name}: {value!r} is not a finite number."
    if certificate.iterations < 0 or certificate.scope not in ("full", "pruned"):
        return f"iterations or scope: {certificate.iterations!r}, {certificate.scope!r}."
    if not abs(score - found.score) <= rounding:
        return f"score: the certificate says {score!r}, the structure is worth {found.score!r}."
    most = largest_tolerance(found.scale) * (1.0 + ROUNDING)
    tolerance, optimal = certificate.tolerance, certificate.status == "optimal"
    if bound is None and optimal:
        return "status: 'optimal' without a bound."
    if (bound is None) != (gap is None) or (
        bound is not None
        and gap is not None
        and not abs(gap - abs(bound - score)) <= ROUNDING * (abs(bound) + abs(score))
    ):
        return f"gap: {gap!r} is not the distance from {score!r} to {bound!r}."
    if optimal and not (gap is not None and gap <= tolerance <= most):
        return (
            f"optimal: it needs gap <= tolerance <= {most!r}, got a gap of {gap!r} and a "
            f"tolerance of {tolerance!r}."
        )
    if not 0.0 <= tolerance <= most:
        return f"tolerance: it must be from 0 to {most!r}, got {tolerance!r}."
    if bound is not None and sign * (score - bound) > max(tolerance, rounding):
        return f"bound: {bound!r} lies on the wrong side of the score {score!r}."
    return None


def _fault_of_status(certificate: Certificate) -> str | None:
    """Return why the status and the confidence are not those of the numbers, if so."""
    status, confidence, gap = certificate.status, certificate.confidence, certificate.gap
    if gap is not None and gap <= certificate.tolerance:
        wanted, sure = "optimal", confidence == 1.0
    elif confidence is not None:
        wanted, sure = "probable", 0.0 <= confidence <= 1.0
    else:
        wanted, sure = ("heuristic" if gap is None else "bounded"), True
    if status != wanted:
        return (
            f"status: with a gap of {gap!r}, a tolerance of {certificate.tolerance!r} and a "
            f"confidence of {confidence!r} it is {wanted!r}, not {status!r}."
        )
    return None if sure else f"confidence: {confidence!r} does not go with {status!r}."
