"""What a certificate of any core claims, against exact numbers."""

from fractions import Fraction


def check_claim(certificate, own, best, scale, *, rounding, minimized=False) -> str:
    """Raise where a certificate claims what is not so; return its status.

    The structure is worth `own` and the best one `best`, exactly; `scale` is the sum of the
    absolute scores of its parts, and `rounding` by how much the score that is stated may be off.
    """
    bound, gap, status = certificate.bound, certificate.gap, certificate.status
    better, largest = -1 if minimized else 1, 1e-6 * (1 + scale) * (1 + 1e-9)
    assert abs(Fraction(certificate.score) - own) <= Fraction(rounding), (certificate, float(own))
    assert certificate.tolerance <= largest, (certificate, scale)
    assert bound is None or better * (Fraction(bound) - best) >= 0, (certificate, float(best))
    assert bound is None or gap == abs(bound - certificate.score), certificate
    is_proven = bound is not None and gap <= certificate.tolerance
    assert (status == "optimal") == is_proven == (certificate.confidence == 1.0), certificate
    assert not is_proven or better * (best - own) <= Fraction(largest), (certificate, float(best))
    unproven = ("probable", "heuristic" if bound is None else "bounded")
    assert is_proven or status in unproven, certificate
    return status
