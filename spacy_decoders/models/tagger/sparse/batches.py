"""A batch of documents as flat arrays: what the compiled loops read."""

from __future__ import annotations

from collections.abc import Sequence
from itertools import accumulate, pairwise
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray
from spacy.attrs import ORTH, SENT_START
from spacy.tokens import Doc

__all__ = ["DocBatch"]


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

    @classmethod
    def of(cls, docs: Sequence[Doc]) -> DocBatch:
        """Read the words and boundaries of documents."""
        documents = np.array([0, *accumulate(map(len, docs))], dtype=np.int64)
        if not documents[-1]:
            none = np.zeros(0, dtype=np.uint64)
            return cls(docs, none, documents, np.zeros(1, dtype=np.int64))
        columns = np.concatenate([doc.to_array([ORTH, SENT_START]) for doc in docs])
        begins = columns[:, 1] == 1
        begins[documents[:-1][np.diff(documents) > 0]] = True
        sentences = np.append(np.flatnonzero(begins), len(columns))
        return cls(docs, columns[:, 0].copy(), documents, sentences)

    def split(self, rows: NDArray[np.float32]) -> list[NDArray[np.float32]]:
        """Return the rows of each document."""
        ends: list[int] = self.documents.tolist()
        return [rows[begin:stop] for begin, stop in pairwise(ends)]
