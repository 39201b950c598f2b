"""Changes of a concept base that is in use: what was changed is laid over what is mapped."""

from __future__ import annotations

from collections.abc import Collection, Sequence
from dataclasses import dataclass, field
from functools import cached_property
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from ..errors import StorageError
from ..graph import ConceptGraph
from ..graph.strings import StringTable
from .aliases import AliasTable, normalise
from .concepts import Concept
from .letter_case import CASES, letter_case
from .string_index import StringIndex
from .text_index import TextIndex
from .title_words import title_words

if TYPE_CHECKING:
    from .concept_base import ConceptBase

__all__ = ["Edits"]

#: So many concepts are looked for in all candidates before these are sorted by concept, once.
MANY = 16


@dataclass(frozen=True, eq=False)
class EditedStrings(StringTable):
    """Strings of which some were changed, and to which more were added."""

    changed: dict[int, str] = field(default_factory=dict)
    added: list[str] = field(default_factory=list)

    @classmethod
    def over(cls, table: StringTable) -> EditedStrings:
        return cls(table.data, table.offsets)

    def __len__(self) -> int:
        return len(self.offsets) - 1 + len(self.added)

    def __getitem__(self, at: Any) -> Any:
        if isinstance(at, slice):
            return [self[i] for i in range(*at.indices(len(self)))]
        if not -len(self) <= at < len(self):
            raise IndexError(at)
        number, mapped = int(at) % len(self), len(self.offsets) - 1
        if number >= mapped:
            return self.added[number - mapped]
        return self.changed[number] if number in self.changed else super().__getitem__(number)

    def take(self, numbers: NDArray[np.integer[Any]]) -> list[str]:
        return [self[number] for number in numbers.tolist()]

    def replace(self, number: int, text: str) -> None:
        mapped = len(self.offsets) - 1
        if number >= mapped:
            self.added[number - mapped] = text
        else:
            self.changed[number] = text


@dataclass(frozen=True, eq=False)
class EditedIndex(StringIndex):
    """Identifiers of which some were removed, and to which more were added."""

    places: dict[str, int] = field(default_factory=dict)
    removed: set[int] = field(default_factory=set)

    def __len__(self) -> int:
        return len(self.table)

    def find(self, texts: Sequence[str]) -> NDArray[np.int64]:
        mapped = StringIndex(self.codes, self.buckets, self.table)
        rows = [
            self.places.get(text, row)
            for text, row in zip(texts, mapped.find(texts).tolist(), strict=True)
        ]
        return np.array([-1 if row in self.removed else row for row in rows], np.int64)

    def find_one(self, text: str) -> int:
        return int(self.find([text])[0])

    def code(self, row: int) -> int:
        if row < len(self.codes):
            return super().code(row)
        return StringIndex.code_of(self.table[row])


@dataclass
class _Entry:
    """The candidates of a changed alias: how often each is meant, and how it is written."""

    concepts: list[int] = field(default_factory=list)
    counts: list[float] = field(default_factory=list)
    cases: list[list[float]] = field(default_factory=list)
    link: float = float("nan")

    def order(self) -> list[int]:
        return sorted(range(len(self.counts)), key=lambda i: -self.counts[i])


