"""The features of the tokens of documents, and the emissions from them."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from itertools import accumulate, zip_longest
from typing import Any, NamedTuple, TypeAlias

import numpy as np
from numpy.typing import NDArray
from spacy.attrs import ORTH, SENT_START, SPACY
from spacy.strings import hash_string  # type: ignore[attr-defined]
from spacy.tokens import Doc

from ....arrays import Booleans, Floats32, Integers, Integers32
from ....errors import ProblemError
from ...inference.kernels.word_rows import numbered
from .gazetteer import PhraseTable
from .kernels.features import MULTIPLIER, NOTHING, emit, rows_of
from .kernels.words import NAMED, mark_phrases, note_mentions
from .templates import TOKEN_ATOMS, WORD_ATOMS, plan_of
from .weights import SparseWeights
from .words import MetWords, WordTable

__all__ = ["DocBatch", "FeatureReader", "TokenFeatures"]

#: Computes further features of a document: strings for each token.
TokenFeatures: TypeAlias = Callable[[Doc], Sequence[Iterable[str]]]


_FORM, _LOWER = WORD_ATOMS.index("form"), WORD_ATOMS.index("lower")
#: The first atom of a token in its document, those of other mentions, and the others.
_OWN = len(WORD_ATOMS)
_MENTIONS = range(_OWN, _OWN + 3)
_GAZETTEER, _GLUED = _OWN + 3, _OWN + 4


class DocBatch(NamedTuple):
    """Documents, concatenated."""

    #: The documents.
    docs: Sequence[Doc]
    #: **Shape (n,)**, uint64: the words, as string hashes.
    words: NDArray[np.uint64]
    #: **Shape (documents + 1,)**, int64: where each document begins.
    documents: Integers
    #: **Shape (sentences + 1,)**, int64: where each sentence begins; a document without
    #: boundaries is one sentence.
    sentences: Integers
    #: **Shape (n,)**, bool: whether a blank, or the end of the document, follows each word.
    spaces: Booleans

    @classmethod
    def of(cls, docs: Sequence[Doc]) -> DocBatch:
        """Read the words, boundaries and blanks of documents."""
        tables = [doc.to_array([ORTH, SENT_START, SPACY]) for doc in docs]
        documents = np.array([*accumulate(map(len, docs), initial=0)])
        words, starts, blanks = np.concatenate([np.zeros((0, 3), dtype=np.uint64), *tables]).T
        # with a place for the end of all, and for a blank before the first
        begins, spaces = np.append(starts == 1, True), np.append(True, blanks != 0)
        begins[documents] = spaces[documents] = True
        return cls(docs, words.copy(), documents, begins.nonzero()[0], spaces[1:])

    @property
    def document(self) -> Integers:
        """**Shape (n,)**: the number of each word's document."""
        return np.arange(len(self.docs)).repeat(np.diff(self.documents))

    def glued(self) -> NDArray[np.uint64]:
        """**Shape (n,)**: a code for whether blanks are missing before and after each word.

        0 in a document with blanks everywhere, whose words were given one by one.
        """
        joined, document = ~self.spaces, self.document
        known, behind = np.zeros(len(self.docs), dtype=bool), np.zeros(len(joined), dtype=bool)
        known[document[joined]] = True
        behind[1:] = joined[:-1]
        return np.where(known[document], NAMED + 2 * behind + joined, 0).astype(np.uint64)

    def numbers(self, lower: NDArray[np.uint64]) -> Integers:
        """**Shape (n,)**: numbers of lower-cased words, different ones in each document."""
        # words are 64-bit hashes, so sums of different documents hardly ever collide
        return numbered(lower + MULTIPLIER * self.document.astype(np.uint64))[0]


