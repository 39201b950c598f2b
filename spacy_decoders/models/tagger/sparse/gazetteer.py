"""Lists of names: known phrases, as features of the words that are part of one."""

from __future__ import annotations

import zlib
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
import spacy
import srsly
from numpy.typing import NDArray

from ....errors import ProblemError
from ....readers.text_lines import text_lines
from ...saved import damaged, fields_of, inflated, message_of, whole_number
from .kernels.gazetteer import GOES_ON, add_phrases

__all__ = ["Gazetteer", "PhraseTable"]

#: Kinds of phrases that a table has bits for.
MOST_KINDS = 15
#: Cells that a table may have.
MOST_CELLS = 1 << 32
#: Words of the longest phrase that is kept.
LONGEST = 8


@dataclass(frozen=True, eq=False)
class PhraseTable:
    """Phrases of several kinds as a hash table: a few bytes for each.

    Phrases are known by 31 bits of their hash: among a million others, a few hundred of a
    million unknown phrases are taken for one.
    """

    #: The names of the kinds.
    kinds: tuple[str, ...]
    #: **Shape (cells,)**, uint32: 0 for an empty cell.
    keys: NDArray[np.uint32]
    #: **Shape (cells,)**, uint16: what begins so, as the kernels say.
    entries: NDArray[np.uint16]

    @classmethod
    def of(cls, phrases: Mapping[str, Sequence[Sequence[int]]]) -> PhraseTable:
        """Make a table of phrases by kind, each the numbers of its words in lower case.

        Raises
        ------
        ProblemError
            If there are more kinds than a table has bits for.
        """
        if len(phrases) > MOST_KINDS:
            raise ProblemError(f"gazetteer: at most {MOST_KINDS} lists, got {len(phrases)}.")
        words = sum(len(phrase) for of_kind in phrases.values() for phrase in of_kind)
        cells = 1 << max(4, (2 * words).bit_length())
        keys, entries = np.zeros(cells, dtype=np.uint32), np.zeros(cells, dtype=np.uint16)
        for number, of_kind in enumerate(phrases.values()):
            offsets = np.cumsum([0, *map(len, of_kind)])
            flat = np.array([word for phrase in of_kind for word in phrase], dtype=np.uint64)
            add_phrases(keys, entries, flat, offsets, number)
        return cls(tuple(phrases), keys, entries)

    def to_bytes(self) -> bytes:
        """Return the table as bytes."""
        used = np.flatnonzero(self.keys)
        saved: dict[str, Any] = {
            "kinds": self.kinds,
            "cells": len(self.keys),
            "used": zlib.compress(np.diff(used, prepend=0).astype("<u4").tobytes(), 9),
            "keys": zlib.compress(self.keys[used].tobytes(), 1),
            "entries": zlib.compress(self.entries[used].tobytes(), 9),
        }
        return bytes(srsly.msgpack_dumps(saved))

    @classmethod
    def from_bytes(cls, data: bytes) -> PhraseTable:
        """Make a table of bytes.

        Raises
        ------
        StorageError
            If they are damaged.
        """
        part = "gazetteer"
        names = ("kinds", "cells", "used", "keys", "entries")
        kinds, cells, *columns = fields_of(message_of(data, part), names, part)
        if not isinstance(kinds, list) or not all(isinstance(kind, str) for kind in kinds):
            raise damaged(f"{part}, kinds", "expected names")
        whole_number(len(kinds), 0, MOST_KINDS, f"{part}, kinds")
        cells = whole_number(cells, 1, MOST_CELLS, f"{part}, cells")
        if cells.bit_count() != 1:
            raise damaged(f"{part}, cells", f"{cells:,} is no power of two")
        gaps = inflated(columns[0], f"{part}, used")
        # without an empty cell, looking for an unknown phrase would never end
        if len(gaps) % 4 or len(gaps) // 4 >= cells:
            raise damaged(f"{part}, used", f"{len(gaps):,} bytes for {cells:,} cells")
        used = np.cumsum(np.frombuffer(gaps, dtype="<u4"), dtype=np.int64)
        if len(used) and (used[-1] >= cells or (np.diff(used) <= 0).any()):
            raise damaged(f"{part}, used", f"cells are not in order, or outside of {cells:,}")
        of_keys = inflated(columns[1], f"{part}, keys", 4 * len(used))
        of_entries = inflated(columns[2], f"{part}, entries", 2 * len(used))
        found = np.frombuffer(of_keys, dtype=np.uint32), np.frombuffer(of_entries, dtype=np.uint16)
        if not (found[0] & 1).all():
            raise damaged(f"{part}, keys", "some are no keys of phrases")
        if (found[1] & ~np.uint16(int(GOES_ON) | (1 << len(kinds)) - 1)).any():
            raise damaged(f"{part}, entries", f"some are of other kinds than {len(kinds)}")
        try:
            keys, entries = np.zeros(cells, dtype=np.uint32), np.zeros(cells, dtype=np.uint16)
        except MemoryError as error:
            raise damaged(f"{part}, cells", error) from error
        keys[used], entries[used] = found
        return cls(tuple(kinds), keys, entries)


class Gazetteer:
    """Lists of names that a model is to know, read when it is initialised.

    A trained model keeps them: whoever loads it needs no file.

    Parameters
    ----------
    paths
        For each kind of name a file with one name a line, gzipped or not.
    lang
        The language whose tokenizer cuts the names into words.
    """

    def __init__(self, paths: Mapping[str, str | Path], lang: str = "en") -> None:
        self.paths = {kind: Path(path) for kind, path in paths.items()}
        self.lang = lang

    def read(self) -> PhraseTable:
        """Read them; case is not told apart, and names of more than eight words are left out."""
        nlp = spacy.blank(self.lang)
        phrases = {}
        for kind, path in self.paths.items():
            names = [line.strip() for line in text_lines(path)]
            docs = [nlp.make_doc(name.lower()) for name in names if name]
            phrases[kind] = [
                [token.lower for token in doc] for doc in docs if 0 < len(doc) <= LONGEST
            ]
        return PhraseTable.of(phrases)
