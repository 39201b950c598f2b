"""Users' constraints on the annotation, by pattern, gazetteer or span.

A component declares an option `constraints` with the check of
:func:`~.constraint.constraints_about`, finds matches by :class:`~.matches.WithConstraints`, and
turns these into limits of its problem: `labels` for chains, `candidates` for links; for trees see
the parser's `demands`.
"""

from .constraint import Constraint

__all__ = ["Constraint"]
