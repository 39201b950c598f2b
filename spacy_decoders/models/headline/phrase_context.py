"""Scoring phrases by their words in context: token vectors beside the features."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any, NamedTuple, TypeAlias, cast

import numpy as np
from numpy.typing import NDArray
from spacy.tokens import Doc, Span
from thinc.api import Model
from thinc.types import Floats1d, Floats2d

from ...errors import ProblemError
from .phrase_scorer import PhraseScorer, standardised
from .phrases import Phrases

__all__ = ["ContextScorer", "TextPhrases", "TokenVectors", "build_context_scorer", "is_shared"]

Floats = NDArray[np.float32]
Integers = NDArray[np.int64]

TokenVectors: TypeAlias = "Model[list[Doc], list[Floats2d]]"
#: From each text's phrases to their scores.
ContextScorer: TypeAlias = "Model[list[TextPhrases], list[Floats1d]]"

#: Weights of the units: of features, of a phrase's first and last token, of the mean of its
#: tokens, of the text's mean, and of the product of both means.
WEIGHTS = ("features", "first", "last", "mean", "text", "product")
#: Vectors that differ by less are not standardised.
LEAST_SPREAD = 1e-3


class TextPhrases(NamedTuple):
    """The phrases of a text that are scored.

    Attributes
    ----------
    unit
        The text.
    table
        The features of each phrase. **Shape:** ``(n, features)``
    starts, ends
        Of each occurrence, the first token and that after the last. **Shape:** ``(m,)``
    cuts
        Of each phrase, its first occurrence; those of a phrase follow each other.
        **Shape:** ``(n,)``
    """

    unit: Doc | Span
    table: Floats
    starts: Integers
    ends: Integers
    cuts: Integers

    @classmethod
    def of(
        cls, unit: Doc | Span, table: Floats, phrases: Phrases, chosen: Integers
    ) -> TextPhrases:
        """The chosen phrases of a text, with their features."""
        number = np.full(len(phrases), -1, dtype=np.int64)
        number[chosen] = np.arange(len(chosen))
        owners = number[phrases.occurrences.phrase]
        order = np.argsort(owners, kind="stable")[np.count_nonzero(owners < 0) :]
        cuts = np.searchsorted(owners[order], np.arange(len(chosen)))
        return cls(unit, table, phrases.starts[order], phrases.ends[order], cuts)

    @property
    def counts(self) -> Integers:
        """How often each phrase occurs. **Shape:** ``(n,)``"""
        return np.diff(self.cuts, append=len(self.starts))

    def take(self, kept: Integers) -> TextPhrases:
        """The text with some of its phrases, in the order given."""
        counts = self.counts[kept]
        cuts = np.cumsum(counts) - counts
        places = np.repeat(self.cuts[kept] - cuts, counts) + np.arange(counts.sum())
        return TextPhrases(
            self.unit, self.table[kept], self.starts[places], self.ends[places], cuts
        )


def build_context_scorer(
    features: PhraseScorer, tok2vec: TokenVectors, hidden: int, rate: float
) -> ContextScorer:
    """Build a network that adds to the scores by features what speaks for a phrase in context.

    Its units see the features, the vectors of a phrase's first and last token and the mean of
    all, averaged over the phrase's occurrences, the mean of the text, and the products of both
    means. They are computed from projections of the tokens, not of the phrases, of which there
    are more.

    Parameters
    ----------
    features
        The scorer by features.
    tok2vec
        Token vectors: a private layer or a listener.
    hidden
        Hidden units.
    rate
        The step for `tok2vec` when it is fitted with the rest.
    """
    if not 0.0 <= rate <= 1.0:
        raise ProblemError(f"rate: expected a step from 0 to 1; got {rate!r}.")
    params: dict[str, Any] = dict.fromkeys((*WEIGHTS, "bias", "output", "centre", "scale"))
    return Model(
        "phrase_context",
        _score,
        init=_initialise,
        layers=[features, tok2vec],
        params=params,
        refs={"features": features, "tok2vec": tok2vec},
        attrs={"hidden": hidden, "rate": rate},
    )


def _initialise(
    model: ContextScorer, X: list[TextPhrases] | None = None, Y: Any | None = None
) -> None:
    """Set small random weights, those of the output to zero, and standardise the vectors."""
    features, tok2vec = model.layers
    docs = _docs(X) if X else []
    tok2vec.initialize(X=docs or None)
    width, hidden = tok2vec.get_dim("nO"), model.attrs["hidden"]
    of_features = len(features.get_param("mean"))
    draw = np.random.default_rng(0)
    size = of_features + 5 * width
    for name in WEIGHTS:
        rows = of_features if name == "features" else width
        weights = draw.normal(0.0, size**-0.5, (rows, hidden)).astype(np.float32)
        model.set_param(name, model.ops.asarray2f(weights.tolist()))
    for name in ("bias", "output"):
        model.set_param(name, model.ops.alloc1f(hidden))
    centre, scale = np.zeros(width, dtype=np.float32), np.ones(width, dtype=np.float32)
    if docs and not is_shared(model):
        sample: Any = np.concatenate([model.ops.to_numpy(own) for own in tok2vec.predict(docs)])
        spread = sample.std(axis=0)
        centre = sample.mean(axis=0)
        scale = np.where(spread > LEAST_SPREAD, 1.0 / np.maximum(spread, LEAST_SPREAD), 1.0)
    model.set_param("centre", model.ops.asarray1f(centre.tolist()))
    model.set_param("scale", model.ops.asarray1f(scale.tolist()))


def is_shared(model: ContextScorer) -> bool:
    """Whether the vectors are those of another component's network, which it fits."""
    return any("listener" in node.name for node in model.walk())