class FeatureReader:
    """Computes the features that a model has templates for, and a user's own."""

    def __init__(self, templates: Sequence[str], features: TokenFeatures | None = None) -> None:
        self.templates = tuple(templates)
        self.features = features
        self._plan = plan_of(templates)
        alone, several = self._plan.by_width()
        self._several = several
        self._asked = set(self._plan.atoms.tolist())
        self._words = WordTable(alone)
        self._random = np.random.default_rng(0)

    def __getstate__(self) -> dict[str, Any]:
        # the cache of words is rebuilt
        return {"templates": self.templates, "features": self.features}

    def __setstate__(self, state: dict[str, Any]) -> None:
        self.__init__(**state)  # type: ignore[misc]

    def rows(self, batch: DocBatch, weights: SparseWeights) -> Integers32:
        """**Shape (n, features)**: the row of the weights of each feature; -1 for none."""
        words = self._words.met(batch.docs, batch.words, weights)
        own = self._own(batch, words, weights.phrases)
        rows = np.empty((len(batch.words), len(self._plan)), dtype=np.int32)
        bits = weights.learning.bits
        rows_of(self._plan, words.places, words.atoms, own, batch.sentences, bits, rows)
        return rows if self.features is None else np.hstack([rows, self._users(batch, bits)])

    def emissions(self, batch: DocBatch, weights: SparseWeights) -> Floats32:
        """**Shape (n, L)**: the sum of the weights of each token's features for each label."""
        emissions = np.empty((len(batch.words), weights.size), dtype=np.float32)
        words = self._words.met(batch.docs, batch.words, weights, summed=True)
        own = self._own(batch, words, weights.phrases)
        emit(
            self._several,
            self._words.shifts,
            weights.packed,
            words.sums,
            words.places,
            words.atoms,
            own,
            batch.sentences,
            weights.learning.bits,
            emissions,
        )
        if self.features is not None:
            rows = self._users(batch, weights.learning.bits)
            emissions += weights.packed.sums(rows, weights.size)
        return emissions

    def in_lower_case(self, batch: DocBatch, share: float) -> DocBatch:
        """Return the batch with the words of a random share of documents in lower case."""
        if not share:
            return batch
        chosen = self._random.random(len(batch.docs)) < share
        tokens = np.repeat(chosen, np.diff(batch.documents))
        words = batch.words.copy()
        words[tokens] = self._words.lowered(batch.docs, words[tokens])
        return batch._replace(words=words)

    def without_some(self, rows: Integers32, share: float) -> Integers32:
        """Return the rows with a random share of all features left out."""
        if not share:
            return rows
        kept = self._random.random(rows.shape, dtype=np.float32) >= share
        return np.where(kept, rows, np.int32(NOTHING))

    def _own(
        self, batch: DocBatch, words: MetWords, phrases: PhraseTable | None
    ) -> NDArray[np.uint64]:
        """**Shape (n, B)**: the atoms of each token in its document, if any template uses them."""
        own = np.zeros((len(words.places), len(TOKEN_ATOMS)), dtype=np.uint64)
        lower = words.atoms[words.places, _LOWER]
        if _GLUED in self._asked:
            own[:, _GLUED - _OWN] = batch.glued()
        if not self._asked.isdisjoint(_MENTIONS):
            initial = np.zeros(len(own), dtype=np.bool_)
            initial[batch.sentences[:-1]] = True
            form, numbers = words.atoms[words.places, _FORM], batch.numbers(lower)
            note_mentions(numbers, form, lower, batch.documents, initial, own)
        if phrases is not None and _GAZETTEER in self._asked:
            marks = np.empty(len(own), dtype=np.uint64)
            mark_phrases(phrases.keys, phrases.entries, lower, batch.sentences, marks)
            own[:, _GAZETTEER - _OWN] = marks
        return own

    def _users(self, batch: DocBatch, bits: int) -> Integers32:
        """**Shape (n, features)**: the rows of the user's own features; -1 for none."""
        assert self.features is not None
        found: list[list[int]] = []
        for doc in batch.docs:
            given = self.features(doc)
            if len(given) != len(doc) or any(isinstance(of_token, str) for of_token in given):
                raise ProblemError(
                    f"features: expected a list of strings for each of {len(doc)} tokens, got "
                    f"{given!r:.80}."
                )
            found += [
                [hash_string(one) * int(MULTIPLIER) % 2**64 >> (64 - bits) for one in of_token]
                for of_token in given
            ]
        columns = [*zip_longest(*found, fillvalue=NOTHING)]
        return np.array(columns, dtype=np.int32).reshape(-1, len(found)).T
