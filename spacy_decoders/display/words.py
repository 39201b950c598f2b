"""Certificates in plain words."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

__all__ = ["in_words"]


def in_words(certificate: Mapping[str, Any]) -> str:
    """Say what a certificate, as a dict, means.

    Examples
    --------
    >>> from spacy_decoders import Certificate
    >>> in_words(Certificate.from_bound("Viterbi", 3.0, 3.0, tolerance=1e-6).as_dict())
    'proven optimal'
    >>> in_words(Certificate.from_bound("BranchAndBound", 99.7, 100.0, tolerance=0.0).as_dict())
    'within 0.3% of the best possible'
    >>> in_words(Certificate.heuristic("Beam", 3.0).as_dict())
    'nothing proven: a heuristic answer'
    """
    words = _status_in_words(certificate)
    if certificate["scope"] == "pruned":
        words += ", among the candidates that were kept"
    return words


def _status_in_words(certificate: Mapping[str, Any]) -> str:
    status, gap = certificate["status"], certificate["gap"]
    if status == "optimal":
        return "proven optimal"
    if status == "infeasible":
        return "impossible: no answer satisfies the constraints"
    if status == "probable":
        return f"optimal with probability {_percent(certificate['confidence'], up=False)}"
    if status == "bounded":
        best = abs(certificate["bound"])
        if best > gap:
            return f"within {_percent(gap / best, up=True)} of the best possible"
        return f"at most {gap:.3g} from the best possible"
    return "nothing proven: a heuristic answer"


def _percent(share: float, *, up: bool) -> str:
    """Round towards the weaker statement: a gap up, a confidence down."""
    scaled = share * 1000
    whole = int(scaled)
    if up and scaled - whole > 1e-6:
        whole += 1
    return f"{whole / 10:g}%"
