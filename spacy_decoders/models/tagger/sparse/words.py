"""A cache of words with their attributes, and the summed weights of their own features."""

from collections.abc import Sequence
from threading import Lock
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray
from spacy.lexeme import Lexeme
from spacy.tokens import Doc

from ...inference.kernels.word_rows import places_of
from ...vocabularies import vocab_of
from .kernels.features import sum_words
from .kernels.words import AFFIX, NAMED, letters, mark_phrases
from .templates import WORD_ATOMS, Plan
from .weights import SparseWeights

__all__ = ["MetWords", "WordTable"]

_LETTERS = WORD_ATOMS.index("prefix1")
_LOWER, _LISTED = WORD_ATOMS.index("lower"), WORD_ATOMS.index("listed")
_CLUSTERS, _GROUPS = WORD_ATOMS.index("cluster4"), WORD_ATOMS.index("group6")
_SEEDS = np.arange(1, 2 * AFFIX + 3, dtype=np.uint64) << np.uint64(40)
_GROUP_PREFIXES = np.array([0x3F, 0x3FFF, 0x3FFFFF, 0xFFFFFFFF], dtype=np.uint64)
#: The most words in the cache, which is then cleared.
MOST = 1 << 16
#: The most bytes of their sums; but at least a few thousand words are cached.
MOST_BYTES, FEWEST = 1 << 25, 1 << 12


class MetWords(NamedTuple):
    """The words of documents."""

    #: **Shape (n,)**, int64: the row of each in `atoms`.
    places: NDArray[np.int64]
    #: **Shape (room, A)**, uint64: the attributes of each word, in the order of `WORD_ATOMS`; 0
    #: for none.
    atoms: NDArray[np.uint64]
    #: **Shape (room, distances, width)**, float32: the summed weights of the features of each word
    #: alone, for each label and distance; without rows unless requested.
    sums: NDArray[np.float32]


