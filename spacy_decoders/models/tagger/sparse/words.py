"""What is known of words: computed once for each, and kept."""

from __future__ import annotations

from collections.abc import Sequence
from threading import Lock
from typing import NamedTuple, Protocol

import numpy as np
from numpy.typing import NDArray
from spacy.lexeme import Lexeme
from spacy.tokens import Doc

from ...clusters.table import PREFIXES, ClusterTable
from ...inference.kernels.word_rows import places_of
from ...vocabularies import vocab_of
from .gazetteer import PhraseTable
from .kernels.atoms import AFFIX, letters
from .kernels.features import sum_words
from .kernels.gazetteer import single_words
from .packing import Packed
from .templates import WORD_ATOMS, Plan

__all__ = ["MetWords", "WordSums", "WordTable"]

_LETTERS = WORD_ATOMS.index("prefix1")
_LOWER, _LISTED = WORD_ATOMS.index("lower"), WORD_ATOMS.index("listed")
_CLUSTERS, _GROUPS = WORD_ATOMS.index("cluster4"), WORD_ATOMS.index("group6")
_SEEDS = np.arange(1, 2 * AFFIX + 3, dtype=np.uint64) << np.uint64(40)
_GROUP_PREFIXES = (0x3F, 0x3FFF, 0x3FFFFF, 0xFFFFFFFF)
#: Added to small numbers, so that none of them is "nothing" or "outside".
_NAMED = 1 << 33
#: Words that are kept, at most: then all are forgotten and met anew.
MOST = 1 << 16
#: Bytes that their sums may take; a few thousand words are kept in any case.
MOST_BYTES, FEWEST = 1 << 25, 1 << 12


class WordLists(Protocol):
    """What has clusters, groups and phrases."""

    clusters: ClusterTable | None
    groups: ClusterTable | None
    phrases: PhraseTable | None


class MetWords(NamedTuple):
    """Words of documents."""

    #: **Shape (n,)**, int64: where each stands in `atoms`.
    places: NDArray[np.int64]
    #: **Shape (room, A)**, uint64: what is known of each word, in the order of `WORD_ATOMS`;
    #: 0 for nothing.
    atoms: NDArray[np.uint64]
    #: Words that `atoms` has.
    known: int
    #: How often all words were forgotten.
    generation: int


class WordTable:
    """The words that were met, and what is known of each.

    Word 0 stands for whatever is outside the sentence.
    """

    def __init__(self) -> None:
        self._clusters: ClusterTable | None = None
        self._groups: ClusterTable | None = None
        self._phrases: PhraseTable | None = None
        self.generation = 0
        self.most = MOST
        self._lock = Lock()
        self._clear()

    def _clear(self) -> None:
        self.count = 1
        self.generation += 1
        self.atoms = np.zeros((1024, len(WORD_ATOMS)), dtype=np.uint64)
        self.atoms[0] = 1
        self._keys = np.zeros((1024, 1), dtype=np.uint64)
        self._slots = np.full(2048, -1, dtype=np.int32)

    def met(self, docs: Sequence[Doc], words: NDArray[np.uint64], lists: WordLists) -> MetWords:
        """Find the words of some documents, new ones too.

        The words, **shape (n,)**, are their numbers in the vocabulary; the documents know their
        strings.
        """
        with self._lock:
            given = (lists.clusters, lists.groups, lists.phrases)
            if (self._clusters, self._groups, self._phrases) != given:
                self._clusters, self._groups, self._phrases = given
                self._clear()
            try:
                found, count = self._placed(words)
                if count > max(self.count, min(self.most, MOST)):
                    self._clear()
                    found, count = self._placed(words)
                if count > self.count:
                    new = self._keys[self.count : count, 0]
                    vocab = vocab_of(docs, new)
                    self.atoms = _with_room(self.atoms, self.count, count)
                    self._describe([vocab[word] for word in new.tolist()], self.count)
                    self.count = count
            except BaseException:  # words that nothing is known of are not to be found
                self._clear()
                raise
            return MetWords(found, self.atoms, self.count, self.generation)

    def _placed(self, words: NDArray[np.uint64]) -> tuple[NDArray[np.int64], int]:
        """Return the places of words, of new ones behind the others, and how many there are."""
        found = np.empty(len(words), dtype=np.int64)
        room = self.count + len(words)
        if room > len(self._keys):
            keys = self._keys = _with_room(self._keys, self.count, room)
            self._slots = np.full(1 << (2 * len(keys) - 1).bit_length(), -1, dtype=np.int32)
            known = keys[1 : self.count].copy()
            places_of(self._slots, keys, 1, known, np.empty(len(known), dtype=np.int64))
        rows = words.reshape(-1, 1)
        return found, places_of(self._slots, self._keys, self.count, rows, found)

    def lowered(self, docs: Sequence[Doc], words: NDArray[np.uint64]) -> NDArray[np.uint64]:
        """Return the words in lower case; they are then known to the documents' vocabulary."""
        unique, back = np.unique(words, return_inverse=True)
        vocab = vocab_of(docs, unique)
        lower = [vocab.strings.add(vocab.strings[word].lower()) for word in unique.tolist()]
        return np.array(lower, dtype=np.uint64)[back]

    def _describe(self, lexemes: Sequence[Lexeme], first: int) -> None:
        """Write the atoms of new words."""
        rows = self.atoms[first : first + len(lexemes)]
        given = [(word.orth, word.lower, word.norm, word.shape) for word in lexemes]
        rows[:, :_LETTERS] = np.array(given, dtype=np.uint64)
        texts = [word.orth_ for word in lexemes]
        lowers = [low if len(low := text.lower()) == len(text) else text for text in texts]
        offsets = np.zeros(len(texts) + 1, dtype=np.int64)
        np.cumsum([len(text) for text in texts], out=offsets[1:])
        shown = np.empty((len(texts), 2 * AFFIX + 2), dtype=np.uint64)
        letters(_codes(texts), _codes(lowers), offsets, _SEEDS, shown)
        rows[:, _LETTERS:_CLUSTERS] = shown
        if self._phrases is not None:
            lower, listed = rows[:, _LOWER].copy(), np.empty(len(texts), dtype=np.uint64)
            single_words(self._phrases.keys, self._phrases.entries, lower, listed)
            rows[:, _LISTED] = listed
        if self._clusters is not None:
            columns = rows[:, _CLUSTERS:]
            classes = _write_prefixes(self._clusters, texts, PREFIXES, columns)
            columns[:, 4] = _NAMED + (classes >> np.uint64(8))
            columns[:, 5] = _NAMED + (classes & np.uint64(255))
        if self._groups is not None:
            _write_prefixes(self._groups, texts, _GROUP_PREFIXES, rows[:, _GROUPS:])


