"""From a Wikidata dump, and that of pages' properties, to items, types and descriptions."""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from ..concepts import QID
from ..dumps.articles import page_title
from ..dumps.pages import Unit, lines, units
from ..dumps.sql import SqlTable
from .lines import NONE, as_lines, lines_of, taken
from .stages import Build, Stage, UnitResults, fingerprint, read_units
from .titles import Titles

__all__ = ["TYPES", "class_types", "items_of", "join_items", "read_wikidata", "types_of_items"]

#: Coarse types, and the classes whose instances, and those of their subclasses, are of them. A
#: class that is below several is of the nearest; of equally near ones the first here counts.
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

#: Before the number of an item among the properties of a page.
_PROPERTY = b"wikibase_item\x1fQ"

#: Items of a file of results.
_ITEMS = 100_000
_UNIT = 1 << 28
#: Steps up the classes at most.
_HIGHEST = 30


class ItemsTask(NamedTuple):
    """A unit of the dump, the language, and where results go."""

    unit: Unit
    language: str
    results: UnitResults


def read_unit(task: ItemsTask) -> int:
    """Read one unit, unless an earlier build has; returns its items."""
    if task.results.total is not None:
        return task.results.total
    place = total = 0
    wiki = f'"{task.language}wiki"'.encode()
    part: list[bytes | str] = []
    for line in lines(task.unit, b"{"):
        # most items have no page in the language, and are no class either: no need to parse them
        needed = isinstance(line, str) or wiki in line or b'"P279"' in line
        part.append(line if needed else b"")
        if len(part) == _ITEMS:
            _write_part(task, place, part)
            total, place, part = total + _ITEMS, place + 1, []
    if part:
        _write_part(task, place, part)
        total += len(part)
    return task.results.finish(total)


def _write_part(task: ItemsTask, place: int, given: list[bytes | str]) -> None:
    items: list[tuple[int, str, str]] = []
    of_class: list[tuple[int, int]] = []
    below: list[tuple[int, int]] = []
    bad = 0
    for line in given:
        if not line:
            continue
        try:
            if isinstance(line, str):
                raise ValueError(line)
            item = json.loads(line.rstrip(b", \r\n"))
            number = _number(item["id"])
            claims = item.get("claims") or {}
            below += [(number, other) for other in _values(claims, "P279")]
            page = (item.get("sitelinks") or {}).get(f"{task.language}wiki")
            if page is not None:
                described = (item.get("descriptions") or {}).get(task.language) or {}
                text = str(described.get("value", ""))
                items.append((number, page_title(str(page["title"])), text))
                of_class += [(number, other) for other in _values(claims, "P31")]
        except (AttributeError, KeyError, TypeError, ValueError, RecursionError):
            bad += 1
    task.results.write(
        place,
        items=np.array([number for number, _, _ in items], np.int64),
        titles=as_lines([title for _, title, _ in items]),
        descriptions=as_lines([text for _, _, text in items]),
        of_class=np.array(of_class, np.int64).reshape(-1, 2),
        below=np.array(below, np.int64).reshape(-1, 2),
        bad=np.array([bad]),
    )


def _number(identity: Any) -> int:
    if not isinstance(identity, str) or not QID.fullmatch(identity):
        if isinstance(identity, str) and identity[:1] in "PL":  # a property or a lexeme
            return 0
        raise ValueError(f"{identity!r} is no item")
    return int(identity[1:])


def _values(claims: Mapping[str, Any], name: str) -> Iterator[int]:
    for statement in claims.get(name) or []:
        value = (statement["mainsnak"].get("datavalue") or {}).get("value")
        if statement.get("rank") != "deprecated" and value is not None:
            yield _number(value.get("id") or f"Q{value['numeric-id']}")


def read_wikidata(build: Build, path: Path, language: str) -> Stage:
    """Run the stage of Wikidata's items, which needs no other."""
    stage = build.stage("wikidata", [fingerprint(path), language, str(_ITEMS), str(_UNIT)])
    if stage.done:
        return stage
    stage.folder.mkdir(parents=True, exist_ok=True)
    tasks = [
        ItemsTask(unit, language, UnitResults(stage.folder, i))
        for i, unit in enumerate(units(path, _UNIT))
    ]
    total = read_units(build, read_unit, tasks, "Wikidata")
    bad = sum(int(part["bad"][0]) for part in _parts(stage))
    stage.finish(items=total, bad=bad)
    build.report(f"Wikidata: {total:,} items, {bad:,} left out")
    return stage


