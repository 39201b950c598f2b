"""From documents to the features of their tokens, and to what those are worth."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from itertools import accumulate, pairwise
from typing import Any, NamedTuple, TypeAlias, cast

import numpy as np
from numpy.typing import NDArray
from spacy import strings
from spacy.attrs import ORTH, SENT_START, SPACY
from spacy.tokens import Doc

from ....errors import ProblemError
from .gazetteer import PhraseTable
from .kernels.features import NOTHING, emit, rows_of
from .kernels.gazetteer import mark_phrases
from .kernels.mentions import NAMED, note_mentions
from .templates import TOKEN_ATOMS, WORD_ATOMS, plan_of
from .weights import SparseWeights
from .words import MetWords, WordSums, WordTable

__all__ = ["DocBatch", "FeatureReader", "TokenFeatures"]

#: Makes further features of a document: for each token some strings.
TokenFeatures: TypeAlias = Callable[[Doc], Sequence[Iterable[str]]]

Rows = NDArray[np.int32]

_FORM, _LOWER = WORD_ATOMS.index("form"), WORD_ATOMS.index("lower")
_GAZETTEER, _GLUED = TOKEN_ATOMS.index("gazetteer"), TOKEN_ATOMS.index("glued")
_hash = cast(Any, strings).hash_string
_MULTIPLIER = np.uint64(0x9E3779B97F4A7C15)


class DocBatch(NamedTuple):
    """Documents, end to end."""

    #: The documents.
    docs: Sequence[Doc]
    #: **Shape (n,)**, uint64: the words, by their numbers in the vocabulary.
    words: NDArray[np.uint64]
    #: **Shape (documents + 1,)**, int64: where each document begins.
    documents: NDArray[np.int64]
    #: **Shape (sentences + 1,)**, int64: where each sentence begins; a document without
    #: boundaries is one.
    sentences: NDArray[np.int64]
    #: **Shape (n,)**, bool: whether a blank or the end of the document follows each word.
    spaces: NDArray[np.bool_]

    @classmethod
    def of(cls, docs: Sequence[Doc]) -> DocBatch:
        """Read the words, boundaries and blanks of documents."""
        documents = np.array([0, *accumulate(map(len, docs))], dtype=np.int64)
        none = np.zeros((0, 3), dtype=np.uint64)
        columns = np.concatenate(
            [none, *(doc.to_array([ORTH, SENT_START, SPACY]) for doc in docs)]
        )
        begins, spaces = columns[:, 1] == 1, columns[:, 2] != 0
        filled = np.diff(documents) > 0
        begins[documents[:-1][filled]] = True
        spaces[documents[1:][filled] - 1] = True
        sentences = np.append(np.flatnonzero(begins), len(columns))
        return cls(docs, columns[:, 0].copy(), documents, sentences, spaces)

    def glued(self) -> NDArray[np.uint64]:
        """**Shape (n,)**: before and behind which words no blank stands.

        0 where a document has blanks everywhere: its words were given one by one.
        """
        joined = ~self.spaces
        known = np.diff(np.append(0, np.cumsum(joined))[self.documents]) > 0
        shown = NAMED + 2 * np.roll(joined, 1) + joined
        return np.where(np.repeat(known, np.diff(self.documents)), shown, 0).astype(np.uint64)

    def split(self, rows: NDArray[np.float32]) -> list[NDArray[np.float32]]:
        """Return the rows of each document."""
        ends: list[int] = self.documents.tolist()
        return [rows[begin:stop] for begin, stop in pairwise(ends)]


class FeatureReader:
    """Reads the features that a model has templates for, and a user's own."""

    def __init__(self, templates: Sequence[str], features: TokenFeatures | None = None) -> None:
        self.templates = tuple(templates)
        self.features = features
        self._plan = plan_of(templates)
        alone = set(self._plan.of_words())
        self._several = self._plan.part([t for t in range(len(self._plan)) if t not in alone])
        asked = self._plan.atoms[self._plan.atoms >= len(WORD_ATOMS)] - len(WORD_ATOMS)
        self._asked: set[int] = set(asked.tolist())
        self._words = WordTable()
        self._sums: WordSums | None = None
        self._version = -1
        self._random = np.random.default_rng(0)

    def __getstate__(self) -> dict[str, Any]:
        # what is kept of words is found again
        return {"templates": self.templates, "features": self.features}

    def __setstate__(self, state: dict[str, Any]) -> None:
        self.__init__(**state)  # type: ignore[misc]

    def rows(self, batch: DocBatch, weights: SparseWeights) -> Rows:
        """**Shape (n, features)**: the row of the weights of each feature; -1 for none."""
        words = self._words.met(batch.docs, batch.words, weights)
        own = self._own(batch, words, weights.phrases)
        rows = np.empty((len(batch.words), len(self._plan)), dtype=np.int32)
        bits = weights.learning.bits
        rows_of(self._plan, words.places, words.atoms, own, batch.sentences, bits, rows)
        return rows if self.features is None else np.hstack([rows, self._users(batch, bits)])

    def emissions(self, batch: DocBatch, weights: SparseWeights) -> NDArray[np.float32]:
        """**Shape (n, L)**: what all features of each token are worth for each label."""
        emissions = np.empty((len(batch.words), weights.size), dtype=np.float32)
        if not len(emissions):
            return emissions
        sums = self._current_sums(weights)
        words = self._words.met(batch.docs, batch.words, weights)
        own = self._own(batch, words, weights.phrases)
        emit(
            self._several,
            sums.shifts,
            weights.packed,
            sums.of(words),
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
        """Return the batch with the words of some documents, by chance, in lower case."""
        if not share:
            return batch
        chosen = self._random.random(len(batch.docs)) < share
        tokens = np.repeat(chosen, np.diff(batch.documents))
        if not tokens.any():
            return batch
        words = batch.words.copy()
        words[tokens] = self._words.lowered(batch.docs, words[tokens])
        return batch._replace(words=words)

    def without_some(self, rows: Rows, share: float) -> Rows:
        """Return the rows with a share of all features left out by chance."""
        if not share:
            return rows
        kept = self._random.random(rows.shape, dtype=np.float32) >= share
        return np.where(kept, rows, np.int32(NOTHING))

    def _current_sums(self, weights: SparseWeights) -> WordSums:
        """The sums of the present weights."""
        if self._sums is None or self._version != weights.version:
            self._sums = WordSums(self._plan, weights.packed, weights.learning.bits, weights.size)
            self._words.most = self._sums.most
            self._version = weights.version
        return self._sums

    def _own(
        self, batch: DocBatch, words: MetWords, phrases: PhraseTable | None
    ) -> NDArray[np.uint64]:
        """**Shape (n, B)**: what is known of each token in its document, if anything is asked."""
        if not self._asked:
            return np.zeros((0, len(TOKEN_ATOMS)), dtype=np.uint64)
        own = np.zeros((len(words.places), len(TOKEN_ATOMS)), dtype=np.uint64)
        lower = words.atoms[words.places, _LOWER]
        if _GLUED in self._asked:
            own[:, _GLUED] = batch.glued()
        if self._asked - {_GAZETTEER, _GLUED}:
            initial = np.zeros(len(own), dtype=np.bool_)
            initial[batch.sentences[:-1]] = True
            form = words.atoms[words.places, _FORM]
            note_mentions(form, lower, batch.documents, initial, own)
        if phrases is not None and _GAZETTEER in self._asked:
            marks = np.empty(len(own), dtype=np.uint64)
            mark_phrases(phrases.keys, phrases.entries, lower, batch.sentences, marks)
            own[:, _GAZETTEER] = marks
        return own

    def _users(self, batch: DocBatch, bits: int) -> Rows:
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
            found += [[_hash(feature) for feature in of_token] for of_token in given]
        width = max(map(len, found), default=0)
        hashes = np.array([of + [0] * (width - len(of)) for of in found], dtype=np.uint64)
        hashes = hashes.reshape(len(found), width)
        rows = (hashes * _MULTIPLIER) >> np.uint64(64 - bits)
        return np.where(hashes == 0, NOTHING, rows.astype(np.int64)).astype(np.int32)
