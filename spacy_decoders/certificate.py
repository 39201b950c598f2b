"""Certificates: what is proven of a decoded structure."""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import Literal

from .errors import ProblemError

__all__ = ["Certificate", "Scope", "Status", "largest_tolerance", "tolerance_of"]

Status = Literal["optimal", "probable", "bounded", "heuristic", "infeasible"]
Scope = Literal["full", "pruned"]

#: The largest tolerance within which a structure may be called optimal, relative to its scale.
RELATIVE_TOLERANCE = 1e-6

#: The least tolerance, relative to the same scale, whatever the rounding of a proof.
PROOF_TOLERANCE = 1e-9


def largest_tolerance(scale: float) -> float:
    """Return the largest tolerance within which a structure may be called optimal.

    The `scale` is the sum of the absolute scores of the parts that the structure has. A large
    score elsewhere in the problem, such as a mask, is not included.

    Examples
    --------
    >>> largest_tolerance(1.0)
    2e-06
    """
    return RELATIVE_TOLERANCE * (1.0 + scale)


def tolerance_of(scale: float, rounding: float = 0.0) -> float:
    """Return the tolerance within which a score and a bound on the best score count as equal.

    Both searches, to stop, and certificates use it, so that what a search takes for proven is
    proven in the certificate, too. The `scale` is as for :func:`largest_tolerance`; `rounding` is
    what the bound adds for the rounding errors of its own arithmetic.

    Examples
    --------
    >>> tolerance_of(1.0)
    2e-09
    >>> tolerance_of(1.0, rounding=1e-8)
    2e-08
    """
    return min(max(PROOF_TOLERANCE * (1.0 + scale), 2.0 * rounding), largest_tolerance(scale))


@dataclass(frozen=True, slots=True)
class Certificate:
    """The proven quality of a decoded structure.

    Make one with the constructors below: they derive the status from the numbers, so that
    `optimal` is always a comparison of score and bound, never an assertion.

    Attributes
    ----------
    decoder
        The name of the decoder's class, such as ``"ForwardDominance"``.
    status
        ``"optimal"``: proven; ``"probable"``: optimal with probability `confidence`;
        ``"bounded"``: a gap is left; ``"heuristic"``: nothing; ``"infeasible"``: there is
        no structure.
    score
        Objective of the returned structure, recomputed from the problem in float64; None
        without a structure.
    bound
        Proven bound on the best objective, on the far side of `score`; None without one.
    gap
        ``abs(bound - score)``; None without a bound.
    tolerance
        Numerical slack within which ``optimal`` holds.
    confidence
        Probability that the structure is optimal: 1.0 if proven, None if unknown.
    scope
        ``"pruned"`` if a heuristic removed candidates first: everything else then refers to the
        remaining problem.
    iterations
        Outer iterations of the method.

    Examples
    --------
    >>> Certificate.from_bound("Viterbi", score=3.0, bound=3.0, tolerance=1e-6).status
    'optimal'
    >>> loose = Certificate.from_bound("BranchAndBound", score=3.0, bound=3.5, tolerance=1e-6)
    >>> loose.status, loose.gap
    ('bounded', 0.5)
    """

    decoder: str
    status: Status
    score: float | None = None
    bound: float | None = None
    gap: float | None = None
    tolerance: float = 0.0
    confidence: float | None = None
    scope: Scope = "full"
    iterations: int = 0

    @classmethod
    def from_bound(
        cls,
        decoder: str,
        score: float,
        bound: float,
        *,
        tolerance: float,
        scale: float | None = None,
        minimized: bool = False,
        confidence: float | None = None,
        scope: Scope = "full",
        iterations: int = 0,
    ) -> Certificate:
        """Certify a structure by a bound on the best objective that was computed apart.

        `optimal` if score and bound agree within `tolerance`; else `probable` if a `confidence` is
        given; else `bounded`. An infinite bound, which proves nothing, is replaced by None, and so
        is a bound that the score itself disproves.

        Parameters
        ----------
        score, bound
            As the attributes; the bound was computed apart, and never derived from the score.
        tolerance
            Numerical slack, at most ``largest_tolerance(scale)``.
        scale
            The sum of the absolute scores of the structure's parts; None for the absolute value of
            `score`, which is never more.
        minimized
            Whether the objective is a cost, so that the bound lies below it.
        confidence
            Probability that the structure is optimal, if the method has one apart from the bound.

        Raises
        ------
        ProblemError
            If a number is NaN, the score infinite, or `tolerance` or `scale` negative.
        """
        score, bound, tolerance = float(score), float(bound), float(tolerance)
        scale = abs(score) if scale is None else float(scale)
        if not (math.isfinite(score) and tolerance >= 0 and scale >= 0) or math.isnan(bound):
            raise ProblemError(
                "certificate: score must be finite, bound a number, tolerance and scale not "
                f"negative; got score={score!r}, bound={bound!r}, tolerance={tolerance!r}, "
                f"scale={scale!r}."
            )
        tolerance = min(tolerance, largest_tolerance(scale))
        proven: float | None = bound
        gap: float | None = abs(bound - score)
        disproved = (bound > score) if minimized else (bound < score)
        status: Status = "probable" if confidence is not None else "bounded"
        if abs(bound - score) <= tolerance < math.inf:
            status, confidence = "optimal", 1.0
        elif math.isinf(bound) or disproved:
            status = "probable" if confidence is not None else "heuristic"
            proven, gap = None, None
        return cls(
            decoder, status, score, proven, gap, tolerance, confidence, scope, int(iterations)
        )

    @classmethod
    def heuristic(
        cls, decoder: str, score: float, *, scope: Scope = "full", iterations: int = 0
    ) -> Certificate:
        """Make the certificate of a structure without a bound.

        Raises
        ------
        ProblemError
            If `score` is not finite: the structure is not one of the problem's.
        """
        if not math.isfinite(score):
            raise ProblemError(f"certificate: score must be finite; got {float(score)!r}.")
        return cls(decoder, "heuristic", float(score), scope=scope, iterations=int(iterations))

    @classmethod
    def infeasible(cls, decoder: str, *, scope: Scope = "full") -> Certificate:
        """Certify that no structure satisfies the constraints."""
        return cls(decoder, "infeasible", scope=scope)

    @classmethod
    def undecided(cls, decoder: str, *, scope: Scope = "full") -> Certificate:
        """Say that no structure was found, and that nothing is proven: there may be one."""
        return cls(decoder, "heuristic", scope=scope)

    @property
    def is_optimal(self) -> bool:
        """Whether the structure is proven optimal."""
        return self.status == "optimal"

    def as_dict(self) -> dict[str, str | float | int | None]:
        """Return the fields as plain JSON types, fit for ``Doc._`` and DocBin."""
        # in full, since `dataclasses.asdict` and loops over names take longer than some decoders
        return {
            "decoder": self.decoder,
            "status": self.status,
            "score": self.score,
            "bound": self.bound,
            "gap": self.gap,
            "tolerance": self.tolerance,
            "confidence": self.confidence,
            "scope": self.scope,
            "iterations": self.iterations,
        }