class WordTable:
    """The cache of words, with the sums for templates of a single word.

    Word 0 stands for positions outside the sentence.
    """

    def __init__(self, plan: Plan) -> None:
        self._plan = plan
        #: **Shape (distances,)**, int64: the distances of words in the templates
        self.shifts, self._slots = np.unique(plan.shifts, return_inverse=True)
        self._lists: tuple[object, ...] = (None, None, None)
        self._version, self._width = -1, 0
        self._lock = Lock()
        self._clear()

    def _clear(self) -> None:
        self._count, self._summed = 1, 0
        self._atoms = np.zeros((1024, len(WORD_ATOMS)), dtype=np.uint64)
        self._atoms[0] = 1
        self._sums = np.zeros((0, len(self.shifts), self._width), dtype=np.float32)
        self._keys = np.zeros((1024, 1), dtype=np.uint64)
        self._slots_of_keys = np.full(2048, -1, dtype=np.int32)

    def met(
        self,
        docs: Sequence[Doc],
        words: NDArray[np.uint64],
        weights: SparseWeights,
        *,
        summed: bool = False,
    ) -> MetWords:
        """Look up the words of documents, adding new ones.

        `words`, **shape (n,)**, are string hashes, whose strings the documents' vocabularies have.
        With `summed`, the weights of their features are summed.
        """
        with self._lock:
            given = (weights.clusters, weights.groups, weights.phrases)
            if self._lists != given:
                self._lists = given
                self._clear()
            most = MOST
            if summed:
                if self._version != weights.version:
                    self._version, self._width = weights.version, -(-weights.size // 8) * 8
                    self._summed = 0
                    self._sums = np.zeros((0, len(self.shifts), self._width), dtype=np.float32)
                size = 4 * max(1, len(self.shifts) * self._width)
                most = min(MOST, max(FEWEST, MOST_BYTES // size))
            try:
                found, count = self._placed(words)
                if count > max(self._count, most):
                    self._clear()
                    found, count = self._placed(words)
                if count > self._count:
                    self._describe(docs, count, weights)
                if summed and count > self._summed:
                    self._sum_up(count, weights)
            except BaseException:  # no word may stay in the cache without its attributes
                self._clear()
                raise
            return MetWords(found, self._atoms, self._sums)

    def _placed(self, words: NDArray[np.uint64]) -> tuple[NDArray[np.int64], int]:
        """Return the rows of words, new ones after the others, and the number of words."""
        found = np.empty(len(words), dtype=np.int64)
        room = self._count + len(words)
        if room > len(self._keys):
            keys = self._keys = _with_room(self._keys, self._count, room)
            slots = np.full(1 << (2 * len(keys) - 1).bit_length(), -1, dtype=np.int32)
            known = keys[1 : self._count].copy()
            places_of(slots, keys, 1, known, np.empty(len(known), dtype=np.int64))
            self._slots_of_keys = slots
        rows = words.reshape(-1, 1)
        return found, places_of(self._slots_of_keys, self._keys, self._count, rows, found)

    def lowered(self, docs: Sequence[Doc], words: NDArray[np.uint64]) -> NDArray[np.uint64]:
        """Return the words in lower case, adding their strings to the first vocabulary."""
        unique, back = np.unique(words, return_inverse=True)
        vocab = vocab_of(docs, unique)
        lower = [vocab.strings.add(vocab.strings[word].lower()) for word in unique.tolist()]
        return np.array(lower, dtype=np.uint64)[back]

    def _describe(self, docs: Sequence[Doc], count: int, weights: SparseWeights) -> None:
        """Compute the atoms of the new words, up to `count`."""
        new = self._keys[self._count : count, 0]
        vocab = vocab_of(docs, new)
        self._atoms = _with_room(self._atoms, self._count, count)
        rows = self._atoms[self._count : count]
        lexemes: list[Lexeme] = [vocab[word] for word in new.tolist()]
        given = [(word.orth, word.lower, word.norm, word.shape) for word in lexemes]
        rows[:, :_LETTERS] = np.array(given, dtype=np.uint64)
        texts = [word.orth_ for word in lexemes]
        lowers = [low if len(low := text.lower()) == len(text) else text for text in texts]
        offsets = np.zeros(len(texts) + 1, dtype=np.int64)
        np.cumsum([len(text) for text in texts], out=offsets[1:])
        shown = np.empty((len(texts), 2 * AFFIX + 2), dtype=np.uint64)
        letters(_codes(texts), _codes(lowers), offsets, _SEEDS, shown)
        rows[:, _LETTERS:_CLUSTERS] = shown
        if weights.phrases is not None:
            lower, marks = rows[:, _LOWER].copy(), np.empty(len(texts), dtype=np.uint64)
            alone = np.arange(len(texts) + 1)  # each word as a sentence: phrases of one word
            mark_phrases(weights.phrases.keys, weights.phrases.entries, lower, alone, marks)
            rows[:, _LISTED] = np.where(marks > 0, NAMED + (marks - NAMED) // 4, 0)
        if weights.clusters is not None:
            rows[:, _CLUSTERS:_LISTED] = NAMED + weights.clusters.features(texts)
        if weights.groups is not None:
            rows[:, _GROUPS:] = NAMED + (weights.groups.lookup(texts)[:, :1] & _GROUP_PREFIXES)
        self._count = count

    def _sum_up(self, count: int, weights: SparseWeights) -> None:
        """Sum the weights of the features of words that have no sums yet."""
        if count > len(self._sums):
            grown = np.zeros((len(self._atoms), *self._sums.shape[1:]), dtype=np.float32)
            grown[: self._summed] = self._sums[: self._summed]
            self._sums = grown
        parts = (self._plan, self._slots, weights.packed, self._atoms, weights.learning.bits)
        sum_words(*parts, self._summed, count, self._sums)
        self._summed = count


def _with_room(rows: NDArray[np.uint64], count: int, room: int) -> NDArray[np.uint64]:
    """Return an array with at least `room` rows, the first `count` copied from `rows`."""
    if room <= len(rows):
        return rows
    grown = np.zeros((max(room, 2 * len(rows)), rows.shape[1]), dtype=np.uint64)
    grown[:count] = rows[:count]
    return grown


def _codes(texts: Sequence[str]) -> NDArray[np.uint32]:
    return np.frombuffer("".join(texts).encode("utf-32-le", "surrogatepass"), dtype=np.uint32)
