"""Limits on the labels of a chain: a label that is not allowed gets the emission ``-inf``."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray
from spacy.attrs import IS_SPACE, ORTH, SENT_START
from spacy.tokens import Doc

from ...errors import ProblemError
from ..tagger.label_space import LabelSpace
from .places import Place

__all__ = ["EntityWorth", "LabelLimits", "LabelLimit", "conflicts_in", "limited"]

Mask = NDArray[np.bool_]


class LabelLimit(NamedTuple):
    """Some labels that a token may have.

    Attributes
    ----------
    source
        What limits them, as messages name it.
    start, end
        The tokens of the match, or of the annotation, that the limit is a part of.
    token
        The token.
    allowed
        **Shape (L,)**: the labels that it may have.
    """

    source: str
    start: int
    end: int
    token: int
    allowed: Mask


class EntityWorth(NamedTuple):
    """What it is worth that a span is an entity of one of some types.

    Attributes
    ----------
    start, end
        The tokens of the span.
    types
        The types of entities; None for any.
    weight
        What it is worth.
    """

    start: int
    end: int
    types: tuple[str, ...] | None
    weight: float


class LabelLimits(NamedTuple):
    """What constraints and existing annotation mean for the labels of one document.

    Attributes
    ----------
    limits
        The labels that some tokens may have.
    bonuses
        Token, labels **shape (L,)** and what it is worth that the token has one of them.
    evidence
        What it is worth that some spans are entities.
    """

    limits: list[LabelLimit]
    bonuses: list[tuple[int, Mask, float]]
    evidence: list[EntityWorth]

    @classmethod
    def of(
        cls,
        doc: Doc,
        space: LabelSpace,
        dictionary: Mapping[int, Mask],
        overwrite: bool,
        places: Iterable[Place] = (),
    ) -> LabelLimits:
        """Collect them, with the `places` where the component's constraints apply.

        The `dictionary` has the labels that a word may have, by its number in the vocabulary;
        without `overwrite`, existing annotation stays. Raises `ProblemError` if a constraint names
        a label that the component does not have.
        """
        found = cls([], [], [])
        if dictionary:
            words = doc.to_array(ORTH).tolist()
            found.limits.extend(
                LabelLimit("dictionary", i, i + 1, i, dictionary[word])
                for i, word in enumerate(words)
                if word in dictionary
            )
        if "ent" in space.targets:
            spaces = doc.to_array(IS_SPACE).astype(bool)
            if not overwrite and spaces.any():
                spaces &= ~space.in_entity(space.present(doc)[0])
            for i in np.flatnonzero(spaces).tolist():
                found.limits.append(LabelLimit("white space", i, i + 1, i, space.outside_entity))
        if not overwrite:
            found.limits.extend(_of_present(doc, space))
        for place in places:
            if place.constraint.about == "labels":
                found._add_labels(place, space)
            else:
                found._add_entity(place, space, doc)
        return found

    def _add_labels(self, place: Place, space: LabelSpace) -> None:
        constraint = place.constraint
        wanted = constraint.labels or constraint.not_labels
        _check_known(place, wanted, set(space.labels).union(*space.parts))
        allowed = space.with_parts(wanted)
        if constraint.labels is None:
            allowed = ~allowed
        self._add(place, allowed, place.tokens)

    def _add_entity(self, place: Place, space: LabelSpace, doc: Doc) -> None:
        constraint = place.constraint
        wanted = constraint.entity or constraint.not_entity
        types = None if wanted is True else [place.label] if wanted == "label" else wanted
        if types is not None:
            known = space.entity_types
            if wanted == "label":
                types = [kind for kind in types if kind in known]
                if not types:
                    return
            _check_known(place, types, known)
        if constraint.entity is None:
            inside = space.entities_of(types)
            self._add(place, ~inside, range(place.start, place.end))
            return
        starts = (token.i for token in doc[place.start + 1 : place.end] if token.is_sent_start)
        if next(starts, None) is not None:
            return  # no entity goes beyond a sentence
        if constraint.weight is not None:
            of = None if types is None else tuple(types)
            self.evidence.append(EntityWorth(place.start, place.end, of, constraint.weight))
            return
        begins = space.entities_of(types) & ~space.continues_entity
        goes_on = space.entities_of(types) & space.continues_entity
        self._add(place, begins, range(place.start, place.start + 1))
        self._add(place, goes_on, range(place.start + 1, place.end))
        if place.end < len(doc):
            self._add(place, ~space.continues_entity, range(place.end, place.end + 1))

    def _add(self, place: Place, allowed: Mask, tokens: Iterable[int]) -> None:
        weight = place.constraint.weight
        for token in tokens:
            if weight is None:
                limit = LabelLimit(place.source, place.start, place.end, token, allowed)
                self.limits.append(limit)
            else:
                self.bonuses.append((token, allowed, weight))


def limited(emissions: NDArray[np.float32], found: LabelLimits) -> NDArray[np.float32]:
    """Return emissions **shape (n, L)** under limits and bonuses; a copy if there are any.

    A bonus is taken from the labels that do not agree: added to those that do, it would cost
    them digits by which they differ. So all scores lack the sum of the bonuses.
    """
    if found.limits or found.bonuses:
        emissions = emissions.copy()
    for token, labels, weight in found.bonuses:
        emissions[token, ~labels] -= np.float32(weight)
    for limit in found.limits:
        emissions[limit.token, ~limit.allowed] = -np.inf
    return emissions


def conflicting(
    limits: Sequence[LabelLimit], emissions: NDArray[np.float32], model: object, start: int
) -> list[LabelLimit]:
    """Return a least set of limits that no labelling of a unit satisfies; one of each source.

    Without any one of them, some labelling does. The emissions, **shape (n, L)**, are those of the
    unit without the limits; `start` is its first token in the document.
    """
    groups: dict[tuple[str, int, int], list[LabelLimit]] = {}
    for limit in limits:
        groups.setdefault(limit[:3], []).append(limit)
    legal = np.isfinite(emissions)
    can_follow = _can_follow(model)

    def satisfiable(kept: Iterable[tuple[str, int, int]]) -> bool:
        allowed = legal.copy()
        for key in kept:
            for limit in groups[key]:
                allowed[limit.token - start] &= limit.allowed
        return can_follow(allowed)

    needed = list(groups)
    if satisfiable(needed) or not satisfiable([]):
        return []  # it is not the limits that leave nothing
    for key in list(groups):
        rest = [other for other in needed if other != key]
        if not satisfiable(rest):
            needed = rest
    return [groups[key][0] for key in needed]


def conflicts_in(
    doc: Doc,
    units: Iterable[tuple[int, int]],
    found: LabelLimits,
    emissions: NDArray[np.float32],
    model: object,
) -> Iterator[dict[str, Any]]:
    """Describe why units have no labelling, in plain types, where limits are the reason.

    The emissions, **shape (n, L)**, are those of the document without the limits; of each unit,
    `units` has the first token and the one after the last.
    """
    for start, end in units:
        own = [limit for limit in found.limits if start <= limit.token < end]
        needed = conflicting(own, emissions[start:end], model, start)
        if needed:
            yield {
                "start": start,
                "end": end,
                "demands": [
                    {
                        "source": limit.source,
                        "start": limit.start,
                        "end": limit.end,
                        "text": doc[limit.start : limit.end].text,
                    }
                    for limit in needed
                ],
            }


def _can_follow(model: object) -> Callable[[Mask], bool]:
    """Return a function that says whether labels allowed at each token make a legal labelling."""
    given: dict[str, NDArray[np.float32]] = {
        name: getattr(model, name) for name in ("transitions", "start_scores", "end_scores")
    }
    links = np.isfinite(given["transitions"]).astype(np.float32)
    first, last = np.isfinite(given["start_scores"]), np.isfinite(given["end_scores"])

    def legal(allowed: Mask) -> bool:
        reached = allowed[0] & first
        for row in allowed[1:]:
            reached = (reached.astype(np.float32) @ links > 0) & row
        return bool((reached & last).any())

    return legal


def _of_present(doc: Doc, space: LabelSpace) -> Iterator[LabelLimit]:
    """Return which labels agree with existing values; a value without a label is no constraint."""
    values, is_set = space.present(doc)
    compared = space.blocked_as_outside(values)
    if "ent" in space.targets and len(doc):
        # what goes on beyond the end of a sentence begins anew for the next one
        starts = doc.to_array(SENT_START) == 1
        starts[0] = True
        compared = space.as_begun(compared, starts)
    for i in np.flatnonzero(is_set.any(axis=1)).tolist():
        allowed = space.matching(compared[i], is_set[i])
        if allowed.any():
            yield LabelLimit("present annotation", i, i + 1, i, allowed)
    if "ent" in space.targets and len(doc):
        # an entity that is kept must not be continued by a token after it
        inside = space.in_entity(values)
        for i in (np.flatnonzero(inside[:-1] & ~inside[1:]) + 1).tolist():
            yield LabelLimit("present annotation", i - 1, i, i, ~space.continues_entity)


def _check_known(place: Place, wanted: Iterable[str], known: Iterable[str]) -> None:
    unknown = sorted(set(wanted) - set(known))
    if unknown:
        raise ProblemError(
            f"{place.source}.{place.constraint.demand}: the component has no "
            f"{', '.join(map(repr, unknown))}; it has {', '.join(sorted(known)[:20])}."
        )
