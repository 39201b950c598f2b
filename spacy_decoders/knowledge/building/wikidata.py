"""Items, types and descriptions from a Wikidata dump and the dump of page properties."""

from array import array
from collections.abc import Mapping
from itertools import islice
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from ..concepts import BadRows
from ..dumps.articles import page_title
from ..dumps.sql import SqlTable
from ..dumps.wikidata import items, named_items
from .lines import NONE, TEXTS, as_lines, taken
from .titles import Titles

__all__ = ["TYPES", "Items", "read_items"]

#: Coarse types, and the classes whose instances, direct or of subclasses, have them. A subclass of
#: several has the type of the nearest; of equally near ones, of the first here.
TYPES = {
    "person": ["Q5"],
    "character": ["Q95074", "Q15632617"],
    "organization": ["Q43229", "Q4830453", "Q3918", "Q7278", "Q476028"],
    "place": ["Q2221906", "Q618123", "Q486972", "Q56061", "Q41176", "Q6256", "Q515", "Q6999"],
    "event": ["Q1190554", "Q1656682", "Q198"],
    "work": ["Q17537576", "Q386724", "Q7397", "Q732577"],
    "product": ["Q2424752", "Q42889", "Q39546"],
    "organism": ["Q16521", "Q55983715", "Q729"],
    "substance": ["Q79529", "Q11173", "Q11344", "Q2095"],
    "language": ["Q34770", "Q17376908"],
    "disease": ["Q12136", "Q2057971"],
    "award": ["Q618779"],
    "group": ["Q41710", "Q874405", "Q16334295"],
    "occupation": ["Q28640", "Q12737077", "Q4164871"],
    "field": ["Q11862829", "Q1047113", "Q349"],
}

#: The most steps up the hierarchy of classes.
_HIGHEST = 30


class Items(NamedTuple):
    """What Wikidata knows of the concepts."""

    numbers: NDArray[np.int64]  # (concepts,): the item of each, 0 for none
    types: NDArray[np.int16]  # (concepts,): the index of its type in `TYPES`, -1 for none
    descriptions: dict[int, str]  # of the concepts that have one
    bad: dict[str, int]  # rows left out, by dump


def read_items(
    titles: Titles, page_props: Path | None, wikidata: Path | None, language: str
) -> Items:
    """Read the items of the concepts, their types and descriptions."""
    numbers = np.zeros(len(titles), np.int64)
    descriptions: dict[int, str] = {}
    reader, bad = _ItemReader(language), {}
    if wikidata is not None:
        unread = BadRows()
        found = items(wikidata, reader.read, unread, holding=reader.holding)
        while some := list(islice(found, TEXTS)):
            pages = as_lines(title for _, title, _ in some)
            concepts = titles.concept_of_lines(pages, len(some)).tolist()
            for concept, (number, _, description) in zip(concepts, some, strict=True):
                if concept >= 0:
                    numbers[concept] = number
                    if description:
                        descriptions[concept] = description
        bad["wikidata"] = unread.count
    if page_props is not None:
        bad["page_props"] = _read_props(page_props, titles, numbers)
    return Items(numbers, reader.types_of(numbers), descriptions, bad)


class _ItemReader:
    """Reads from the items of a dump their pages in one Wikipedia, and their classes."""

    def __init__(self, language: str) -> None:
        self.language = language
        # most items have no page in the language and are no class: these need no parsing
        self.holding = (f'"{language}wiki"'.encode(), b'"P279"')
        # flattened pairs: an item and its class, a class and its superclass
        self.of_class, self.below = array("q"), array("q")

    def read(self, item: Mapping[str, Any]) -> tuple[int, str, str] | None:
        """The number of an item, the title of its page, and its description."""
        number = int(item["id"][1:])
        claims = item.get("claims") or {}
        for other in named_items(claims.get("P279")):
            self.below.extend((number, int(other[1:])))
        page = (item.get("sitelinks") or {}).get(f"{self.language}wiki")
        if page is None:
            return None
        for other in named_items(claims.get("P31")):
            self.of_class.extend((number, int(other[1:])))
        described = (item.get("descriptions") or {}).get(self.language) or {}
        return number, page_title(str(page["title"])), str(described.get("value", ""))

    def types_of(self, numbers: NDArray[np.int64]) -> NDArray[np.int16]:
        """The index in `TYPES` of the type of each item, -1 where unknown."""
        below, of_class = (
            np.frombuffer(pairs, np.int64).reshape(-1, 2) for pairs in (self.below, self.of_class)
        )
        classes, types, depths = _class_types(below)
        place = np.minimum(np.searchsorted(classes, of_class[:, 1]), len(classes) - 1)
        known = classes[place] == of_class[:, 1]
        item, place = of_class[known, 0], place[known]
        # of several classes the one nearest to a type counts
        order = np.lexsort((types[place], depths[place], item))
        typed, first = np.unique(item[order], return_index=True)
        at = np.searchsorted(typed, numbers)
        found = (taken(typed, at) == numbers) & (numbers > 0)
        return np.where(found, taken(types[place][order][first], at), NONE).astype(np.int16)


def _class_types(
    below: NDArray[np.int64],
) -> tuple[NDArray[np.int64], NDArray[np.int16], NDArray[np.int16]]:
    """The subclasses of those in `TYPES`, ascending; their types, and how far below they are.

    `below` are (class, superclass) pairs. **Shape:** ``(any, 2)``
    """
    roots = [(int(qid[1:]), i) for i, qids in enumerate(TYPES.values()) for qid in qids]
    numbers = np.array([number for number, _ in roots], np.int64)
    classes = np.unique(np.concatenate([below.ravel(), numbers]))
    types = np.full(len(classes), len(TYPES), np.int16)
    depths = np.full(len(classes), _HIGHEST + 1, np.int16)
    types[np.searchsorted(classes, numbers)] = [i for _, i in roots]
    depths[np.searchsorted(classes, numbers)] = 0
    lower, upper = np.searchsorted(classes, below).T
    for depth in range(1, _HIGHEST + 1):
        reached = (depths[upper] == depth - 1) & (depths[lower] > depth)
        if not reached.any():
            break
        np.minimum.at(types, lower[reached], types[upper[reached]])
        depths[lower[reached]] = depth
    known = depths <= _HIGHEST
    return classes[known], types[known], depths[known]


def _read_props(path: Path, titles: Titles, numbers: NDArray[np.int64]) -> int:
    """Read the items of pages from the page_props dump, but not those of redirects."""
    table = SqlTable(path)
    for chunk in table.chunks(["pp_page"], ["pp_propname", "pp_value"]):
        concepts = titles.concept_of_pages(chunk.numbers[:, 0], own=True).tolist()
        cells = (lines.tobytes().split(b"\n") for lines in chunk.texts)
        for concept, name, value in zip(concepts, *cells, strict=False):
            known = concept >= 0 and name == b"wikibase_item" and value[:1] == b"Q"
            if known and value[1:].isdigit() and len(value) < 19:
                numbers[concept] = int(value[1:])
    return table.bad
