"""Limits on the labels of a chain: forbidden labels get the emission ``-inf``."""

from __future__ import annotations

from collections.abc import Collection, Iterable, Iterator, Mapping
from typing import Any, NamedTuple

import numpy as np
from spacy.attrs import IS_SPACE, SENT_START
from spacy.tokens import Doc

from ...arrays import Booleans, Floats32
from ...decoders.conflicts import least_conflict
from ..tagger.gold_layers import layer_of
from ..tagger.label_space import LabelSpace
from .matches import Match, Source, conflict

__all__ = ["LabelLimits", "LabelLimit", "conflicts_in", "limited"]


#: The name in conflicts of existing annotation that is kept.
PRESENT = "present annotation"

#: The source that keeps white space out of entities; it is no demand, and in no conflict.
SPACE = "white space"


class LabelLimit(NamedTuple):
    """The labels that a token may have, by one source."""

    #: What limits them.
    source: Source
    #: The token.
    token: int
    #: **Shape (L,)**: the labels that it may have.
    allowed: Booleans
    #: Whether it may also keep an existing value that is no label of the component.
    foreign: bool = True
    #: A source that suspends it, if any.
    unless: Source | None = None

    def holds(self, demands: Collection[Source]) -> bool:
        """Whether it applies under some demands; that of white space does without one."""
        return self.source in demands or (self.source.name == SPACE and self.unless not in demands)


class LabelLimits(NamedTuple):
    """The limits that constraints and existing annotation set to the labels of one document."""

    limits: list[LabelLimit]
    #: Tokens that keep a value that is no label of the component, with its source.
    foreign: dict[int, Source]
    #: Tokens for which a constraint demands a label or an entity.
    demanded: set[int]
    #: Demands that can't be met, whatever the others are; they limit nothing.
    impossible: list[Source]

    @classmethod
    def of(
        cls,
        doc: Doc,
        space: LabelSpace,
        overwrite: bool,
        matches: Iterable[Match] = (),
    ) -> LabelLimits:
        """Collect the limits of matching constraints, and of annotation that is kept."""
        found = cls([], {}, set(), [])
        kept: dict[int, Source] = {}
        if "ent" in space.targets:
            for ent in () if overwrite else doc.ents:
                source = Source(PRESENT, ent.start, ent.end)
                kept.update(dict.fromkeys(range(ent.start, ent.end), source))
            for i in np.flatnonzero(doc.to_array(IS_SPACE)).tolist():
                source, entity = Source(SPACE, i, i + 1), kept.get(i)
                limit = LabelLimit(source, i, ~space.entities_of(None), unless=entity)
                found.limits.append(limit)
        if not overwrite:
            found._add_present(doc, space, kept)
        layers = [layer_of(doc, target) for target in space.targets] if found.foreign else []
        parts = {token: {layer[token] for layer in layers} for token in found.foreign}
        for match in matches:
            if match.constraint.about == "labels":
                found._add_labels(match, space, parts)
            else:
                found._add_entity(match, space, doc)
        return found

    def _add_present(self, doc: Doc, space: LabelSpace, entities: Mapping[int, Source]) -> None:
        """Limit labels to those that agree with existing values; `entities` has their sources."""
        values, is_set = space.present(doc)
        compared, continues = values, np.zeros(len(doc), dtype=bool)
        if "ent" in space.targets and len(doc):
            starts = doc.to_array(SENT_START) == 1
            starts[0] = True
            compared, continues = space.compared(values, starts)
        for i in np.flatnonzero(is_set.any(axis=1)).tolist():
            allowed = space.matching(compared[i], is_set[i])
            source = entities.get(i, Source(PRESENT, i, i + 1))
            if allowed.any():
                self.limits.append(LabelLimit(source, i, allowed))
            if continues[i] or not allowed.any():
                self.foreign[i] = source
        if "ent" in space.targets and len(doc):
            # an entity that is kept must not be continued by a token after it
            inside = space.in_entity(values)
            for i in (np.flatnonzero(inside[:-1] & ~inside[1:]) + 1).tolist():
                source = entities.get(i - 1, Source(PRESENT, i - 1, i))
                self.limits.append(LabelLimit(source, i, space.scheme.can_start))

    def _add_labels(
        self, match: Match, space: LabelSpace, parts: Mapping[int, Collection[str | None]]
    ) -> None:
        """Add the limits of a match; `parts` has the kept values of `foreign` tokens."""
        named = match.constraint.labels or match.constraint.not_labels or ()
        allowed = space.with_parts(named)
        if match.constraint.labels is not None:
            self._add(match, allowed, match.tokens, foreign=False, demanded=True)
            return
        # a token that must be in an entity stays there, however improbable that is
        inside = "ent" in space.targets and not (~allowed & ~space.entities_of(None)).any()
        for token in match.tokens:
            foreign = set(named).isdisjoint(parts.get(token, ()))
            self._add(match, ~allowed, [token], foreign=foreign, demanded=inside)

    def _add_entity(self, match: Match, space: LabelSpace, doc: Doc) -> None:
        constraint = match.constraint
        wanted = constraint.entity or constraint.not_entity
        types = None if wanted is True else [match.label] if wanted == "label" else wanted
        inside = space.entities_of(types)
        tokens = range(match.start, match.end)
        if constraint.entity is None:
            for token in tokens:
                present = types is None or doc[token].ent_type_ in types
                self._add(match, ~inside, [token], foreign=not present)
            return
        # no entity crosses a sentence boundary, or has a type that the component does not know
        whole = not any(token.is_sent_start for token in doc[match.start + 1 : match.end])
        possible = whole and bool(inside.any())
        begins = inside & space.scheme.can_start
        continues = inside & ~space.scheme.can_start
        if not possible:
            self.impossible.append(match.source)
            return
        present = any(
            (ent.start, ent.end) == (match.start, match.end)
            and (types is None or ent.label_ in types)
            for ent in doc.ents
        )
        self._add(match, begins, tokens[:1], foreign=present, demanded=True)
        self._add(match, continues, tokens[1:], foreign=present, demanded=True)
        if match.end < len(doc):
            after = range(match.end, match.end + 1)
            ends = doc[match.end].ent_iob_ != "I"
            self._add(match, space.scheme.can_start, after, foreign=ends)

    def _add(
        self,
        match: Match,
        allowed: Booleans,
        tokens: Iterable[int],
        *,
        foreign: bool = True,
        demanded: bool = False,
    ) -> None:
        self.limits.extend(LabelLimit(match.source, token, allowed, foreign) for token in tokens)
        if demanded:
            self.demanded.update(tokens)


