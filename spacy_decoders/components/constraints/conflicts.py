"""How demands that contradict each other are written to a Doc."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any, NamedTuple

from spacy.tokens import Doc

__all__ = ["Source", "conflict"]


class Source(NamedTuple):
    """What demands something."""

    #: As messages name it: ``constraints[2]``, ``fixed_head``, ``present annotation``.
    name: str
    #: The tokens of the match, or of the annotation: ``doc[start:end]``.
    start: int
    end: int


def conflict(
    doc: Doc, start: int, end: int, sources: Iterable[Source], *, is_least: bool = True
) -> dict[str, Any]:
    """Describe in plain types what contradicts itself in ``doc[start:end]``.

    Where the sources may be more than needed, the description says so by ``"is_least": False``.
    """
    described: dict[str, Any] = {
        "start": start,
        "end": end,
        "demands": [
            {
                "source": source.name,
                "start": source.start,
                "end": source.end,
                "text": doc[source.start : source.end].text,
            }
            for source in dict.fromkeys(sources)
        ],
    }
    return described if is_least else {**described, "is_least": False}