def _parts(stage: Stage) -> Iterator[dict[str, NDArray[Any]]]:
    for path in stage.parts():
        with np.load(path, allow_pickle=False) as arrays:
            yield {name: arrays[name] for name in arrays.files}


def items_of(stage: Stage) -> Iterator[tuple[NDArray[np.int64], NDArray[np.uint8], list[str]]]:
    """Numbers of items, their pages' titles as lines, and descriptions; some at a time."""
    for part in _parts(stage):
        yield part["items"], part["titles"], lines_of(part["descriptions"])


def types_of(stage: Stage) -> tuple[NDArray[np.int64], NDArray[np.int16]]:
    """The items whose type is known, ascending, and the place of each one's type in `TYPES`."""
    empty = [np.empty((0, 2), np.int64)]
    parts = list(_parts(stage))
    below = np.concatenate([*empty, *(part["below"] for part in parts)])
    of_class = np.concatenate([*empty, *(part["of_class"] for part in parts)])
    classes, types, depths = class_types(below)
    place = np.minimum(np.searchsorted(classes, of_class[:, 1]), len(classes) - 1)
    known = classes[place] == of_class[:, 1]
    item, place = of_class[known, 0], place[known]
    # of several classes the one nearest to a type counts
    order = np.lexsort((types[place], depths[place], item))
    items, first = np.unique(item[order], return_index=True)
    return items, types[place[order][first]]


def class_types(
    below: NDArray[np.int64],
) -> tuple[NDArray[np.int64], NDArray[np.int16], NDArray[np.int16]]:
    """The classes below those of `TYPES`, ascending; each one's type, and how far below it is.

    Parameters
    ----------
    below
        (class, class above it) pairs. **Shape:** ``(any, 2)``
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


def join_items(
    build: Build, titles: Titles, page_props: Path | None, wikidata: Stage | None
) -> Stage:
    """The Wikidata item of each concept, 0 for none."""
    inputs = [titles.key, "" if wikidata is None else wikidata.key]
    inputs.append("" if page_props is None else fingerprint(page_props))
    stage = build.stage("items", inputs)
    if stage.done:
        return stage
    items = np.zeros(len(titles), np.int64)
    bad = 0
    if wikidata is not None:
        for numbers, lines, _ in items_of(wikidata):
            concepts = titles.concept_of_lines(lines, len(numbers))
            items[concepts[concepts >= 0]] = numbers[concepts >= 0]
    if page_props is not None:
        bad = _read_props(build, page_props, titles, items)
    stage.begun().append("items", items)
    stage.finish(bad=bad)
    build.report(f"Wikidata items: of {int((items > 0).sum()):,} concepts, {bad:,} rows left out")
    return stage


def _read_props(build: Build, path: Path, titles: Titles, items: NDArray[np.int64]) -> int:
    """Read the page_props dump; a page's own item counts, not those of redirects to it."""
    table = SqlTable(path)
    texts = ["pp_propname", "pp_value"]
    name_first = table.columns.index(texts[0]) < table.columns.index(texts[1])
    for chunk in table.chunks(["pp_page"], texts, progress=build.progress):
        concepts = titles.own_concept_of_pages(chunk.numbers[:, 0]).tolist()
        for concept, line in zip(concepts, bytes(chunk.lines).split(b"\n"), strict=False):
            if concept < 0 or b"wikibase_item" not in line:
                continue
            given = line if name_first else b"\x1f".join(line.split(b"\x1f")[::-1])
            digits = given[len(_PROPERTY) :]
            if given.startswith(_PROPERTY) and digits.isdigit() and len(digits) < 18:
                items[concept] = int(digits)
    return table.bad


def types_of_items(items: NDArray[np.int64], wikidata: Stage) -> NDArray[np.int16]:
    """The place of the type of each item in `TYPES`, -1 where unknown."""
    known, types = types_of(wikidata)
    place = np.searchsorted(known, items)
    found = (taken(known, place) == items) & (items > 0)
    return np.where(found, taken(types, place), NONE).astype(np.int16)
