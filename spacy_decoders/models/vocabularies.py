"""A common vocabulary of documents."""

from collections.abc import Sequence

import numpy as np
from numpy.typing import NDArray
from spacy.tokens import Doc
from spacy.vocab import Vocab

__all__ = ["vocab_of"]


def vocab_of(docs: Sequence[Doc], words: NDArray[np.uint64]) -> Vocab:
    """Return the first document's vocabulary, after adding the strings of all words.

    The words are string hashes, of any shape; those that no document knows are left out.
    """
    first = docs[0].vocab
    others = {id(doc.vocab): doc.vocab for doc in docs if doc.vocab is not first}
    for vocab in others.values():
        for word in np.unique(words).tolist():
            if word in vocab.strings and word not in first.strings:
                first.strings.add(vocab.strings[word])
    return first
