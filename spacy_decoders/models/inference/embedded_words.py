"""A cache of word embeddings, which do not depend on the context."""

from collections.abc import Sequence
from operator import is_
from threading import RLock
from typing import Any

import numpy as np
from numpy.typing import NDArray
from spacy.attrs import IDS, ORTH
from spacy.ml import featureextractor
from spacy.tokens import Doc
from thinc.api import Model, NumpyOps

from ..clusters.embed import WordMemory
from ..vocabularies import vocab_of
from .products import forward_of, linear, rectified

__all__ = ["EmbeddedWords"]

#: The most words in the cache, 6 MB for vectors of width 96; then it is cleared.
MOST_WORDS = 1 << 14


#: The forward functions of layers that process each token independently.
_TOKENWISE = {
    *map(forward_of, ("array_getitem", "chain", "concatenate", "dropout", "hashembed")),
    *map(forward_of, ("layernorm", "linear", "list2ragged", "maxout", "mish", "ragged2list")),
    *map(forward_of, ("relu", "with_array")),
    linear,
    rectified,
}


class _TokenAttributes:
    """The attributes of tokens, in place of a Doc: all that embedding layers read."""

    def __init__(self, vocab: Any, columns: Sequence[int], rows: NDArray[np.uint64]) -> None:
        self.vocab = vocab
        self._column = {attribute: i for i, attribute in enumerate(columns)}
        self._rows = rows

    def __len__(self) -> int:
        return len(self._rows)

    def to_array(self, attributes: Any) -> NDArray[np.uint64]:
        """Return attributes of all tokens, as ``Doc.to_array`` does."""
        if isinstance(attributes, (list, tuple)):
            return self._rows[:, [self._column[_number(name)] for name in attributes]]
        return self._rows[:, self._column[_number(attributes)]]


def _number(attribute: Any) -> int:
    return int(IDS[attribute.upper()] if isinstance(attribute, str) else attribute)


class EmbeddedWords:
    """A cache of the vectors of an embedding layer, by word and attributes.

    The layer itself, such as ``spacy.MultiHashEmbed.v2``, computes the vectors of new words; see
    `suits`. The cache is valid as long as the layer's parameters are the same arrays and have no
    gradients: optimizers change parameters in place, which leaves no other trace.
    """

    def __init__(self, layer: Model[Any, Any]) -> None:
        self.layer = layer
        nodes = list(layer.walk())
        self._columns = tuple(sorted({number for of in nodes for number in _attributes_of(of)}))
        self._weights = [(node, name) for node in nodes for name in node.param_names]
        shims = [shim for node in nodes for shim in node.shims]
        self._memories = [shim for shim in shims if isinstance(shim, WordMemory)]
        self._lock = RLock()
        self._count = 0
        self._known: list[Any] = []
        self._slots: NDArray[np.int32] = np.zeros(0, dtype=np.int32)
        self._keys: NDArray[np.uint64] = np.zeros((0, 0), dtype=np.uint64)
        self._vectors: NDArray[np.float32] = np.zeros((0, 0), dtype=np.float32)

    @classmethod
    def suits(cls, layer: Model[Any, Any]) -> bool:
        """Whether a layer processes each token independently, and reads only its attributes."""
        nodes = list(layer.walk())
        return (
            all(node._func in _TOKENWISE or _attributes_of(node) for node in nodes)
            and any(map(_attributes_of, nodes))
            and isinstance(layer.ops, NumpyOps)
        )

    def of(self, docs: Sequence[Doc]) -> NDArray[np.float32] | None:
        """Return the vectors of all tokens, a row for each; None if there are too many tokens."""
        from .kernels import word_rows as kernels

        tokens = sum(map(len, docs))
        if not 0 < tokens <= MOST_WORDS:
            return None
        columns: Any = list(self._columns)
        arrays: list[Any] = [doc.to_array(columns) for doc in docs]
        rows = np.concatenate([array.reshape(-1, len(columns)) for array in arrays])
        places = np.empty(tokens, dtype=np.int64)
        with self._lock:
            if self._count + tokens > MOST_WORDS or not self._is_current():
                self._clear()
            first = self._count
            try:
                self._count = kernels.places_of(self._slots, self._keys, first, rows, places)
                if self._count > first:
                    new = self._keys[first : self._count]
                    words: Any = _TokenAttributes(vocab_of(docs, new), self._columns, new)
                    self._vectors[first : self._count] = self.layer.predict([words])[0]
            except BaseException:
                self._clear()
                raise
            return self._vectors[places]

    def _clear(self) -> None:
        if not len(self._keys):
            self._keys = np.empty((MOST_WORDS, len(self._columns)), dtype=np.uint64)
            self._vectors = np.empty((MOST_WORDS, self.layer.get_dim("nO")), dtype=np.float32)
        self._slots = np.full(2 * MOST_WORDS, -1, dtype=np.int32)
        self._count = 0
        self._known = self._parts()

    def _is_current(self) -> bool:
        is_trained = any(node.has_grad(name) for node, name in self._weights)
        known = len(self._known) > 0 and not is_trained
        return known and all(map(is_, self._parts(), self._known))

    def _parts(self) -> list[Any]:
        """The parameters and the tables of words from which the vectors are computed."""
        parameters = [node.get_param(name) for node, name in self._weights]
        return parameters + [memory.table for memory in self._memories]


def _attributes_of(node: Model[Any, Any]) -> list[int]:
    """Return the attributes of tokens that a layer reads."""
    if node._func is featureextractor.forward:
        return [_number(column) for column in node.attrs["columns"]]
    if any(isinstance(shim, WordMemory) for shim in node.shims):
        return [ORTH]
    return []
