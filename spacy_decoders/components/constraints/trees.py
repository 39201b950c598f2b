"""Demands on trees: heads, roots and labels where patterns match, as what is given on a Doc."""

from __future__ import annotations

from collections.abc import Iterable, Sequence

from ...errors import ProblemError
from ..parser.wishes import Wishes
from .places import Place

__all__ = ["add_demands"]


def add_demands(wishes: Wishes, places: Iterable[Place], labels: Sequence[str]) -> Wishes:
    """Add what constraints demand to what is given on a document; return it.

    What is given on a token goes before any constraint, and of two constraints the earlier one.

    Parameters
    ----------
    wishes
        What is given; changed.
    places
        Where constraints apply.
    labels
        The parser's labels.

    Raises
    ------
    ProblemError
        If a constraint names a label that the parser does not have.
    """
    for place in places:
        constraint = place.constraint
        _check_known(place, labels)
        for token in place.tokens:
            if constraint.head is not None:
                for head in place.token(constraint.head):
                    if head != token:
                        wishes.heads.setdefault(token, head)
            if constraint.root is True:
                wishes.heads.setdefault(token, token)
            if constraint.root is False:
                wishes.not_heads.setdefault(token, []).append(token)
            if constraint.deps is not None:
                if len(constraint.deps) == 1:
                    wishes.deps.setdefault(token, constraint.deps[0])
                else:
                    others = [label for label in labels if label not in constraint.deps]
                    wishes.not_deps.setdefault(token, []).extend(others)
            if constraint.not_deps is not None:
                wishes.not_deps.setdefault(token, []).extend(constraint.not_deps)
    return wishes


def _check_known(place: Place, labels: Sequence[str]) -> None:
    for key in ("deps", "not_deps"):
        unknown = sorted(set(getattr(place.constraint, key) or ()) - set(labels))
        if unknown:
            raise ProblemError(
                f"{place.source}.{key}: the parser has no {', '.join(map(repr, unknown))}; it has "
                f"{', '.join(labels)}."
            )
