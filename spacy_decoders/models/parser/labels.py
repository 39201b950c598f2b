"""Label scores: the relations of arcs."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, replace
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray
from thinc.api import Model, Relu
from thinc.types import Floats2d

from ..inference.products import Multiplier, aligned
from .biaffine import BUCKETS, NEAR, classes_of
from .label_templates import LIKELY

__all__ = ["ArcLabels", "BestLabels", "BiaffineLabels", "label_arcs"]

Input = tuple[Floats2d, NDArray[np.intp]]

#: The number of modifiers whose products are computed at once.
_BLOCK = 64
#: Arcs that score this much less than their modifier's best get labels only if they are in a tree,
#: which hardly any is.
_SELDOM = 4.0


def BiaffineLabels(
    hidden: int, nI: int, nO: int | None = None, dropout: float = 0.0
) -> Model[Input, Floats2d]:
    """Score the labels of given arcs between tokens by a deep biaffine layer.

    Takes token vectors, shape (tokens, nI), and arcs, shape (arcs, 2), as rows of (head,
    modifier). Returns label scores, shape (arcs, nO):
    ``k_h W_l d_m + k_h . H_l + d_m . M_l + D[b, l]``, where b is the class of the signed distance.
    To score all arcs of a sentence, and keep only the best labels, use :func:`label_arcs`.

    References
    ----------
    .. [1] T. Dozat, C. Manning. "Deep Biaffine Attention for Neural Dependency Parsing".
       ICLR 2017, equation 3; the distance term is ours.

    Examples
    --------
    >>> layer = BiaffineLabels(hidden=4, nI=3, nO=7)
    >>> _ = layer.initialize()
    >>> layer.predict((np.ones((5, 3), "f"), np.array([[0, 1], [1, 2]]))).shape
    (2, 7)
    """
    return Model(
        "biaffine_labels",
        _forward,
        init=_init,
        dims={"nI": nI, "nH": hidden, "nO": nO},
        layers=[
            Relu(hidden, nI=nI, dropout=dropout),
            Relu(hidden, nI=nI, dropout=dropout),
        ],
        params={"W": None, "H": None, "M": None, "b": None, "D": None},
    )


def _init(model: Model[Input, Floats2d], X: Input | None = None, Y: object = None) -> None:
    hidden, labels, ops = model.get_dim("nH"), model.get_dim("nO"), model.ops
    for layer in model.layers:
        layer.initialize()
    # (modifier's hidden, label, head's hidden), flattened: one product for all labels
    model.set_param("W", ops.alloc2f(hidden, labels * hidden))
    model.set_param("H", ops.alloc2f(labels, hidden))
    model.set_param("M", ops.alloc2f(labels, hidden))
    model.set_param("b", ops.alloc1f(labels))
    model.set_param("D", ops.alloc2f(BUCKETS, labels))


def _forward(
    model: Model[Input, Floats2d], X: Input, is_train: bool
) -> tuple[Floats2d, Callable[[Floats2d], Input]]:
    vectors, arcs = X
    heads, backprop_heads = model.layers[0](vectors, is_train)
    modifiers, backprop_modifiers = model.layers[1](vectors, is_train)
    W, H, M, b, distances = _parameters(model)
    hidden, labels = model.get_dim("nH"), model.get_dim("nO")
    ops: Any = model.ops
    gemm = ops.gemm
    k: Any = heads[arcs[:, 0]]
    d: Any = modifiers[arcs[:, 1]]
    by_label = gemm(d, W).reshape(-1, labels, hidden)
    scores = np.matmul(by_label, k[:, :, None])[:, :, 0]
    scores += gemm(k, H, trans2=True)
    scores += gemm(d, M, trans2=True)
    scores += b
    buckets = classes_of(arcs[:, 0] - arcs[:, 1]).astype(np.int32)
    scores += distances[buckets]

    def backprop(d_scores: Floats2d) -> Input:
        ds: Any = d_scores
        d_by_label = (ds[:, :, None] * k[:, None, :]).reshape(-1, labels * hidden)
        d_k = np.matmul(ds[:, None, :], by_label)[:, 0] + gemm(ds, H)
        d_d = gemm(d_by_label, W, trans2=True) + gemm(ds, M)
        model.inc_grad("W", gemm(d, d_by_label, trans1=True))
        model.inc_grad("H", gemm(ds, k, trans1=True))
        model.inc_grad("M", gemm(ds, d, trans1=True))
        model.inc_grad("b", ds.sum(axis=0))
        d_distances = ops.alloc2f(*distances.shape)
        ops.scatter_add(d_distances, buckets, ds)
        model.inc_grad("D", d_distances)
        d_heads = ops.alloc2f(*heads.shape)
        d_modifiers = ops.alloc2f(*modifiers.shape)
        ops.scatter_add(d_heads, arcs[:, 0].astype("i"), d_k)
        ops.scatter_add(d_modifiers, arcs[:, 1].astype("i"), d_d)
        d_vectors = backprop_heads(d_heads)
        d_vectors += backprop_modifiers(d_modifiers)
        return d_vectors, arcs

    return ops.asarray2f(scores), backprop


def _parameters(model: Model[Input, Floats2d]) -> list[Any]:
    return [model.get_param(name) for name in "WHMbD"]


class LabelParts(NamedTuple):
    """The parts of label scores, for n tokens as modifiers and as heads."""

    #: float32 (n, hidden), their vectors, and (n, labels), their linear label scores.
    modifiers: NDArray[np.float32]
    of_modifiers: NDArray[np.float32]
    heads: NDArray[np.float32]
    of_heads: NDArray[np.float32]
    #: The bilinear weights, float32 (hidden, labels * hidden).
    weights: Multiplier
    #: float32 (:data:`.BUCKETS`, labels), the scores by class of distance.
    distances: NDArray[np.float32]

    def within(self, among: slice) -> LabelParts:
        """Return the parts of a range of the tokens."""
        return LabelParts._make([*(of[among] for of in self[:4]), *self[4:]])


@dataclass(frozen=True)
class ArcLabels:
    """The labels of the arcs of one sentence of n tokens, computed on demand."""

    parts: LabelParts
    #: float32 (likely arcs, labels), their template scores; (0, labels) without templates.
    templates: NDArray[np.float32]
    #: bool (modifiers, heads), the likely arcs.
    likely: NDArray[np.bool_]
    #: bool (modifiers, heads), the arcs that have labels.
    labelled: NDArray[np.bool_]

    def fill(
        self,
        found: NDArray[np.float64],
        best: NDArray[np.int32],
        class_of: NDArray[np.int64],
    ) -> None:
        """Write each class's best label for every arc to `best`, its log-probability to `found`.

        Both are (heads, modifiers, classes), and `found` is initially ``-inf``. `class_of`,
        (labels,) or longer, is the class of each label. Labels are scored anew, since the
        log-probabilities of all of them would take too much memory.
        """
        from .kernels.labels import best_of_classes  # compiled where it is first needed

        class_of = np.array(class_of)  # writable, since numba compiles anew for read-only arrays
        n, given = len(self.likely), self
        if len(self.templates):
            given = replace(self, templates=self.templates[self.labelled[self.likely]])
        scores, logs = np.zeros((2, n + 1, n + 1), "f")
        unused = BestLabels(scores, logs, np.zeros((n + 1, n + 1), np.int32))
        blocks = given._write(unused, self.labelled)
        for first, of_labels in zip(range(0, n, _BLOCK), blocks, strict=True):
            rows = slice(first, first + _BLOCK)
            own = found[:, rows], best[:, rows]
            best_of_classes(of_labels, self.labelled[rows], class_of, *own)

    def of_tree(self, heads: NDArray[np.int32]) -> ArcLabels:
        """Return the same where only the arcs of a tree, int32 (n,), have labels."""
        labelled, inner = np.zeros_like(self.labelled), np.flatnonzero(heads)
        labelled[inner, heads[inner] - 1] = True
        return replace(self, labelled=labelled)

    def part(self, first: int, end: int) -> ArcLabels:
        """Return the same for a range of the tokens."""
        among, inside = slice(first, end), np.zeros_like(self.labelled)
        inside[among, among] = True
        templates = self.templates
        if len(templates):
            templates = templates[inside[self.likely]]
        return ArcLabels(
            self.parts.within(among),
            templates,
            np.array(self.likely[among, among]),
            np.array(self.labelled[among, among]),
        )

    def completed(self, best: BestLabels) -> ArcLabels:
        """Return the same with labels for all arcs; the new ones are written to `best`."""
        for _ in self._write(best, ~self.labelled):
            pass
        return replace(self, labelled=np.ones_like(self.labelled))

    def _write(self, best: BestLabels, wanted: NDArray[np.bool_]) -> Iterator[NDArray[np.float32]]:
        """Write the best labels of the `wanted` arcs, bool (modifiers, heads).

        Yields the log-probabilities (arcs, labels) of their labels, a block of modifiers at a
        time. The template scores are those of the likely ones.
        """
        parts, n = self.parts, len(self.likely)
        tokens = np.arange(n)
        ends = np.zeros_like(tokens), np.full_like(tokens, n)
        places = np.stack([tokens, *ends, tokens * n, tokens + 1], axis=1)
        marks = self.likely.ravel(), wanted.ravel()
        into = tuple(of.ravel() for of in best)
        yield from _label(parts, places, wanted.sum(axis=1), self.templates, marks, into)


class BestLabels(NamedTuple):
    """The scores of the arcs of a sentence of n tokens, and their best labels.

    All are (n + 1, n + 1) by head and modifier; the root is 0.
    """

    arcs: NDArray[np.float32]  # scores including the log-probabilities of the labels
    logs: NDArray[np.float32]  # the log-probabilities
    labels: NDArray[np.int32]  # -1 if there is none yet; in row and column 0 the number of labels


def label_arcs(
    model: Model[Input, Floats2d],
    vectors: Floats2d,
    offsets: Sequence[int] | NDArray[np.int64],
    arcs: Sequence[Any],
    templates: tuple[Model[Any, Any], NDArray[np.uint64]] | None = None,
    *,
    likely_only: bool = False,
) -> Iterator[tuple[BestLabels, ArcLabels]]:
    """Find the best labels of the arcs of each sentence.

    The model is a :func:`BiaffineLabels` layer; `templates` are a :func:`.LabelTemplates` layer,
    which adds to the scores of likely arcs, and the codes of all tokens. With `likely_only`, other
    arcs have no label, and its upper bound, 0, as the log-probability.

    **Shape**: vectors (tokens, nI); offsets (sentences + 1,), where sentences begin, and the
    number of tokens last; arcs, an array for each sentence.
    """
    from .kernels.labels import lay_out  # compiled where it is first needed

    heads: Any = model.layers[0].predict(vectors)
    modifiers: Any = model.layers[1].predict(vectors)
    *_, b, distances = _parameters(model)
    of_modifiers: Any = Multiplier.of(model, "M", transposed=True).product(modifiers) + b
    of_heads = Multiplier.of(model, "H", transposed=True).product(heads)
    weights, labels = Multiplier.of(model, "W"), len(b)
    parts = modifiers, of_modifiers, heads, of_heads, weights, distances
    offsets = np.asarray(offsets)
    sizes = np.diff(offsets)
    # where the squares of each sentence begin, without the root and with it
    inner, squares = (np.concatenate([[0], (of**2).cumsum()]) for of in (sizes, sizes + 1))
    scores, logs = np.empty((2, squares[-1]), "f")
    best, likely = np.full(squares[-1], -1, np.int32), np.empty(inner[-1], np.bool_)
    rows = np.concatenate([np.zeros(0, "f"), *(of.ravel() for of in arcs)])
    less = np.float32(_SELDOM if likely_only and templates is None else LIKELY)
    counts = lay_out(rows, offsets, less, scores, logs, likely)
    of_sentences = np.array([offsets[:-1], offsets[1:], inner[:-1], squares[:-1] + 1])
    places = np.empty((len(vectors), 5), np.int64)
    places[:, 0], places[:, 1:] = np.arange(len(vectors)), of_sentences.repeat(sizes, axis=1).T
    own = places[:, 0] - places[:, 1]
    places[:, 3] += own * (places[:, 2] - places[:, 1])
    places[:, 4] += own
    given: Any = np.zeros((0, labels), dtype="f")
    if templates is not None:
        layer, codes = templates
        m = np.arange(len(vectors)).repeat(counts)
        h = np.flatnonzero(likely) - places[m, 3] + places[m, 1]
        given = layer.predict((codes, np.stack([h, m], axis=1)))
    ends, wanted = np.concatenate([[0], counts.cumsum()])[offsets], likely
    if not likely_only:
        counts, wanted = sizes.repeat(sizes), np.ones_like(likely)
    for _ in _label(parts, places, counts, given, (likely, wanted), (scores, logs, best)):
        pass  # only the best labels are kept
    for s, n in enumerate(sizes.tolist()):
        tokens, square = slice(offsets[s], offsets[s + 1]), slice(squares[s], squares[s + 1])
        among = slice(inner[s], inner[s + 1])
        made = BestLabels(*(of[square].reshape(n + 1, n + 1) for of in (scores, logs, best)))
        made.labels[0] = made.labels[:, 0] = labels
        yield (
            made,
            ArcLabels(
                LabelParts(*parts).within(tokens),
                given[ends[s] : ends[s + 1]],
                likely[among].reshape(n, n),
                wanted[among].reshape(n, n),
            ),
        )


def _label(
    parts: tuple[Any, ...],
    places: NDArray[np.int64],
    counts: NDArray[np.integer[Any]],
    templates: NDArray[np.float32],
    marks: tuple[NDArray[np.bool_], NDArray[np.bool_]],
    into: tuple[NDArray[Any], ...],
) -> Iterator[NDArray[np.float32]]:
    """Run :func:`.label_tokens`, a block of tokens at a time; yield the log-probabilities.

    `parts` are :class:`LabelParts` with modifiers only for these tokens; `counts` are the numbers
    of arcs of each that get labels; the other arguments are those of the kernel.
    """
    from .kernels.labels import label_tokens  # compiled where it is first needed

    queries, added, keys, of_heads, weights, distances = parts
    heads = keys, of_heads, distances, NEAR
    # reused, since the system would map a new array of this size each time
    room, seen = aligned((_BLOCK, weights.columns), np.float32), 0
    for first in range(0, len(queries), _BLOCK):
        some = slice(first, first + _BLOCK)
        products = weights.product(queries[some], room)
        logs = np.empty((counts[some].sum(), added.shape[1]), dtype="f")
        given = heads, templates[seen:], marks, into, logs
        seen += label_tokens((products, added[some]), places[some], *given)
        yield logs
