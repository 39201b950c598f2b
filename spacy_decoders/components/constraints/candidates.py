"""Limits on the candidates of mentions: the concepts that these may, or may not, be linked to."""

from collections.abc import Iterable, Mapping, Sequence
from collections.abc import Set as AbstractSet
from dataclasses import replace
from typing import Any

import numpy as np
from spacy.kb import KnowledgeBase
from spacy.tokens import Doc, Span

from ...decoders.conflicts import least_conflict
from ...errors import ProblemError
from ...knowledge.concepts import QID
from ..linker.candidates import CandidateSource, FoundCandidates
from ..linker.knowledge_base import ConceptKnowledgeBase
from .constraint import DEMANDS
from .matches import Match, Source, conflict

__all__ = ["CandidateLimits", "check_concepts"]

#: The prior of a concept that a constraint demands and that no alias suggests.
DEMANDED = 1.0

#: What spaCy writes for a mention that is linked to nothing.
NIL = "NIL"


class CandidateLimits:
    """The constraints that match in a document, as limits on the candidates of its mentions."""

    def __init__(self, source: CandidateSource, matches: Iterable[Match]) -> None:
        self.source = source
        self.matches: dict[tuple[int, int], list[Match]] = {}
        for match in matches:
            self.matches.setdefault((match.start, match.end), []).append(match)

    def limited(self, mention: Span, found: FoundCandidates) -> FoundCandidates:
        """Forbid candidates of a mention by a prior below 0.

        A concept that it must be linked to is a candidate even if no alias suggests it.
        """
        matches = self._at(mention)
        if not matches:
            return found
        kb = self.source.kb
        for match in matches if isinstance(kb, ConceptKnowledgeBase) else ():
            there = set(found.concepts.tolist())
            names = match.constraint.candidates or ()
            new = dict.fromkeys(number for name in names for number in _numbers(kb, name))
            found = _with(found, [number for number in new if number not in there])
        known = self.source.names(found.concepts.tolist())
        allowed = np.array(
            [all(_agrees(own, one) for one in matches) for own in known], dtype=bool
        )
        return replace(found, priors=np.where(allowed, found.priors, -1.0).astype(np.float32))

    def conflicts(
        self, doc: Doc, mentions: Sequence[Span], present: Iterable[Span]
    ) -> list[dict[str, Any]]:
        """Describe conflicts among the constraints on mentions.

        Those with the links of `present` spans that are no mentions are included.
        """
        found = []
        for mention in mentions:
            matches = self._at(mention)
            if not self._solvable(matches):
                needed = [match.source for match in least_conflict(matches, self._solvable)]
                found.append(conflict(doc, mention.start, mention.end, needed))
        own = {(mention.start, mention.end) for mention in mentions}
        for span in present:
            if not span.kb_id or (span.start, span.end) in own:
                continue
            names = {span.kb_id_}.union(*self._names([span.kb_id_]))
            for match in self._at(span):
                if span.kb_id_ != NIL and not _agrees(names, match):
                    kept = Source("present annotation", span.start, span.end)
                    found.append(conflict(doc, span.start, span.end, [kept, match.source]))
        return found

    def _at(self, mention: Span) -> list[Match]:
        return self.matches.get((mention.start, mention.end), [])

    def _solvable(self, matches: Sequence[Match]) -> bool:
        """Whether some concept satisfies all constraints, or none demands a concept."""
        wanted = [
            match.constraint.candidates
            for match in matches
            if match.constraint.candidates is not None
        ]
        if not any(wanted):
            return True
        listed = self._names({name for names in wanted for name in names})
        return any(all(_agrees(names, match) for match in matches) for names in listed)

    def _names(self, listed: Iterable[str]) -> list[set[str | None]]:
        """The identifier and item of each concept that is listed by one of the two."""
        kb = self.source.kb
        if not isinstance(kb, ConceptKnowledgeBase):
            return [{name} for name in listed]
        numbers = {number for name in listed for number in _numbers(kb, name)}
        return self.source.names(sorted(numbers))


def _agrees(names: AbstractSet[str | None], match: Match) -> bool:
    """Whether a constraint allows a concept, by its names."""
    constraint = match.constraint
    if constraint.candidates is not None:
        return not names.isdisjoint(constraint.candidates)
    return names.isdisjoint(constraint.not_candidates or ())


def _numbers(kb: ConceptKnowledgeBase, name: str) -> list[int]:
    """The numbers of the concepts that a constraint names by identifier or item."""
    number = kb.base.number(name)
    return [number] if number >= 0 else kb.base.numbers_of_qid(name)


def check_concepts(kb: KnowledgeBase, constraints: Iterable[Mapping[str, Any]]) -> None:
    """Raise if checked constraints name unknown concepts.

    If concepts have Wikidata items, any item may be forbidden.
    """
    if not isinstance(kb, ConceptKnowledgeBase):
        return
    for number, given in enumerate(constraints):
        for key in DEMANDS["links"]:
            missing = [one for one in given.get(key, ()) if not _numbers(kb, one)]
            if key == "not_candidates" and kb.base.has_items:
                missing = [one for one in missing if not QID.fullmatch(one)]
            if missing:
                raise ProblemError(
                    f"constraints[{number}].{key}: the knowledge base has no {', '.join(missing)}."
                )


def _with(found: FoundCandidates, new: list[int]) -> FoundCandidates:
    """Prepend demanded concepts to those that were found."""
    demanded = FoundCandidates(
        np.array(new, dtype=np.int32),
        np.full(len(new), DEMANDED, dtype=np.float32),
        popularity=np.ones(len(new)),
    )
    columns: dict[str, Any] = {
        name: np.concatenate([getattr(demanded, name), getattr(found, name)])
        for name in ("concepts", "priors", "written", "popularity")
    }
    return replace(found, **columns)