@dataclass(frozen=True, eq=False)
class EditedAliases(AliasTable):
    """Aliases of which some have other candidates, and to which more were added.

    The row of a changed alias lies behind those that are mapped.
    """

    entries: dict[str, int] = field(default_factory=dict)
    names: list[str] = field(default_factory=list)
    changed: list[_Entry] = field(default_factory=list)
    #: The changed rows in which a concept was once; it may have left them since.
    rows_by_concept: dict[int, set[int]] = field(default_factory=dict)
    #: Concepts whose mapped aliases were looked for in all candidates, which takes milliseconds.
    searched: set[int] = field(default_factory=set)

    @classmethod
    def over(cls, table: AliasTable) -> EditedAliases:
        return cls(
            table.index,
            table.offsets,
            table.concepts,
            table.priors,
            table.uses,
            table.links,
            table.cases,
        )

    def __len__(self) -> int:
        return len(self.index) + len(self.changed)

    def find_normalised(self, aliases: Sequence[str]) -> NDArray[np.int64]:
        rows = super().find_normalised(aliases)
        for i, alias in enumerate(aliases):
            if alias in self.entries:
                row = self.entries[alias]
                rows[i] = row if self._entry(row).concepts else -1
        return rows

    def find_one(self, alias: str) -> int:
        return int(self.find([alias])[0])

    def name(self, row: int) -> str:
        if row < len(self.index):
            return super().name(row)
        return self.names[row - len(self.index)]

    def row(self, row: int) -> tuple[NDArray[np.int32], NDArray[np.float32]]:
        if row < len(self.index):
            if row >= 0 and super().name(row) in self.entries:  # what stands behind counts
                row = -1
            return super().row(row)
        entry = self._entry(row)
        order = entry.order()
        counts = np.array([entry.counts[i] for i in order])
        concepts = np.array([entry.concepts[i] for i in order], np.int32)
        return concepts, (counts / counts.sum()).astype(np.float32)

    def counts(self, row: int) -> NDArray[np.float64]:
        if row < len(self.index):
            return super().counts(row) if len(self.row(row)[0]) else np.empty(0)
        entry = self._entry(row)
        return np.array([entry.counts[i] for i in entry.order()], np.float64)

    def case_shares(self, row: int) -> NDArray[np.float32]:
        if row < len(self.index):
            return super().case_shares(row if len(self.row(row)[0]) else -1)
        entry = self._entry(row)
        shares = [entry.cases[i] for i in entry.order()]
        return np.array(shares, np.float32).reshape(-1, len(CASES))

    def link_probabilities(self, rows: NDArray[np.int64]) -> NDArray[np.float32]:
        mapped = np.where(rows < len(self.index), rows, -1)
        shares = super().link_probabilities(mapped)
        for i in np.flatnonzero(rows >= len(self.index)):
            shares[i] = self._entry(int(rows[i])).link
        return shares

    def rows_of(self, concept: int) -> list[int]:
        mapped = [row for row in self._mapped_rows(concept) if len(self.row(row)[0])]
        rows = sorted(self.rows_by_concept.get(concept, ()))
        return mapped + [row for row in rows if concept in self._entry(row).concepts]

    def _mapped_rows(self, concept: int) -> list[int]:
        """The mapped rows of a concept, by sorted candidates where many are changed."""
        if len(self.searched) < MANY:
            self.searched.add(concept)
            return super().rows_of(concept)
        concepts, order = self._by_concept
        ends = np.array([concept, concept + 1], concepts.dtype)  # as they are: no copy of all
        places = order[slice(*np.searchsorted(concepts, ends).tolist())]
        rows: list[int] = (np.searchsorted(self.offsets, places, side="right") - 1).tolist()
        return rows

    @cached_property
    def _by_concept(self) -> tuple[NDArray[np.int32], NDArray[np.int64]]:
        """The concepts of all candidates in order, and the place of each."""
        order = np.argsort(self.concepts, kind="stable")
        return self.concepts[order], order

    def open_entry(self, alias: str) -> _Entry:
        """The changed entry of a normalised alias, made of what is mapped if there is none."""
        if alias not in self.entries:
            (row,) = super().find_normalised([alias]).tolist()
            entry = _Entry(
                self.row(row)[0].tolist(),
                self.counts(row).tolist(),
                super().case_shares(row).tolist(),
                float(super().link_probabilities(np.array([row]))[0]),
            )
            new = self.entries[alias] = len(self.index) + len(self.changed)
            self.names.append(alias)
            self.changed.append(entry)
            for concept in entry.concepts:
                self.rows_by_concept.setdefault(concept, set()).add(new)
        return self._entry(self.entries[alias])

    def _entry(self, row: int) -> _Entry:
        return self.changed[row - len(self.index)]


