"""Fast inference for spaCy's ``Tok2Vec``."""

from __future__ import annotations

from collections.abc import Sequence
from itertools import accumulate, pairwise
from typing import Any, NamedTuple

import numpy as np
from spacy.tokens import Doc
from thinc.api import Model, NumpyOps
from thinc.types import Floats2d

from ...arrays import Floats32
from .embedded_words import EmbeddedWords
from .products import Multiplier, forward_of

__all__ = ["Tok2VecInference"]

Tok2Vec = Model[list[Doc], list[Floats2d]]


class Tok2VecInference:
    """Computes the predictions of a tok2vec layer, up to rounding.

    Word embeddings are cached (:class:`.EmbeddedWords`), and each layer of
    ``spacy.MaxoutWindowEncoder.v2`` takes one matrix product and one compiled loop. Other
    embeddings and encoders run unchanged.

    Examples
    --------
    >>> import spacy
    >>> from spacy.ml.models import MaxoutWindowEncoder, MultiHashEmbed, build_Tok2Vec_model
    >>> nlp = spacy.blank("en")
    >>> tok2vec = build_Tok2Vec_model(
    ...     MultiHashEmbed(8, ["NORM", "SHAPE"], [50, 50], include_static_vectors=False),
    ...     MaxoutWindowEncoder(8, window_size=1, maxout_pieces=3, depth=2),
    ... )
    >>> docs = [nlp("So it goes."), nlp("Poo-tee-weet?")]
    >>> _ = tok2vec.initialize(X=docs)
    >>> found = Tok2VecInference().predict(tok2vec, docs)
    >>> [np.allclose(a, b, atol=1e-3) for a, b in zip(found, tok2vec.predict(docs))]
    [True, True]
    """

    def __init__(self) -> None:
        self._plan: _Plan | None = None

    def __reduce__(self) -> tuple[Any, ...]:
        return type(self), ()  # the cache is no part of a model

    def predict(self, tok2vec: Tok2Vec, docs: Sequence[Doc]) -> list[Floats2d]:
        """Return what ``tok2vec.predict(docs)`` returns."""
        plan, given, lengths = self._plan, list(docs), list(map(len, docs))
        if plan is None or plan.tok2vec is not tok2vec:
            plan = self._plan = _Plan.of(tok2vec)
        if not sum(lengths):  # some layers fail at empty arrays
            return [tok2vec.ops.alloc2f(0, tok2vec.get_dim("nO")) for _ in docs]
        if plan.words is None and plan.encoder is None:
            return tok2vec.predict(given)
        embed, encode = tok2vec.layers
        embedded: Any = plan.words and plan.words.of(given)
        if embedded is None:
            embedded = np.concatenate(embed.predict(given))
        if plan.encoder is not None:
            return plan.encoder.predict(embedded, lengths)
        ops: Any = tok2vec.ops
        return encode.predict(ops.unflatten(embedded, lengths))


class _Plan(NamedTuple):
    """How a tok2vec layer is computed; None for parts that run unchanged."""

    tok2vec: Tok2Vec
    words: EmbeddedWords | None
    encoder: _WindowEncoder | None

    @classmethod
    def of(cls, tok2vec: Tok2Vec) -> _Plan:
        if tok2vec._func is not forward_of("chain") or len(tok2vec.layers) != 2:
            return cls(tok2vec, None, None)
        embed, encode = tok2vec.layers
        words = EmbeddedWords(embed) if EmbeddedWords.suits(embed) else None
        return cls(tok2vec, words, _WindowEncoder.of(encode))


class _WindowEncoder(NamedTuple):
    """The layers of a convolution over tokens."""

    layers: list[tuple[Model[Any, Any], Model[Any, Any]]]
    size: int
    pad: int

    @classmethod
    def of(cls, encode: Model[Any, Any]) -> _WindowEncoder | None:
        """Return the layers of an encoder; None if it is of another kind."""
        if encode._func is not forward_of("with_array") or not isinstance(encode.ops, NumpyOps):
            return None
        found, sizes = [], set()
        for block in _steps(encode.layers[0]):
            inner = _steps(block.layers[0]) if block._func is forward_of("residual") else []
            if [node._func for node in inner] != _LAYER:
                return None
            windows, maxout, norm, _ = inner
            found.append((maxout, norm))
            sizes.add(windows.attrs["window_size"])
        if len(sizes) != 1:
            return None
        return cls(found, sizes.pop(), encode.attrs["pad"])

    def predict(self, vectors: Floats32, lengths: list[int]) -> list[Floats2d]:
        """Encode the vectors of the tokens of all documents, concatenated."""
        from .kernels import windows as kernels

        width = vectors.shape[1]
        rows = sum(lengths) + self.pad * (len(lengths) + 1)
        # as in thinc, rows that are zeros at first, and that layers change, separate documents
        tokens = np.arange(len(vectors))
        gaps = self.pad * (1 + np.arange(len(lengths)).repeat(lengths))
        # the ends are padded with zeros as well, whose place is -1
        places = np.full(rows + 2 * self.size, -1)
        places[self.size + tokens + gaps] = tokens
        padded = np.concatenate([vectors, np.zeros((1, width), np.float32)])
        around = np.arange(rows)[:, None] + np.arange(2 * self.size + 1)
        windows = padded[places[around]].reshape(rows, -1)
        for maxout, norm in self.layers:
            bias: Any = maxout.get_param("b")
            products = Multiplier.of(maxout, "W", transposed=True).product(windows)
            parameters = (bias.reshape(-1), norm.get_param("G"), norm.get_param("b"))
            kernels.finish_layer(products, *parameters, windows, self.size)
        own = windows[:, self.size * width : (self.size + 1) * width]
        found: Any = own[tokens + gaps]
        return [found[begin:end] for begin, end in pairwise(accumulate(lengths, initial=0))]


_LAYER = [forward_of(name) for name in ("expand_window", "maxout", "layernorm", "dropout")]


def _steps(layer: Model[Any, Any]) -> list[Model[Any, Any]]:
    """Return the layers of nested chains, in order."""
    if layer._func is not forward_of("chain"):
        return [layer]
    return [step for part in layer.layers for step in _steps(part)]
