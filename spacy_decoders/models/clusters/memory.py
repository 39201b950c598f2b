"""Tables of words as parts of thinc models."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any, Generic, TypeVar, cast

from spacy.attrs import ORTH
from spacy.tokens import Doc
from thinc.api import Shim

from .table import PREFIXES, ClusterTable
from .vectors import VectorTable

__all__ = ["COLUMNS", "ClusterMemory", "VectorMemory", "WordMemory"]

Table = TypeVar("Table", ClusterTable, VectorTable)
Found = TypeVar("Found")

#: Columns: the prefixes, and the classes of frequency and case.
COLUMNS = len(PREFIXES) + 2

#: Words of which what was found is kept.
MOST_KNOWN = 200_000


class WordMemory(Shim, Generic[Table, Found]):  # type: ignore[misc]
    """A table of words as part of a thinc model: saved with it, trained by nobody."""

    def __init__(self, table: Table) -> None:
        super().__init__(None)
        self.replace(table)

    def replace(self, table: Table) -> None:
        """Take another table."""
        self.table: Any = table
        self._known: dict[int, Found] = {}

    def look_up(self, words: list[str]) -> Iterable[Found]:
        """Return what the table has of words."""
        raise NotImplementedError(f"{type(self).__name__} must implement look_up().")

    def of_tokens(self, doc: Doc) -> list[Found]:
        """Return what is known of each token's word."""
        # not token by token: making a token costs more than the look-up
        orths: list[int] = cast(Any, doc.to_array(ORTH)).tolist()
        known = self._known
        if len(known) > MOST_KNOWN:  # of texts without end; other threads keep the one they have
            known = self._known = {}
        new = [orth for orth in set(orths) if orth not in known]
        strings = doc.vocab.strings
        found = self.look_up([strings[orth] for orth in new])
        known.update(zip(new, found, strict=True))
        return [known[orth] for orth in orths]

    def finish_update(self, optimizer: Any) -> None:
        """Do nothing."""

    def to_device(self, device_type: str, device_id: int) -> None:
        """Stay on the processor."""

    def to_bytes(self) -> bytes:
        """Save the table."""
        return cast(bytes, self.table.to_bytes())

    def from_bytes(self, data: bytes) -> WordMemory[Table, Found]:
        """Load a table."""
        self.replace(type(self.table).from_bytes(data))
        return self


class ClusterMemory(WordMemory[ClusterTable, "tuple[int, ...]"]):
    """The clusters of words, and their classes of frequency and case."""

    def __init__(self) -> None:
        super().__init__(ClusterTable.of({}))

    def look_up(self, words: list[str]) -> Iterable[tuple[int, ...]]:
        """Return the columns of words."""
        for path, classes in self.table.lookup_all(words):
            yield (*(path & bits for bits in PREFIXES), classes >> 8, classes & 255)


class VectorMemory(WordMemory[VectorTable, int]):
    """The vectors of words."""

    def __init__(self) -> None:
        super().__init__(VectorTable.of({}))

    def look_up(self, words: list[str]) -> Iterable[int]:
        """Return the places of words in the table."""
        found: list[int] = self.table.find(words).tolist()
        return found