def limited(emissions: Floats32, found: LabelLimits) -> Floats32:
    """Return emissions, **shape (n, L)**, under limits; a copy if there are any."""
    if found.limits:
        emissions = emissions.copy()
    for limit in found.limits:
        if limit.unless is not None:
            continue
        if limit.token not in found.foreign or limit.source.name == PRESENT:
            emissions[limit.token, ~limit.allowed] = -np.inf
        elif not limit.foreign:
            emissions[limit.token] = -np.inf
    return emissions


def conflicts_in(
    doc: Doc,
    units: Iterable[tuple[int, int]],
    found: LabelLimits,
    emissions: Floats32,
    model: Any,
) -> Iterator[dict[str, Any]]:
    """Describe impossible demands, and for each unit without a labelling a least conflict.

    The emissions, **shape (n, L)**, are those of the document without the limits; `units` has the
    first token of each unit, and the one after its last.
    """
    for source in found.impossible:
        yield conflict(doc, source.start, source.end, [source])
    for start, end in units:
        needed = _conflicting(found, emissions, model, range(start, end))
        if needed:
            yield conflict(doc, start, end, needed)


def _conflicting(found: LabelLimits, emissions: Floats32, model: Any, unit: range) -> list[Source]:
    limits = [limit for limit in found.limits if limit.token in unit]
    kept_values = {token: of for token, of in found.foreign.items() if token in unit}
    # a last column for existing values that are no labels: any label may be next to them
    legal = np.pad(np.isfinite(emissions[unit.start : unit.stop]), ((0, 0), (0, 1)))
    links = np.pad(np.isfinite(model.transitions), (0, 1), constant_values=True)
    first, last = (np.append(np.isfinite(x), True) for x in (model.start, model.end))

    def solvable(kept: Iterable[Source]) -> bool:
        allowed, sources = legal.copy(), set(kept)
        for token, source in kept_values.items():
            if source in sources:
                allowed[token - unit.start] = False
                allowed[token - unit.start, -1] = True
        for limit in limits:
            if limit.holds(sources):
                allowed[limit.token - unit.start, :-1] &= limit.allowed
                allowed[limit.token - unit.start, -1] &= limit.foreign
        reached = allowed[0] & first
        for row in allowed[1:]:
            reached = (reached @ links) & row
        return bool((reached & last).any())

    named = [limit.source for limit in limits if limit.source.name != SPACE]
    return least_conflict(list(dict.fromkeys([*kept_values.values(), *named])), solvable)
