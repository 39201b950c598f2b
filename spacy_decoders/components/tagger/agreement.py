"""Agreement of entities within a document: the same name, the same type."""

from __future__ import annotations

import math
from bisect import bisect_right
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from itertools import pairwise
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray
from spacy.attrs import IDS
from spacy.tokens import Doc

from ...certificate import Certificate
from ...errors import InfeasibleError
from ..constraints.labels import EntityWorth
from .decoding import NO_LABEL, Tagging
from .label_space import LabelSpace

if TYPE_CHECKING:
    from ...decoders.chain import ChainModel

__all__ = ["Agreement"]

#: The types of persons in the schemes of corpora, in lower case.
PERSONS = ("per", "person")

Span = tuple[int, int]
Name = tuple[int, ...]


class Agreement:
    """Makes the entities of documents agree, or weighs evidence for some.

    The option is checked before; None is for no agreement.
    """

    def __init__(self, space: LabelSpace, option: dict[str, Any] | None) -> None:
        from ...decoders.chain import EntityLabels, agreement_costs

        self.space = space
        self.types = space.entity_types
        self.kinds = space.entity_kinds
        self.entities = EntityLabels(self.kinds, space.continues_entity)
        self.option = option
        # then occurrences that are no entities never cost anything
        self.missing_is_free = option is None or not option["missing"]
        if option is None:
            return
        same = option["same_name"]
        weight = math.inf if same == "hard" else same
        self.costs = agreement_costs(len(self.types), weight=weight, missing=option["missing"])
        self.attribute = IDS[option["attr"]]
        persons = [k for k, kind in enumerate(self.types) if kind.lower() in PERSONS]
        self.short_costs = None
        if option["short_names"] and persons:
            self.short_costs = _costs_of_persons(len(self.types), persons, option["short_names"])
        self.persons = set(persons)

    def agreed(
        self,
        doc: Doc,
        tagging: Tagging,
        emissions: NDArray[np.float32],
        model: ChainModel,
        evidence: Sequence[EntityWorth] = (),
    ) -> Tagging:
        """Return labels of a document that agree, with one certificate for all of it.

        The units of `tagging` were decoded each by itself; the emissions, **shape (n, L)**, are
        those under all limits; `evidence` says what it is worth that some spans are entities.
        """
        search = _Document(self, doc, tagging, emissions, model)
        conflicts = list(tagging.conflicts)
        search.weigh(evidence)
        while search.join():
            try:
                search.solve()
            except InfeasibleError:
                dropped = search.drop_contradictory()
                if not dropped:
                    raise
                conflicts += dropped
        certificates = search.certificates()
        certificates += [of for of in tagging.certificates if of.status == "infeasible"]
        return replace(
            tagging, labels=search.labels, certificates=certificates, conflicts=conflicts
        )


@dataclass
class _Names:
    """The mentions of a document, and which factors they are members of."""

    mentions: dict[Span, int] = field(default_factory=dict)
    spans: list[Span] = field(default_factory=list)
    factors: dict[tuple[str, Name], list[int]] = field(default_factory=dict)

    def add(self, kind: str, name: Name, spans: Iterable[Span]) -> None:
        """Add a factor, or mentions of it that are new."""
        members = self.factors.setdefault((kind, name), [])
        for span in spans:
            number = self.number(span)
            if number not in members:
                members.append(number)

    def number(self, span: Span) -> int:
        """The number of a mention, which is added if it is new."""
        number = self.mentions.setdefault(span, len(self.mentions))
        if number == len(self.spans):
            self.spans.append(span)
        return number