class EditedText(TextIndex):
    """A full-text index, and concepts that it does not have or has otherwise."""

    def __init__(self, index: TextIndex, base: ConceptBase) -> None:
        super().__init__(index.path, index.weights, index.concepts)
        self.base = base
        self.changed: dict[int, tuple[list[str], list[str], list[str]]] = {}
        self.removed: set[int] = set()

    def find(self, text: str, limit: int) -> tuple[NDArray[np.int32], NDArray[np.float32]]:
        hidden = self.removed | set(self.changed)
        concepts, scores = super().find(text, limit + len(hidden))
        kept = ~np.isin(concepts, list(hidden))
        words = list(dict.fromkeys(title_words(text)))
        idf = self.base.title_words.surprise(words)
        more = [
            (number, score)
            for number, fields in self.changed.items()
            if (score := self._score(words, idf, fields)) > 0
        ]
        both = np.concatenate([concepts[kept], np.array([n for n, _ in more], np.int32)])
        all_scores = np.concatenate([scores[kept], np.array([s for _, s in more], np.float32)])
        best = np.argsort(-all_scores, kind="stable")[: max(limit, 0)]
        return both[best], all_scores[best]

    def _score(
        self, words: list[str], idf: NDArray[np.float64], fields: tuple[list[str], ...]
    ) -> float:
        """BM25 of a text of mean length."""
        score = 0.0
        for word, rarity in zip(words, idf.tolist(), strict=True):
            found = sum(
                weight * words_of.count(word)
                for weight, words_of in zip(self.weights, fields, strict=True)
            )
            # as FTS5: a word of every concept finds them, too
            score += max(rarity, 1e-6) * 2.2 * found / (found + 1.2)
        return score