def _with_room(rows: NDArray[np.uint64], count: int, room: int) -> NDArray[np.uint64]:
    """Return rows with room for so many, the first `count` of them as they are."""
    if room <= len(rows):
        return rows
    grown = np.zeros((max(room, 2 * len(rows)), rows.shape[1]), dtype=np.uint64)
    grown[:count] = rows[:count]
    return grown


class WordSums:
    """What the features of each word alone are worth, for each distance it is seen from.

    Attributes
    ----------
    shifts
        **Shape (distances,)**, int64.
    """

    def __init__(self, plan: Plan, table: Packed, bits: int, size: int) -> None:
        chosen = plan.of_words()
        self._plan = plan.part(chosen)
        self.shifts, self._slots = np.unique(self._plan.shifts, return_inverse=True)
        self._table = table
        self._bits = bits
        self._width = -(-size // 8) * 8
        self._sums = np.zeros((0, len(self.shifts), self._width), dtype=np.float32)
        #: how many words are worth keeping
        self.most = max(FEWEST, MOST_BYTES // max(1, 4 * len(self.shifts) * self._width))
        self._ready, self._generation = 0, 0
        self._lock = Lock()

    def of(self, words: MetWords) -> NDArray[np.float32]:
        """**Shape (room, distances, width)**: the sums of all words that were met so far."""
        with self._lock:
            if words.generation != self._generation:
                self._generation, self._ready = words.generation, 0
            if words.known > len(self._sums):
                grown = np.zeros((len(words.atoms), *self._sums.shape[1:]), dtype=np.float32)
                grown[: self._ready] = self._sums[: self._ready]
                self._sums = grown
            if words.known > self._ready:
                parts = (self._plan, self._slots, self._table, words.atoms, self._bits)
                sum_words(*parts, self._ready, words.known, self._sums)
                self._ready = words.known
            return self._sums


def _write_prefixes(
    table: ClusterTable, texts: Sequence[str], prefixes: Sequence[int], columns: NDArray[np.uint64]
) -> NDArray[np.uint64]:
    """Write prefixes of the paths of words, and return the words' classes."""
    found = table.lookup(texts)
    paths = found[:, 0]
    for column, bits in enumerate(prefixes):
        columns[:, column] = np.where(paths, _NAMED + (paths & np.uint64(bits)), _NAMED)
    return found[:, 1]


def _codes(texts: Sequence[str]) -> NDArray[np.uint32]:
    return np.frombuffer("".join(texts).encode("utf-32-le", "surrogatepass"), dtype=np.uint32)
