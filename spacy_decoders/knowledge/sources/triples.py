"""Wikidata triples with the names of their items."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator
from pathlib import Path

import numpy as np

from ..building.wikidata import TYPES, class_types
from ..concepts import QID, BadRows, Concept
from .concept_files import rows_of

__all__ = ["Triples"]

#: Types of what has a property, and of what is its value.
_OF_SUBJECT = {
    "person": "P106 P27 P19 P20 P69 P21 P26 P22 P25 P40 P551 P119 P1412",
    "place": "P190 P47 P150 P1376 P36 P30 P206",
    "work": "P161 P840 P915 P57 P58 P344 P162",
}
_OF_VALUE = {
    "person": "P161 P57 P58 P26 P22 P25 P40 P6 P737",
    "place": "P27 P19 P20 P17 P131 P47 P190 P150 P840 P915 P551 P30 P36 P1376",
    "organization": "P69 P463 P108 P102 P264 P54",
    "language": "P1412 P2936 P103 P37",
    "award": "P166 P1411",
    "occupation": "P106",
    "field": "P641 P101",
}


def _by_property(given: dict[str, str]) -> dict[str, int]:
    place = {name: i for i, name in enumerate(TYPES)}
    return {p: place[name] for name, properties in given.items() for p in properties.split()}


class Triples:
    """The items of a table of Wikidata triples.

    An item is known by its name, counted by the triples that it is in; links are all triples.
    Types come from ``P31`` and ``P279``; where those lead to none, from what most of an item's
    other properties say, such as ``P106`` (occupation), which only persons have.

    Parameters
    ----------
    names
        A table of items and names; an item may have several, of which the first is shown.
        Items without a name are in the graph, and are found by no mention.
    triples
        A table of items, properties and items.

    Attributes
    ----------
    bad
        What the last iteration could not read.
    """

    def __init__(self, names: Path, triples: Path) -> None:
        self.names = Path(names)
        self.triples = Path(triples)
        self.bad = BadRows()

    def __iter__(self) -> Iterator[Concept]:
        self.bad = BadRows()
        names: dict[str, list[str]] = {}
        for item, name in rows_of(self.names, 2, self.bad):
            if QID.fullmatch(item):
                names.setdefault(item, []).append(name)
            else:
                self.bad.add(self.names.name, f"{item!r} is no item")
        links: dict[str, list[str]] = {item: [] for item in names}
        uses = dict.fromkeys(names, 1.0)
        statements: dict[str, list[tuple[int, int]]] = {"P31": [], "P279": []}
        votes: dict[str, Counter[int]] = {}
        of_subject, of_value = _by_property(_OF_SUBJECT), _by_property(_OF_VALUE)
        for item, relation, other in rows_of(self.triples, 3, self.bad):
            if not QID.fullmatch(item) or not QID.fullmatch(other):
                self.bad.add(self.triples.name, f"{item} {relation} {other} is no pair of items")
                continue
            links.setdefault(item, []).append(other)
            links.setdefault(other, [])
            for end in (item, other):
                uses[end] = uses.get(end, 1.0) + 1.0
            for end, kinds in ((item, of_subject), (other, of_value)):
                if relation in kinds:
                    votes.setdefault(end, Counter())[kinds[relation]] += 1
            if relation in statements:
                statements[relation].append((int(item[1:]), int(other[1:])))
        said = {item: max(kinds, key=lambda k: (kinds[k], -k)) for item, kinds in votes.items()}
        types = {item: list(TYPES)[kind] for item, kind in said.items()} | _types(statements)
        for item, others in links.items():
            known = names.get(item, [])
            yield Concept(
                id=item,
                title=known[0] if known else item,
                aliases=dict.fromkeys(known, uses.get(item, 1.0)),
                links=tuple(dict.fromkeys(others)),
                type=types.get(item, ""),
                qid=item,
            )


def _types(statements: dict[str, list[tuple[int, int]]]) -> dict[str, str]:
    below = np.array(statements["P279"], np.int64).reshape(-1, 2)
    classes, types, depths = class_types(below)
    known = {
        number: (depth, kind)
        for number, depth, kind in zip(
            classes.tolist(), depths.tolist(), types.tolist(), strict=True
        )
    }
    nearest: dict[int, tuple[int, int]] = {}
    for item, of_class in statements["P31"]:
        if of_class in known:
            nearest[item] = min(nearest.get(item, known[of_class]), known[of_class])
    names = list(TYPES)
    return {f"Q{item}": names[kind] for item, (_, kind) in nearest.items()}
