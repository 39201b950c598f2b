"""The format of a knowledge base's folder."""

from __future__ import annotations

from collections.abc import Iterable

from ..graph.storage import FolderFormat
from . import aliases, title_words
from .string_index import index_arrays

__all__ = ["FOLDER", "string_arrays"]


def string_arrays(names: Iterable[str]) -> dict[str, tuple[str, int]]:
    """The arrays of string tables of these names, for a folder's format."""
    kinds = {"data": ("|u1", 1), "offsets": ("<i8", 1)}
    return {f"{name}.{field}": kind for name in names for field, kind in kinds.items()}


#: What a base has only if its source says so.
_OPTIONAL = {
    "qids": ("<i8", 1),
    "types.numbers": ("<i2", 1),
    **string_arrays(["types", "urls", "texts"]),
    **aliases.OPTIONAL,
}

FOLDER = FolderFormat(
    kind="knowledge base",
    header_name="manifest.json",
    arrays={
        **index_arrays("ids"),
        **string_arrays(["titles", "descriptions"]),
        **title_words.ARRAYS,
        **aliases.ARRAYS,
        **_OPTIONAL,
    },
    optional=frozenset(_OPTIONAL),
    others=("text.sqlite", "graph/graph.json"),
)
