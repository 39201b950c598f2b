"""Certificates in plain words."""

import math
from collections.abc import Mapping, Sequence
from itertools import product
from typing import Any, NamedTuple

__all__ = [
    "Saying", "cost_in_words", "in_words", "in_words_together", "is_close", "share_in_words",
]  # fmt: skip

#: A head or tag whose change costs less than this is a close call.
CLOSE = 1.0
#: From the strongest statement to the weakest.
_STATUSES = ("optimal", "probable", "bounded", "heuristic", "infeasible")
_SCOPES = ("full", "pruned")


class Saying(NamedTuple):
    """A statement that holds for all certificates of one kind, and how many units they are of.

    `kind` is their status, or "kept" for what is optimal among the candidates kept only.
    """

    kind: str
    units: int
    words: str


def in_words(certificate: Mapping[str, Any]) -> str:
    """Return the meaning of a certificate, given as a dict.

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
    status, gap = certificate["status"], certificate["gap"]
    pruned = certificate["scope"] == "pruned"
    if status == "optimal":
        return "the best among the candidates kept" if pruned else "proven optimal"
    best = "the best among the candidates kept" if pruned else "the best possible"
    if status == "probable":
        share = _percent(certificate["confidence"], up=False)
        return f"{best if pruned else 'optimal'} with probability {share}"
    if status == "bounded":
        bound = abs(certificate["bound"])
        if bound > gap:
            return f"within {_percent(gap / bound, up=True)} of {best}"
        return f"at most {gap:.3g} from {best}"
    if status == "infeasible":
        found = "impossible: no answer satisfies the constraints"
        return f"{found}, among the candidates kept" if pruned else found
    return "nothing proven: a heuristic answer"


def in_words_together(certificates: Sequence[Mapping[str, Any]]) -> list[Saying]:
    """Return the meaning of certificates, for each kind that of the weakest.

    Examples
    --------
    >>> from spacy_decoders import Certificate
    >>> gaps = [Certificate.from_bound("X", 99.0 - i, 100.0, tolerance=0.0) for i in (0, 1)]
    >>> in_words_together([gap.as_dict() for gap in gaps])
    [Saying(kind='bounded', units=2, words='within 2% of the best possible')]
    """
    sayings = []
    for status, scope in product(_STATUSES, _SCOPES):
        found = [c for c in certificates if (c["status"], c["scope"]) == (status, scope)]
        if found:
            kind = "kept" if (status, scope) == ("optimal", "pruned") else status
            sayings.append(Saying(kind, len(found), in_words(max(found, key=_weakness))))
    return sayings


def cost_in_words(loss: float) -> str:
    """Write a cost with two significant digits.

    Examples
    --------
    >>> cost_in_words(0.0312), cost_in_words(2.5), cost_in_words(31.7), cost_in_words(-0.5)
    ('0.031', '2.5', '32', '−0.5')
    """
    return (f"{loss:.0f}" if abs(loss) >= 10 else f"{loss:.2g}").replace("-", "−")


def is_close(margin: float | None) -> bool:
    """Whether another head or tag would cost little."""
    return margin is not None and margin < CLOSE


def share_in_words(prob: float | None) -> str:
    """Write a probability as a whole percentage; nothing if there is none.

    Examples
    --------
    >>> share_in_words(0.874), share_in_words(None)
    ('87%', '')
    """
    return "" if prob is None else f"{prob:.0%}"


def _weakness(certificate: Mapping[str, Any]) -> tuple[float, float]:
    """A sort key by which the weakest certificate of a kind is the last."""
    gap, bound = certificate["gap"] or 0.0, abs(certificate["bound"] or 0.0)
    share = gap / bound if bound > gap else 1.0 + gap
    return share, -(certificate["confidence"] or 0.0)


def _percent(share: float, *, up: bool) -> str:
    """Round towards the weaker statement: a gap up, a confidence down."""
    # an excess within the rounding of the division is none, but a gap is never shown as 0
    tenths = max(1, math.ceil(share * 1000 - 1e-6)) if up else int(share * 1000)
    return f"{tenths / 10:g}%"
