"""A cache of words with their attributes, and the summed weights of their own features."""

import math
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
    #: alone, for each label and distance; arbitrary unless requested.
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
        self._sums = np.empty((0, 0, 0), dtype=np.float32)
        self._lock = Lock()
        self._clear(0)

    def _clear(self, tokens: int) -> None:
        """Forget all words, and make room for a batch of so many tokens."""
        room = MOST + max(MOST, tokens)
        self._count, self._summed, self._version = 1, 0, -1
        # systems provide memory for the rows that are written alone
        self._atoms = np.zeros((room, len(WORD_ATOMS)), dtype=np.uint64)
        self._atoms[0] = 1
        self._keys = np.empty((room, 1), dtype=np.uint64)
        self._slots_of_keys = np.full(1 << (2 * room - 1).bit_length(), -1, dtype=np.int32)

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
                self._clear(len(words))
            shape, most = (len(self.shifts), -(-weights.size // 8) * 8), MOST
            if summed:
                most = min(MOST, max(FEWEST, MOST_BYTES // (4 * max(1, math.prod(shape)))))
            try:
                found, count = self._placed(words)
                if count > max(self._count, most):
                    self._clear(len(words))
                    found, count = self._placed(words)
                if count > self._count:
                    self._describe(docs, count, weights)
                if summed:
                    self._sum_up(count, (max(most, count), *shape), weights)
            except BaseException:  # no word may stay in the cache without its attributes
                self._clear(0)
                raise
            return MetWords(found, self._atoms, self._sums)

    def _placed(self, words: NDArray[np.uint64]) -> tuple[NDArray[np.int64], int]:
        """Return the rows of words, new ones after the others, and the number of words."""
        if self._count + len(words) > len(self._keys):
            self._clear(len(words))
        found, rows = np.empty(len(words), dtype=np.int64), words.reshape(-1, 1)
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
        rows = self._atoms[self._count : count]
        lexemes: list[Lexeme] = [vocab[word] for word in new.tolist()]
        given = [(word.orth, word.lower, word.norm, word.shape) for word in lexemes]
        rows[:, :_LETTERS] = np.array(given, dtype=np.uint64)
        texts = [word.orth_ for word in lexemes]
        lowers = [low if len(low := text.lower()) == len(text) else text for text in texts]
        offsets = np.cumsum([0, *map(len, texts)])
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

    def _sum_up(self, count: int, room: tuple[int, ...], weights: SparseWeights) -> None:
        """Sum the weights of the features of words that have no sums yet."""
        if self._version != weights.version or count > len(self._sums):
            self._version, self._summed = weights.version, 0
            self._sums = np.empty(room, dtype=np.float32)
        if count > self._summed:
            parts = (self._plan, self._slots, weights.packed, self._atoms, weights.learning.bits)
            sum_words(*parts, self._summed, count, self._sums)
            self._summed = count


def _codes(texts: Sequence[str]) -> NDArray[np.uint32]:
    return np.frombuffer("".join(texts).encode("utf-32-le", "surrogatepass"), dtype=np.uint32)