def _docs(texts: Sequence[TextPhrases]) -> list[Doc]:
    """The documents of the texts, each once."""
    found = {id(doc): doc for doc in (text.unit.doc for text in texts)}
    return list(found.values())


def _score(
    model: ContextScorer, texts: list[TextPhrases], is_train: bool
) -> tuple[list[Floats1d], Callable[[list[Floats1d]], list[TextPhrases]]]:
    features, tok2vec = model.layers
    by_features, backprop_features = features([text.table for text in texts], is_train)
    if not model.has_param("output"):  # untrained

        def backprop_none(gradients: list[Floats1d]) -> list[TextPhrases]:
            backprop_features(gradients)
            return texts

        return by_features, backprop_none
    docs = _docs(texts)
    given, backprop_tok2vec = tok2vec(docs, is_train)
    number = {id(doc): place for place, doc in enumerate(docs)}
    centre: Any = model.get_param("centre")
    scale: Any = model.get_param("scale")
    rows = [(model.ops.to_numpy(of_doc) - centre) * scale for of_doc in given]
    weights = {name: model.get_param(name) for name in (*WEIGHTS, "bias", "output")}
    read = []
    for text in texts:
        begin = text.unit.start if isinstance(text.unit, Span) else 0
        vectors = rows[number[id(text.unit.doc)]][begin : begin + len(text.unit)]
        table: Any = text.table
        read.append(_Reading(text, vectors, standardised(features, table), weights))
    scores: Any = [
        base + reading.units @ weights["output"]
        for base, reading in zip(by_features, read, strict=True)
    ]

    def backprop(gradients: list[Floats1d]) -> list[TextPhrases]:
        below = [np.zeros_like(of_doc) for of_doc in rows]
        for text, reading, gradient in zip(texts, read, gradients, strict=True):
            of_weights, of_vectors = reading.gradients(np.asarray(gradient))
            for name, value in of_weights.items():
                model.inc_grad(name, cast(Floats2d, value))
            begin = text.unit.start if isinstance(text.unit, Span) else 0
            below[number[id(text.unit.doc)]][begin : begin + len(text.unit)] += of_vectors
        backprop_features(gradients)
        backprop_tok2vec([cast(Floats2d, tok2vec.ops.asarray(of_doc * scale)) for of_doc in below])
        return texts

    return scores, backprop


class _Reading:
    """The units of one text's phrases, and how they depend on weights and vectors."""

    def __init__(
        self, text: TextPhrases, vectors: Floats, standard: Any, weights: dict[str, Any]
    ) -> None:
        self.text, self.vectors, self.standard, self.weights = text, vectors, standard, weights
        size = max(1, len(vectors))
        self.whole = vectors.sum(axis=0) / size
        self.counts = text.counts[:, None].astype(np.float32)
        self.sizes = (text.ends - text.starts)[:, None].astype(np.float32)
        # a mean's part in a unit is linear in the tokens, once the text's own mean is known
        self.between = weights["mean"] + self.whole[:, None] * weights["product"]
        inside = np.zeros((len(vectors) + 1, len(weights["bias"])), dtype=np.float32)
        np.cumsum(vectors @ self.between, axis=0, out=inside[1:])
        occurrences = (vectors @ weights["first"])[text.starts]
        occurrences += (vectors @ weights["last"])[text.ends - 1]
        occurrences += (inside[text.ends] - inside[text.starts]) / self.sizes
        before = standard @ weights["features"] + self.whole @ weights["text"] + weights["bias"]
        if len(text.cuts):
            before += np.add.reduceat(occurrences, text.cuts, axis=0) / self.counts
        self.units = before.clip(0.0, None)

    def gradients(self, gradient: Floats) -> tuple[dict[str, Floats], Floats]:
        """The gradients of the weights and of the vectors for one of the scores."""
        text, vectors, weights = self.text, self.vectors, self.weights
        units = np.outer(gradient, weights["output"]) * (self.units > 0)
        total = units.sum(axis=0)
        occurrences = np.repeat(units / self.counts, text.counts, axis=0)
        first = _sums(occurrences, text.starts, len(vectors))
        last = _sums(occurrences, text.ends - 1, len(vectors))
        shares = occurrences / self.sizes
        inside = _sums(shares, text.starts, len(vectors) + 1)
        inside -= _sums(shares, text.ends, len(vectors) + 1)
        inside = np.cumsum(inside, axis=0)[:-1]
        between = vectors.T @ inside
        whole = (between * weights["product"]).sum(axis=1) + weights["text"] @ total
        below = first @ weights["first"].T + last @ weights["last"].T + inside @ self.between.T
        of_weights = {
            "features": self.standard.T @ units,
            "first": vectors.T @ first,
            "last": vectors.T @ last,
            "mean": between,
            "product": between * self.whole[:, None],
            "text": np.outer(self.whole, total),
            "bias": total,
            "output": self.units.T @ gradient,
        }
        return of_weights, below + whole / max(1, len(vectors))


def _sums(rows: NDArray[Any], places: Integers, size: int) -> Floats:
    """The sums of the rows that belong to each place. **Shape:** ``(size, columns)``"""
    order = np.argsort(places, kind="stable")
    found, cuts = np.unique(places[order], return_index=True)
    sums = np.zeros((size, rows.shape[1]), dtype=np.float32)
    if len(found):
        sums[found] = np.add.reduceat(rows[order], cuts, axis=0)
    return sums
