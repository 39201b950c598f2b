"""The items of a Wikidata JSON dump, and concepts made of them."""

import json
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any, TypeVar

from ...errors import ProblemError
from ...readers.text_lines import whole_lines
from ..concepts import BadRows, Concept
from .sql import open_dump

__all__ = ["WikidataDump", "items", "named_items"]

Read = TypeVar("Read")


def items(
    path: Path,
    read: Callable[[Mapping[str, Any]], Read | None],
    bad: BadRows,
    *,
    holding: Sequence[bytes] = (b"",),
) -> Iterator[Read]:
    """Yield what `read` returns for the items of a dump, a JSON array with one item a line.

    Lines that contain none of `holding` are skipped unparsed, and so is None from `read`; lines
    that can't be read go to `bad`.
    """
    with open_dump(path) as stream:
        for number, line in enumerate(whole_lines(stream, path), start=1):
            text = line.strip().rstrip(b",")
            if text in (b"", b"[", b"]") or not any(part in text for part in holding):
                continue
            try:
                item = json.loads(text)
                found = read(item) if item["type"] == "item" else None
            except (AttributeError, KeyError, RecursionError, TypeError, ValueError) as error:
                bad.add(f"{path.name}:{number}", repr(error))
                continue
            if found is not None:
                yield found


def named_items(statements: Iterable[Mapping[str, Any]] | None) -> Iterator[str]:
    """The items that some statements name, deprecated statements left out."""
    for statement in statements or ():
        value = statement["mainsnak"].get("datavalue")
        if value is None or value["type"] != "wikibase-entityid":
            continue
        entity = value["value"]
        if statement.get("rank") != "deprecated" and entity.get("entity-type", "item") == "item":
            # dumps before 2016 give the number alone
            yield entity.get("id") or f"Q{entity['numeric-id']}"


class WikidataDump:
    """The items of a Wikidata dump in one language.

    The dump is ``latest-all.json``, plain or compressed: a JSON array with one item a line. A
    concept's links are the items that its statements name, deprecated ones left out. Its label and
    aliases count as often as it has pages in the Wikipedias: the more, the better known. Items
    without a label in the language are left out.
    """

    def __init__(self, path: Path, language: str = "en") -> None:
        self.path = Path(path)
        self.language = language
        #: what the last iteration could not read
        self.bad = BadRows()
        if not self.path.is_file():
            raise ProblemError(f"source: {self.path} is no file.")

    def __iter__(self) -> Iterator[Concept]:
        self.bad = BadRows()
        return items(self.path, self._concept, self.bad)

    def _concept(self, item: Mapping[str, Any]) -> Concept | None:
        label = (item.get("labels") or {}).get(self.language)
        if label is None:
            return None
        pages = 1.0 + len(item.get("sitelinks") or {})
        names = [label, *(item.get("aliases") or {}).get(self.language, [])]
        description = (item.get("descriptions") or {}).get(self.language, {"value": ""})
        claims = item.get("claims") or {}
        linked = (other for said in claims.values() for other in named_items(said))
        return Concept(
            id=item["id"],
            title=label["value"],
            aliases={name["value"]: pages for name in names},
            links=tuple(dict.fromkeys(linked)),
            description=description["value"],
        )