class Edits:
    """The changes of a base, which take the place of its tables.

    Parameters
    ----------
    base
        The base to change.
    graph
        Its graph as it was opened.

    Attributes
    ----------
    journal
        What was done, to be repeated in another process.
    """

    def __init__(self, base: ConceptBase, graph: ConceptGraph) -> None:
        self.base = base
        self.journal: list[tuple[str, Any]] = []
        self._opened = graph
        self._graph: ConceptGraph | None = graph
        self._dropped: set[int] = set()  # vertices whose links of old are gone
        self._linked: dict[int, set[int]] = {}  # both ways
        table = EditedStrings.over(base.ids.table)
        self._ids = base.ids = EditedIndex(base.ids.codes, base.ids.buckets, table)
        self._titles = base.titles = EditedStrings.over(base.titles)
        self._descriptions = base.descriptions = EditedStrings.over(base.descriptions)
        self._aliases = base.aliases = EditedAliases.over(base.aliases)
        empty = StringTable(np.empty(0, np.uint8), np.zeros(len(base) + 1, np.int64))
        self._urls = base.urls = EditedStrings.over(base.urls or empty)
        self._texts = base.texts = EditedStrings.over(base.texts or base.descriptions)
        self._text = None if base.text is None else EditedText(base.text, base)
        base.text = self._text

    @property
    def graph(self) -> ConceptGraph:
        """The graph with all changes of links."""
        if self._graph is None:
            a = self._opened.arrays
            sources = np.repeat(a.outer, np.diff(a.indptr))
            targets = a.outer[a.indices]
            dropped = np.array(sorted(self._dropped), np.int64)
            kept = (sources < targets) & ~np.isin(sources, dropped) & ~np.isin(targets, dropped)
            edges = np.stack([sources[kept], targets[kept]], axis=1)
            new = [(u, v) for u, some in self._linked.items() for v in some if u < v]
            more = np.array(new, np.int64).reshape(-1, 2)
            self._graph = ConceptGraph.from_edges(
                np.concatenate([edges, more]), vertices=np.arange(len(self._ids))
            )
        return self._graph

    def repeat(self, step: tuple[str, Any]) -> None:
        """Do again what a journal says."""
        name, given = step
        if name != "add":  # numbers may be others where the folder was written again
            given = (self.base.number(given[0]), *given[1:])
            if given[0] < 0:
                raise StorageError(
                    f"folder: {self.base.folder} was replaced since the knowledge base was opened "
                    "that was changed here; save it to a folder of its own."
                )
        getattr(self, name)(*given)

    def add(self, concept: Concept) -> int:
        """Add a concept and return its number."""
        self.journal.append(("add", (concept,)))
        number = len(self._ids)
        self._ids.table.added.append(concept.id)  # type: ignore[attr-defined]
        self._ids.places[concept.id] = number
        for table in (self._titles, self._descriptions, self._urls, self._texts):
            table.added.append("")
        self.base.type_numbers = np.append(self.base.type_numbers, np.int16(-1))
        if self.base.qid_numbers is not None:
            self.base.qid_numbers = np.append(self.base.qid_numbers, 0)
        self._graph = None
        known = {"title", "description", "url", "text", "type", "qid", "aliases", "links"}
        self._write(number, concept, known)
        return number

    def update(self, number: int, concept: Concept, known: frozenset[str]) -> None:
        """Replace the fields of `known`."""
        self.journal.append(("update", (self._ids.table[number], concept, known)))
        self._write(number, concept, known)

    def remove(self, number: int) -> None:
        """Take a concept out."""
        self.journal.append(("remove", (self._ids.table[number],)))
        self._forget_aliases(number)
        self._unlink(number)
        self._ids.removed.add(number)
        if self._text is not None:
            self._text.changed.pop(number, None)
            self._text.removed.add(number)

    def _write(self, number: int, concept: Concept, known: Collection[str]) -> None:
        # where there is no text, the description stands for it
        described = self._texts[number] == self._descriptions[number]
        for name, table in (
            ("title", self._titles),
            ("description", self._descriptions),
            ("url", self._urls),
            ("text", self._texts),
        ):
            if name in known:
                table.replace(number, getattr(concept, name))
        if not concept.text and ("text" in known or described):
            self._texts.replace(number, self._descriptions[number])
        if "type" in known:
            self._set_type(number, concept.type)
        if "qid" in known:
            self._set_qid(number, concept.qid)
        if "aliases" in known:
            self._forget_aliases(number)
            for alias, count in concept.aliases.items():
                self._add_alias(number, alias, count)
        elif "title" in known and normalise(concept.title) not in self.base.names(number):
            self._add_alias(number, concept.title, 1.0)
        if "links" in known:
            self._unlink(number)
            rows = self._ids.find(list(concept.links)).tolist()
            for row in rows:
                if row >= 0:
                    self._linked.setdefault(number, set()).add(row)
                    self._linked.setdefault(row, set()).add(number)
        if self._text is not None:
            fields = (self._titles[number], " ".join(self.base.names(number)), self._texts[number])
            title, names, body = map(title_words, fields)
            self._text.changed[number] = (title, names, body)

    def _set_type(self, number: int, name: str) -> None:
        if name and name not in self.base.type_names:
            self.base.type_names = [*self.base.type_names, name]
        if not self.base.type_numbers.flags.writeable:
            self.base.type_numbers = self.base.type_numbers.copy()
        self.base.type_numbers[number] = self.base.type_names.index(name) if name else -1

    def _set_qid(self, number: int, qid: str) -> None:
        if self.base.qid_numbers is None:
            self.base.qid_numbers = np.zeros(len(self._ids), np.int64)
        elif not self.base.qid_numbers.flags.writeable:
            self.base.qid_numbers = self.base.qid_numbers.copy()
        self.base.qid_numbers[number] = int(qid[1:]) if qid else 0

    def _add_alias(self, number: int, alias: str, count: float) -> None:
        name = normalise(alias)
        if not name:
            return
        entry = self._aliases.open_entry(name)
        if number not in entry.concepts:
            entry.concepts.append(number)
            rows = self._aliases.rows_by_concept.setdefault(number, set())
            rows.add(self._aliases.entries[name])
            entry.counts.append(0.0)
            entry.cases.append([0.0] * len(CASES))
        place = entry.concepts.index(number)
        entry.cases[place] = [share * entry.counts[place] for share in entry.cases[place]]
        entry.cases[place][letter_case(alias)] += count
        entry.counts[place] += count
        whole = sum(entry.cases[place])
        entry.cases[place] = [share / whole for share in entry.cases[place]]

    def _forget_aliases(self, number: int) -> None:
        for row in self._aliases.rows_of(number):
            entry = self._aliases.open_entry(self._aliases.name(row))
            place = entry.concepts.index(number)
            for column in (entry.concepts, entry.counts, entry.cases):
                del column[place]  # type: ignore[attr-defined]

    def _unlink(self, number: int) -> None:
        self._dropped.add(number)
        for other in self._linked.pop(number, ()):
            self._linked.get(other, set()).discard(number)
        self._graph = None
