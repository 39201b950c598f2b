"""Limits on the candidates of mentions: the concepts that one may, or may not, be linked to."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import replace
from typing import Any

import numpy as np
from spacy.kb import KnowledgeBase
from spacy.tokens import Span

from ...errors import ProblemError
from ...knowledge.concepts import QID
from ..linker.candidates import CandidateFinder, FoundCandidates, found_by
from ..linker.knowledge_base import ConceptKnowledgeBase
from .places import Place

__all__ = ["LimitedCandidates"]

#: The prior of a concept that a constraint demands and no alias suggests.
DEMANDED = 1.0


class LimitedCandidates:
    """What finds candidates, under the constraints that apply at places of a document.

    A concept that a mention must be linked to is a candidate even where no alias suggests it.
    """

    def __init__(self, finder: CandidateFinder, places: Iterable[Place]) -> None:
        self.finder = finder
        self.places: dict[tuple[int, int], list[Place]] = {}
        for place in places:
            self.places.setdefault((place.start, place.end), []).append(place)

    def __call__(self, kb: KnowledgeBase, mentions: Sequence[Span]) -> list[Any]:
        found = list(found_by(kb, self.finder, mentions))
        for number, mention in enumerate(mentions):
            for place in self.places.get((mention.start, mention.end), ()):
                one = found[number]
                found[number] = (
                    _limited(kb, one, place)
                    if isinstance(one, FoundCandidates) and isinstance(kb, ConceptKnowledgeBase)
                    else _limited_by_name(one, place)
                )
        return found


def _limited(kb: ConceptKnowledgeBase, found: FoundCandidates, place: Place) -> FoundCandidates:
    """Forbid candidates by a prior below 0, and add those that are demanded."""
    base, constraint = kb.base, place.constraint
    wanted = constraint.candidates
    if wanted is None:
        _check_known(kb, place)
    if wanted:
        there = set(found.concepts.tolist())
        known = {base.qid(of) for of in there}
        numbers = {one: _numbers(kb, one) for one in wanted}
        missing = [one for one, some in numbers.items() if not some and one not in known]
        if missing:
            raise ProblemError(
                f"{place.source}.candidates: the knowledge base has no {', '.join(missing)}."
            )
        new = dict.fromkeys(of for some in numbers.values() for of in some if of not in there)
        found = _with(found, list(new))
    listed = set(constraint.not_candidates if wanted is None else wanted)
    named = np.array(
        [base.id(of) in listed or base.qid(of) in listed for of in found.concepts.tolist()],
        dtype=bool,
    )
    forbidden = named if wanted is None else ~named
    priors = np.where(forbidden, -1.0, found.priors).astype(np.float32)
    return replace(found, priors=priors)


def _numbers(kb: ConceptKnowledgeBase, name: str) -> list[int]:
    """The concepts that a constraint names by an identifier or an item."""
    number = kb.base.number(name)
    return [number] if number >= 0 else kb.base.numbers_of_qid(name)


def _check_known(kb: ConceptKnowledgeBase, place: Place) -> None:
    """Raise if what is forbidden is no concept; any item will do where concepts have items."""
    base = kb.base
    missing = [
        one
        for one in place.constraint.not_candidates
        if base.number(one) < 0 and (base.qid_numbers is None or not QID.fullmatch(one))
    ]
    if missing:
        raise ProblemError(
            f"{place.source}.not_candidates: the knowledge base has no {', '.join(missing)}."
        )


def _with(found: FoundCandidates, new: list[int]) -> FoundCandidates:
    """Put concepts before those that were found."""
    count = len(new)
    written, popularity = found.written, found.popularity
    if written is not None:
        written = np.concatenate([np.full(count, np.nan, dtype=np.float32), written])
    if popularity is not None:
        popularity = np.concatenate([np.ones(count), popularity])
    return FoundCandidates(
        np.concatenate([np.array(new, dtype=np.int32), found.concepts]),
        np.concatenate([np.full(count, DEMANDED, dtype=np.float32), found.priors]),
        written,
        found.linked,
        popularity,
    )


def _limited_by_name(found: Iterable[Any], place: Place) -> list[Any]:
    """Keep spaCy's candidates by their names."""
    constraint = place.constraint
    if constraint.candidates is not None:
        return [one for one in found if one.entity_ in constraint.candidates]
    return [one for one in found if one.entity_ not in constraint.not_candidates]