class _Document:
    """One document on its way to agreement: names join until the labels contradict none."""

    def __init__(
        self,
        agreement: Agreement,
        doc: Doc,
        tagging: Tagging,
        emissions: NDArray[np.float32],
        model: ChainModel,
    ) -> None:
        self.agreement, self.doc, self.model = agreement, doc, model
        self.emissions, self.labels = emissions, tagging.labels
        self.units = [*pairwise([0, *np.cumsum(tagging.units).tolist()])]
        self.ends = [stop for _, stop in self.units]
        self.alone = list(tagging.certificates)
        self.names = _Names()
        self.evidence: dict[Span, NDArray[np.float64]] = {}
        #: the mentions of each factor that was decoded; more of them may join later
        self.solved: dict[tuple[str, Name], int] = {}
        self.dropped: set[tuple[str, Name]] = set()
        #: the factors that cost something at some time; the others cost nothing in the end
        self.active: set[tuple[str, Name]] = set()
        self.started = False
        #: the units that were decoded together, and their certificate
        self.together: list[int] = []
        self.found: Certificate | None = None
        option = agreement.option
        self.places: dict[int, list[int]] = {}
        self.words: list[int] = doc.to_array(agreement.attribute).tolist() if option else []

    def weigh(self, evidence: Iterable[EntityWorth]) -> None:
        """Take evidence for spans within a unit that has labels."""
        number = {kind: k for k, kind in enumerate(self.agreement.types)}
        for given in evidence:
            unit = self._unit_of(given.start)
            if given.end > self.units[unit][1] or self.labels[given.start] == NO_LABEL:
                continue
            worth = self.evidence.setdefault(
                (given.start, given.end), np.zeros(len(number), dtype=np.float64)
            )
            for kind in number if given.types is None else given.types:
                worth[number[kind]] += given.weight
        for span in self.evidence:
            self.names.number(span)

    def join(self) -> bool:
        """Add the names of the present entities; return whether anything is left to be solved."""
        if self.evidence and not self.started:
            return True
        if self.agreement.option is None:
            return False
        entities = dict(self._entities())
        kinds: dict[Name, set[int]] = {}
        for (start, end), kind in entities.items():
            kinds.setdefault(tuple(self.words[start:end]), set()).add(kind)
        for name, of in kinds.items():
            # otherwise one type is no contradiction, whatever the other occurrences are
            if len(of) > 1 or not self.agreement.missing_is_free:
                self._add_same(name)
            if self.agreement.short_costs is not None and not of.isdisjoint(
                self.agreement.persons
            ):
                self._add_short(name)
        violated = [
            key
            for key, members in self.names.factors.items()
            if key not in self.dropped
            and self.solved.get(key) != len(members)
            and self._cost(key, entities) > 0
        ]
        self.active.update(violated)
        return bool(violated)

    def solve(self) -> None:
        """Decode the units of all names and evidence together."""
        from ...decoders.chain import DocumentAgreement, DocumentProblem

        problem, rows, units = self._problem(DocumentProblem)
        found = DocumentAgreement().decode(problem)
        self.started, self.together = True, units
        self.labels = self.labels.copy()
        self.labels[rows] = found.labels
        self.solved = {key: len(self.names.factors[key]) for key in self._active()}
        self.found = found.certificate

    def drop_contradictory(self) -> list[dict[str, Any]]:
        """Drop names whose mentions must be of different types; describe them in plain types."""
        from ...decoders.chain import DocumentProblem
        from ...decoders.chain.agreement import contradictory_factors

        problem, _, _ = self._problem(DocumentProblem)
        keys = self._active()
        # several may contradict one another only together
        wrong = [keys[f] for f in contradictory_factors(problem)] or keys
        self.dropped.update(wrong)
        spans = self.names.spans
        described = []
        for key in wrong:
            own = sorted(spans[m] for m in self.names.factors[key])
            demands = [
                {"source": "agreement", "start": i, "end": j, "text": self.doc[i:j].text}
                for i, j in own
            ]
            described.append({"start": own[0][0], "end": own[-1][1], "demands": demands})
        return described

    def certificates(self) -> list[Certificate]:
        """Return the certificate of all units that have a labelling; none if no unit has one."""
        together = set(self.together)
        parts = [
            of
            for u, of in enumerate(self.alone)
            if u not in together and of.status != "infeasible"
        ]
        if self.found is not None:
            parts.append(self.found)
        if not parts:
            return []
        bounds = [of.bound for of in parts if of.bound is not None]
        total = math.fsum(bounds) if len(bounds) == len(parts) else math.inf
        total += 1e-15 * math.fsum(map(abs, bounds))
        whole = Certificate.from_bound(
            "DocumentAgreement",
            math.fsum(of.score or 0.0 for of in parts),
            total,
            tolerance=math.fsum(of.tolerance for of in parts),
            iterations=1 if self.found is None else self.found.iterations,
        )
        return [whole]

    def _problem(self, kind: Any) -> tuple[Any, NDArray[np.int64], list[int]]:
        """The problem of all units that have a mention, the tokens of its rows, and the units."""
        keys = self._active()
        every = self.names.spans
        used = {m for key in keys for m in self.names.factors[key]}
        used.update(self.names.mentions[span] for span in self.evidence)
        place = {m: number for number, m in enumerate(sorted(used))}
        spans = [every[m] for m in place]
        owners = [self._unit_of(start) for start, _ in spans]
        units = sorted(set(owners))
        bounds = [self.units[u] for u in units]
        rows = np.concatenate([np.arange(*of) for of in bounds])
        begins = np.cumsum([0, *(j - i for i, j in bounds)]).tolist()
        shift = {u: begin - self.units[u][0] for u, begin in zip(units, begins, strict=False)}
        mentions = [(i + shift[u], j + shift[u]) for (i, j), u in zip(spans, owners, strict=True)]
        nothing = np.zeros(len(self.agreement.types))
        costs = [self._costs_of(key) for key in keys]
        problem = kind(
            self.model,
            self.emissions[rows],
            [j - i for i, j in bounds],
            self.agreement.entities,
            mentions,
            np.array([self.evidence.get(span, nothing) for span in spans]),
            [[place[m] for m in self.names.factors[key]] for key in keys],
            np.array(costs) if costs else None,
        )
        return problem, rows, units

    def _active(self) -> list[tuple[str, Name]]:
        """The factors that take part."""
        return [key for key in self.names.factors if key in self.active - self.dropped]

    def _costs_of(self, key: tuple[str, Name]) -> NDArray[np.float64]:
        short: Any = self.agreement.short_costs
        return short if key[0] == "short" else self.agreement.costs

    def _cost(self, key: tuple[str, Name], entities: Mapping[Span, int]) -> float:
        """Return what a factor costs under the present entities."""
        none, spans = len(self.agreement.types), self.names.spans
        states = [entities.get(spans[m], none) for m in self.names.factors[key]]
        kinds = set(states)
        if self.agreement.missing_is_free:
            kinds.discard(none)
        if len(kinds) < 2:
            return 0.0
        return float(self._costs_of(key)[:, states].sum(axis=1).min())

    def _entities(self) -> Iterator[tuple[Span, int]]:
        """Yield the present entities, with their kinds."""
        of = self.agreement
        kinds = np.where(self.labels == NO_LABEL, -1, of.kinds[self.labels])
        begins = np.flatnonzero((kinds >= 0) & ~of.entities.goes_on[self.labels]).tolist()
        if not begins:
            return
        goes_on = (of.entities.goes_on[self.labels] & (self.labels != NO_LABEL)).tolist()
        for i in begins:
            j = i + 1
            while j < len(goes_on) and goes_on[j]:
                j += 1
            yield (i, j), int(kinds[i])

    def _add_same(self, name: Name) -> None:
        """Add the factor of all occurrences of a name, unless it is there."""
        if ("same", name) not in self.names.factors:
            # a factor of one mention costs nothing
            self.names.add("same", name, self._occurrences(name))

    def _add_short(self, name: Name) -> None:
        """Add the factor of a full name and its short forms."""
        last = name[-1:]
        if len(name) > 1 and self.words.count(last[0]) > 1:
            shorter = [s for s in self._occurrences(last) if not self._follows_initial(s)]
            initials = [
                (i - 1, j) for i, j in self._occurrences(last) if self._follows_initial((i, j))
            ]
            self.names.add("short", last, [*self._occurrences(name), *shorter, *initials])

    def _follows_initial(self, span: Span) -> bool:
        i = span[0] - 1
        if i < 0 or self._unit_of(i) != self._unit_of(span[0]):
            return False
        text = self.doc[i].text
        return text[:1].isupper() and text[1:] in ("", ".")

    def _occurrences(self, name: Name) -> list[Span]:
        """Return where a name occurs within a unit that has labels."""
        words, length = self.words, len(name)
        if not self.places:
            for i, word in enumerate(words):
                self.places.setdefault(word, []).append(i)
        return [
            (i, i + length)
            for i in self.places[name[0]]
            if (length == 1 or tuple(words[i : i + length]) == name)
            and self.labels[i] != NO_LABEL
            and i + length <= self.units[self._unit_of(i)][1]
        ]

    def _unit_of(self, token: int) -> int:
        return bisect_right(self.ends, token)


def _costs_of_persons(kinds: int, persons: Sequence[int], weight: float) -> NDArray[np.float64]:
    """Either all mentions are persons (or no entities), or none is."""
    costs = np.full((kinds + 1, kinds + 1), weight)
    costs[:, -1] = 0.0
    others = [k for k in range(kinds) if k not in persons]
    costs[np.ix_(persons, persons)] = 0.0
    costs[np.ix_([*others, kinds], others)] = 0.0
    return costs
