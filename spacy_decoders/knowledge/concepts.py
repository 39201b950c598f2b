"""Concepts, one by one, made of plain fields and checked."""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import dataclass, field, fields
from typing import Any

from ..errors import ProblemError

__all__ = ["QID", "BadRows", "Concept", "checked", "concept_of_row"]

#: Counts of aliases that can be summed and stored in single precision.
_COUNTS = (1e-15, 1e15)

#: An identifier of a Wikidata item.
QID = re.compile(r"Q[1-9][0-9]{0,17}")


@dataclass(frozen=True)
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
    """

    id: str
    title: str
    aliases: Mapping[str, float] = field(default_factory=dict)
    links: tuple[str, ...] = ()
    description: str = ""
    text: str = ""
    type: str = ""
    qid: str = ""
    url: str = ""

    @classmethod
    def of(cls, row: Mapping[str, Any]) -> Concept:
        """Make a concept of plain fields, of which ``id`` is needed; aliases as in JSON lines.

        Raises
        ------
        ValueError
            If a field is of the wrong kind, or unknown.
        """
        unknown = sorted(set(row) - {item.name for item in fields(cls)})
        if unknown:
            raise ProblemError(f"concept: it has no field {unknown[0]!r}.")
        return concept_of_row(row)


@dataclass
class BadRows:
    """Rows that could not be read: how many, and the first few with the reason."""

    count: int = 0
    examples: list[str] = field(default_factory=list)

    def add(self, where: str, reason: str) -> None:
        self.count += 1
        if len(self.examples) < 20:
            self.examples.append(f"{where}: {reason}")


def concept_of_row(row: Any) -> Concept:
    """Make a concept of the cells of a table, or of an object, whose other fields are ignored.

    Raises
    ------
    ValueError
        If a field is of the wrong kind.
    """
    if not isinstance(row, Mapping):
        raise ValueError(f"expected an object, got {type(row).__name__}")
    identity = row.get("id")
    if not isinstance(identity, (str, int)) or not str(identity).strip():
        raise ValueError("no id")
    title = str(row.get("title") or identity)
    return checked(
        Concept(
            id=str(identity).strip(),
            title=title,
            # what something is called it is also known as
            aliases={title: 1.0, **_aliases(row.get("aliases"))},
            links=_links(row.get("links")),
            description=str(row.get("description") or ""),
            text=str(row.get("text") or ""),
            type=str(row.get("type") or "").strip(),
            qid=_qid(row.get("qid")),
            url=_url(row.get("url")),
        )
    )


def checked(concept: Concept) -> Concept:
    """Return a concept that can be stored.

    Raises
    ------
    ValueError
        If a text can't be written as UTF-8, or the count of an alias is out of range.
    """
    for name, value in vars(concept).items():
        for text in (value,) if isinstance(value, str) else value:
            try:
                text.encode("utf8")
            except UnicodeEncodeError:
                raise ValueError(f"{name}: {text!r} holds half a surrogate pair") from None
    least, most = _COUNTS
    for alias, count in concept.aliases.items():
        if not least <= count <= most:
            raise ValueError(
                f"aliases: the count of {alias!r} must be {least:g} to {most:g}; got {count!r}"
            )
    return concept


def _qid(given: Any) -> str:
    text = str(given or "").strip()
    if text and not QID.fullmatch(text):
        raise ValueError(f"qid: expected Q and a number, got {text!r}")
    return text


def _url(given: Any) -> str:
    text = str(given or "").strip()
    if text and not text.startswith(("http://", "https://")):
        raise ValueError(f"url: expected http:// or https://, got {text!r}")
    return text


def _aliases(given: Any) -> dict[str, float]:
    if not given:
        return {}
    if isinstance(given, str):
        pairs = [_alias_and_count(item) for item in given.split(";") if item.strip()]
    elif isinstance(given, Mapping):
        pairs = [(str(alias), _count_of(alias, count)) for alias, count in given.items()]
    elif isinstance(given, list | tuple):
        pairs = [(_named("aliases", alias), 1.0) for alias in given]
    else:
        raise ValueError(f"aliases: expected a list or an object, got {type(given).__name__}")
    aliases: dict[str, float] = {}
    for alias, count in pairs:
        aliases[alias] = aliases.get(alias, 0.0) + count
    return aliases


def _named(field_name: str, given: Any) -> str:
    if not isinstance(given, str | int | float):
        raise ValueError(f"{field_name}: expected names, got {given!r}")
    return str(given)


def _count_of(alias: Any, count: Any) -> float:
    try:
        return float(count)
    except (OverflowError, TypeError, ValueError):
        raise ValueError(
            f"aliases: expected a number as the count of {alias!r}, got {count!r}"
        ) from None


def _alias_and_count(item: str) -> tuple[str, float]:
    alias, equals, count = item.rpartition("=")
    if equals:
        try:
            return alias.strip(), float(count)
        except ValueError:
            pass  # an alias with an equals sign of its own
    return item.strip(), 1.0


def _links(given: Any) -> tuple[str, ...]:
    if not given:
        return ()
    if isinstance(given, str):
        return tuple(link.strip() for link in given.split(";") if link.strip())
    if isinstance(given, list | tuple):
        return tuple(filter(None, (_named("links", link).strip() for link in given)))
    raise ValueError(f"links: expected a list, got {type(given).__name__}")
