"""Gazetteers: lists of known phrases, as features of the words within them."""

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
from ...saved import inflated, reading, whole_number
from .kernels.words import GOES_ON, add_phrases

__all__ = ["Gazetteer", "PhraseTable"]

#: The most kinds of phrases, each of which has a bit in an entry.
MOST_KINDS = 15
#: The most cells of a table.
MOST_CELLS = 1 << 32
#: The most words of a phrase; longer ones are left out.
LONGEST = 8


@dataclass(frozen=True, eq=False)
class PhraseTable:
    """Phrases of several kinds as a hash table, in a few bytes each.

    Phrases are identified by 31 bits of their hash: in a table of a million phrases, a few hundred
    of a million unknown phrases are mistaken for a known one.
    """

    #: The names of the kinds.
    kinds: tuple[str, ...]
    #: **Shape (cells,)**, uint32: 0 for an empty cell.
    keys: NDArray[np.uint32]
    #: **Shape (cells,)**, uint16: the kinds of the phrase, and whether longer ones begin so.
    entries: NDArray[np.uint16]

    @classmethod
    def empty(cls, kinds: tuple[str, ...], cells: int) -> PhraseTable:
        """Make a table without phrases."""
        return cls(kinds, np.zeros(cells, dtype=np.uint32), np.zeros(cells, dtype=np.uint16))

    @classmethod
    def of(cls, phrases: Mapping[str, Sequence[Sequence[int]]]) -> PhraseTable:
        """Make a table from phrases by kind, each given as the hashes of its lower-cased words.

        Raises `ProblemError` if there are more kinds than a table has bits for.
        """
        if len(phrases) > MOST_KINDS:
            raise ProblemError(f"gazetteer: at most {MOST_KINDS} lists, got {len(phrases)}.")
        words = sum(len(phrase) for of_kind in phrases.values() for phrase in of_kind)
        cells = 1 << max(4, (2 * words).bit_length())
        table = cls.empty(tuple(phrases), cells)
        for number, of_kind in enumerate(phrases.values()):
            offsets = np.cumsum([0, *map(len, of_kind)])
            flat = np.array([word for phrase in of_kind for word in phrase], dtype=np.uint64)
            add_phrases(table.keys, table.entries, flat, offsets, number)
        return table

    def to_bytes(self) -> bytes:
        """Return the table as bytes."""
        used = np.flatnonzero(self.keys)
        saved: dict[str, Any] = {
            "kinds": self.kinds,
            "cells": len(self.keys),
            "used": zlib.compress(np.diff(used, prepend=0).astype("<u4").tobytes()),
            "keys": zlib.compress(self.keys[used].tobytes(), 1),
            "entries": zlib.compress(self.entries[used].tobytes()),
        }
        return bytes(srsly.msgpack_dumps(saved))

    @classmethod
    def from_bytes(cls, data: bytes) -> PhraseTable:
        """Restore a table from bytes; raises `StorageError` if they are damaged."""
        with reading("gazetteer"):
            saved = srsly.msgpack_loads(data)
            kinds = tuple(saved["kinds"])
            cells = whole_number(saved["cells"], 1, MOST_CELLS, "gazetteer, cells")
            gaps = np.frombuffer(inflated(saved["used"]), dtype="<u4")
            used = np.cumsum(gaps, dtype=np.int64)
            found = np.frombuffer(inflated(saved["keys"], 4 * len(used)), dtype="<u4")
            entries = np.frombuffer(inflated(saved["entries"], 2 * len(used)), dtype="<u2")
            # without an empty cell, looking up an unknown phrase would not end
            fits = cells.bit_count() == 1 and len(used) < cells and len(kinds) <= MOST_KINDS
            ascending = bool((gaps[1:] > 0).all()) and used.max(initial=0) < cells
            unknown = ~np.uint16(int(GOES_ON) | (1 << len(kinds)) - 1)
            if not (fits and ascending and (found & 1).all()) or (entries & unknown).any():
                raise ValueError(f"{len(used):,} phrases of {len(kinds)} kinds in {cells:,} cells")
            table = cls.empty(kinds, cells)
            table.keys[used], table.entries[used] = found, entries
        return table


class Gazetteer:
    """The source of a model's lists of names, read when it is initialised.

    A trained model contains them, so that loading it needs no file. For each kind of name there is
    a file with one name a line, gzipped or not, which the tokenizer of `lang` splits into words.
    """

    def __init__(self, paths: Mapping[str, str | Path], lang: str = "en") -> None:
        self.paths = {kind: Path(path) for kind, path in paths.items()}
        self.lang = lang

    def read(self) -> PhraseTable:
        """Read the lists, ignoring case, and leaving out names of more than eight words."""
        nlp = spacy.blank(self.lang)
        phrases = {}
        for kind, path in self.paths.items():
            names = [line.strip() for line in text_lines(path)]
            docs = [nlp.make_doc(name.lower()) for name in names if name]
            phrases[kind] = [
                [token.lower for token in doc] for doc in docs if 0 < len(doc) <= LONGEST
            ]
        return PhraseTable.of(phrases)
