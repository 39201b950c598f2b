"""Demands on trees: heads, roots and labels where patterns match, as what is given on a Doc."""

from __future__ import annotations

from collections.abc import Iterable, Sequence

from ..parser.wishes import Wishes
from .places import Place

__all__ = ["add_demands"]


def add_demands(wishes: Wishes, places: Iterable[Place], labels: Sequence[str]) -> Wishes:
    """Add what constraints demand to what is given on a document; return it, changed.

    What is given on a token goes before any constraint, and of two constraints the earlier one.
    """
    for place in places:
        constraint = place.constraint
        for token in place.tokens:
            if constraint.head is not None:
                for head in place.token(constraint.head):
                    if head != token:
                        _demand(wishes, place, token, head=head)
            if constraint.root is True:
                _demand(wishes, place, token, head=token)
            if constraint.root is False:
                _forbid(wishes, place, token, heads=[token])
            if constraint.deps is not None:
                if len(constraint.deps) == 1:
                    _demand(wishes, place, token, dep=constraint.deps[0])
                else:
                    others = [label for label in labels if label not in constraint.deps]
                    _forbid(wishes, place, token, deps=others)
            if constraint.not_deps is not None:
                _forbid(wishes, place, token, deps=constraint.not_deps)
    return wishes


def _demand(
    wishes: Wishes, place: Place, token: int, *, head: int | None = None, dep: str | None = None
) -> None:
    source = (place.source, place.start, place.end)
    if head is not None and token not in wishes.heads:
        wishes.heads[token] = head
        wishes.sources["fixed_head", token, ""] = source
    if dep is not None and token not in wishes.deps:
        wishes.deps[token] = dep
        wishes.sources["fixed_dep", token, ""] = source


def _forbid(
    wishes: Wishes,
    place: Place,
    token: int,
    *,
    heads: Sequence[int] = (),
    deps: Sequence[str] = (),
) -> None:
    source = (place.source, place.start, place.end)
    for head in heads:
        if head not in wishes.not_heads.setdefault(token, []):
            wishes.not_heads[token].append(head)
            wishes.sources["forbidden_heads", token, head] = source
    for dep in deps:
        if dep not in wishes.not_deps.setdefault(token, []):
            wishes.not_deps[token].append(dep)
            wishes.sources["forbidden_deps", token, dep] = source
