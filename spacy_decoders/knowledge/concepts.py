"""Concepts as a source gives them: plain fields, which are checked."""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import fields
from typing import Annotated, Any

from pydantic import AfterValidator, ConfigDict, Field, StringConstraints, ValidationError
from pydantic.dataclasses import dataclass

__all__ = ["QID", "BadRows", "Concept"]

#: An identifier of a Wikidata item.
QID = re.compile(r"Q[1-9][0-9]{0,17}")


def _storable(text: str) -> str:
    """Refuse lone surrogates, which can't be stored, and null characters, which can't be found."""
    text.encode("utf8")
    if "\0" in text:
        raise ValueError("it has a null character; remove it")
    return text


def _countable(count: float) -> float:
    """Refuse counts that can't be summed and stored in single precision."""
    if not 1e-15 <= count <= 1e15:
        raise ValueError("the count of an alias must be above 0, and at most 1e15")
    return count


_Text = Annotated[str, AfterValidator(_storable)]
_Word = Annotated[_Text, StringConstraints(strip_whitespace=True)]
_Id = Annotated[_Word, StringConstraints(min_length=1)]
_Qid = Annotated[_Word, StringConstraints(pattern=f"^({QID.pattern})?$")]
_Url = Annotated[_Word, StringConstraints(pattern="^(https?://.*)?$")]
_Count = Annotated[float, AfterValidator(_countable)]


@dataclass(frozen=True, config=ConfigDict(coerce_numbers_to_str=True))
class Concept:
    """One concept of a source.

    Attributes
    ----------
    id
        The identifier that ``kb_id_`` will hold.
    title
        The name to show.
    aliases
        Its names, with counts.
    links
        Identifiers of related concepts; direction does not matter.
    description
        One line of description.
    text
        Words by which it can be found.
    type
        What kind of thing it is, such as ``"person"``; one word of the source's own choice.
    qid
        Its item in Wikidata, such as ``"Q11399"``.
    url
        The page about it, ``http://`` or ``https://``.

    Raises
    ------
    ValueError
        If a field is of the wrong kind, or can't be stored.
    """

    id: _Id
    title: _Text
    aliases: dict[_Text, _Count] = Field(default_factory=dict)
    links: tuple[_Text, ...] = ()
    description: _Text = ""
    text: _Text = ""
    type: _Word = ""
    qid: _Qid = ""
    url: _Url = ""

    @classmethod
    def of(cls, row: Any) -> Concept:
        """Make a concept from a row of a table, or from an object; only ``id`` is required.

        Raises
        ------
        ValueError
            If a field is of the wrong kind, or unknown.
        """
        if not isinstance(row, Mapping):
            raise ValueError(f"expected an object, got {type(row).__name__}")
        unknown = sorted(set(row) - {item.name for item in fields(cls)})
        if unknown:
            raise ValueError(f"it has no field {unknown[0]!r}")
        given = {name: value for name, value in row.items() if not _is_missing(value)}
        if "id" not in given:
            raise ValueError("no id")
        title = given.get("title", given["id"])
        # the title is one of the aliases
        names = {str(title): 1.0, **_aliases(given.get("aliases"))}
        given |= {"title": title, "aliases": names, "links": _links(given.get("links"))}
        try:
            return cls(**given)
        except ValidationError as error:
            fault = error.errors(include_url=False)[0]
            where = ": ".join(map(str, fault["loc"]))
            reason = fault["msg"].removeprefix("Value error, ")
            raise ValueError(f"{where}: {reason}; got {fault['input']!r}") from None


class BadRows:
    """Rows that could not be read: how many, and the first few with the reason."""

    def __init__(self) -> None:
        self.count = 0
        self.examples: list[str] = []

    def add(self, where: str, reason: str) -> None:
        self.count += 1
        if len(self.examples) < 20:
            self.examples.append(f"{where}: {reason}")


def _is_missing(value: Any) -> bool:
    """Whether a cell is empty: tables of pandas have NaN there."""
    return value is None or (isinstance(value, str | float) and (value == "" or value != value))


def _aliases(given: Any) -> dict[Any, Any]:
    """Aliases with their counts: 1 in a list; as given in an object, or in a cell of a table."""
    if isinstance(given, Mapping):
        return dict(given)
    if isinstance(given, str):
        pairs = [_alias_and_count(item) for item in given.split(";") if item.strip()]
    elif isinstance(given, list | tuple):
        pairs = [(alias, 1.0) for alias in given]
    elif given is None:
        pairs = []
    else:
        raise ValueError(f"aliases: expected a list or an object, got {type(given).__name__}")
    aliases: dict[Any, float] = {}
    for alias, count in pairs:
        aliases[alias] = aliases.get(alias, 0.0) + count
    return aliases


def _alias_and_count(item: str) -> tuple[str, float]:
    alias, equals, count = item.rpartition("=")
    if equals:
        try:
            return alias.strip(), float(count)
        except ValueError:
            pass  # an alias with an equals sign of its own
    return item.strip(), 1.0


def _links(given: Any) -> list[Any]:
    items = given.split(";") if isinstance(given, str) else given or []
    if not isinstance(items, list | tuple):
        raise ValueError(f"links: expected a list, got {type(given).__name__}")
    stripped = (item.strip() if isinstance(item, str) else item for item in items)
    return [item for item in stripped if item != ""]
