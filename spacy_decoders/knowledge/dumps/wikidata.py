"""Concepts from a Wikidata JSON dump."""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any

from ...errors import ProblemError
from ...readers.text_lines import whole_lines
from ..concepts import BadRows, Concept
from .sql import open_dump

__all__ = ["WikidataDump"]


class WikidataDump:
    """The items of a Wikidata dump in one language.

    A concept's links are the items that its statements name, deprecated ones left out. Its
    label and aliases count as often as it has pages in the Wikipedias: the more, the better
    known.

    Parameters
    ----------
    path
        ``latest-all.json``, plain or compressed: a JSON array with one item a line.
    language
        Language of labels, aliases and descriptions; items without a label in it are left
        out.

    Attributes
    ----------
    bad
        What the last iteration could not read.
    """

    def __init__(self, path: Path, language: str = "en") -> None:
        self.path = Path(path)
        self.language = language
        self.bad = BadRows()
        if not self.path.is_file():
            raise ProblemError(f"source: {self.path} does not exist.")

    def __iter__(self) -> Iterator[Concept]:
        self.bad = BadRows()
        with open_dump(self.path) as (stream, _):
            for number, line in enumerate(whole_lines(stream, self.path), start=1):
                item = line.strip().rstrip(b",")
                if item in (b"", b"[", b"]"):
                    continue
                try:
                    concept = self._concept(json.loads(item))
                except (AttributeError, KeyError, RecursionError, TypeError, ValueError) as error:
                    self.bad.add(f"{self.path.name}:{number}", repr(error))
                    continue
                if concept is not None:
                    yield concept

    def _concept(self, item: Mapping[str, Any]) -> Concept | None:
        label = (item.get("labels") or {}).get(self.language)
        if item["type"] != "item" or label is None:
            return None
        pages = 1.0 + len(item.get("sitelinks") or {})
        names = [label, *(item.get("aliases") or {}).get(self.language, [])]
        description = (item.get("descriptions") or {}).get(self.language, {"value": ""})
        return Concept(
            id=item["id"],
            title=label["value"],
            aliases={name["value"]: pages for name in names},
            links=tuple(dict.fromkeys(_linked_items(item.get("claims") or {}))),
            description=description["value"],
        )


def _linked_items(claims: Mapping[str, Any]) -> Iterator[str]:
    for statements in claims.values():
        for statement in statements:
            value = statement["mainsnak"].get("datavalue")
            if value is None or value["type"] != "wikibase-entityid":
                continue
            entity = value["value"]
            if statement.get("rank") != "deprecated" and entity.get("entity-type") == "item":
                # dumps before 2016 give the number alone
                yield entity.get("id") or f"Q{entity['numeric-id']}"
