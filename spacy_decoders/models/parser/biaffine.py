"""Arc scores: of each other token, and the root, as the head of each token."""

from collections.abc import Callable, Iterable
from itertools import pairwise
from typing import Any, cast

import numpy as np
from numpy.typing import NDArray
from thinc.api import Model, Relu, glorot_uniform_init
from thinc.types import Floats2d

from ..inference.products import times

__all__ = ["BUCKETS", "NEAR", "BiaffineArcs", "classes_of"]

#: The largest distances of the classes on each side, except the last, which is open-ended.
_DISTANCES = np.array([1, 2, 3, 4, 6, 9, 14, 24])
_SIDE = len(_DISTANCES) + 1
#: The number of signed distance classes between tokens; the root has none.
BUCKETS = 2 * _SIDE

Arcs = list[Floats2d]
Input = tuple[Floats2d, Iterable[int]]


def classes_of(signed: NDArray[np.integer]) -> NDArray[np.intp]:
    """Return the classes of distances from modifiers to heads.

    Classes 0-8 are of heads to the right of the modifier, near to far, 9-17 of heads to its left;
    distance 0, which no arc has, is in class 0.

    Examples
    --------
    >>> classes_of(np.array([0, 1, 2, 100, -1, -2]))
    array([ 0,  0,  1,  8,  9, 10])
    """
    far: NDArray[np.intp] = np.searchsorted(_DISTANCES, np.abs(signed))
    return far + np.where(signed < 0, _SIDE, 0)


#: The class of each distance from a modifier to a head, from the farthest that is distinguished on
#: the left to the farthest on the right.
NEAR = classes_of(np.arange(-_DISTANCES[-1] - 1, _DISTANCES[-1] + 2))


def BiaffineArcs(hidden: int, nI: int, dropout: float = 0.0) -> Model[Input, Arcs]:
    """Score all arcs of each sentence by a deep biaffine layer with distances.

    Takes token vectors, shape (tokens, nI), and the offsets at which sentences begin,
    ``len + 1`` ascending numbers from 0 to `tokens`. Returns for each sentence of n tokens an
    array of shape (n, n + 1): row m, column 0 scores the root as head of token m, column
    h + 1 token h. The diagonal (a token as its own head) is ``-inf``.

    ``S[m, h] = (d_m U + u) . k_h + d_m . E[b] + k_h . F[b] + bias[b]``, where d and k are the
    tokens' hidden vectors as modifier and head, and b is the class of the signed distance.

    References
    ----------
    .. [1] T. Dozat, C. Manning. "Deep Biaffine Attention for Neural Dependency Parsing".
       ICLR 2017, equation 6; the distance terms are ours.

    Examples
    --------
    >>> layer = BiaffineArcs(hidden=4, nI=3)
    >>> _ = layer.initialize()
    >>> [scores.shape for scores in layer.predict((np.ones((5, 3), "f"), [0, 2, 5]))]
    [(2, 3), (3, 4)]
    """
    return Model(
        "biaffine_arcs",
        _forward,
        init=_init,
        dims={"nI": nI, "nH": hidden},
        layers=[
            Relu(hidden, nI=nI, dropout=dropout),
            Relu(hidden, nI=nI, dropout=dropout),
        ],
        params={"U": None, "u": None, "root": None, "E": None, "F": None, "bias": None},
    )


def _init(model: Model[Input, Arcs], X: Input | None = None, Y: object = None) -> None:
    hidden, ops = model.get_dim("nH"), cast(Any, model.ops)
    for layer in model.layers:
        layer.initialize()
    # zero, as in the paper, so that the initial distributions are flat
    model.set_param("U", ops.alloc2f(hidden, hidden))
    model.set_param("u", ops.alloc1f(hidden))
    model.set_param("root", glorot_uniform_init(ops, (1, hidden)).ravel())
    model.set_param("E", ops.alloc2f(BUCKETS, hidden))
    model.set_param("F", ops.alloc2f(BUCKETS, hidden))
    model.set_param("bias", ops.alloc1f(BUCKETS))


def _forward(
    model: Model[Input, Arcs], X: Input, is_train: bool
) -> tuple[Arcs, Callable[[Arcs], Input]]:
    from .kernels import labels as kernels  # compiled where it is first needed

    vectors, offsets = X
    modifiers, backprop_modifiers = model.layers[0](vectors, is_train)
    heads, backprop_heads = model.layers[1](vectors, is_train)
    U, u, root, E, F, bias = _parameters(model)
    gemm: Any = model.ops.gemm
    queries: Any = times(model, "U", modifiers, is_train) + u
    # the distance scores of a token as modifier and as head
    of_modifier: Any = times(model, "E", modifiers, is_train, transposed=True) + bias
    of_head: Any = times(model, "F", heads, is_train, transposed=True)
    # not BLAS, whose order of summation depends on the number of rows
    of_root = np.einsum("ij,j->i", queries, root)
    sentences = [slice(a, b) for a, b in pairwise(offsets)]
    arcs: Arcs = []
    for span in sentences:
        n = span.stop - span.start
        scores = np.empty((n, n + 1), dtype="f")
        among = np.dot(queries[span], heads[span].T)
        kernels.write_arcs(among, of_root[span], of_modifier[span], of_head[span], NEAR, scores)
        arcs.append(cast(Floats2d, scores))

    def backprop(d_arcs: Arcs) -> Input:
        d_queries = np.empty_like(queries)
        d_heads = np.empty_like(heads)
        d_of_modifier, d_of_head = np.empty_like(of_modifier), np.empty_like(of_head)
        d_of_root = np.empty_like(of_root)
        for span, d_scores in zip(sentences, d_arcs, strict=True):
            places = np.arange(span.stop - span.start)
            buckets = classes_of(places - places[:, None])
            d_of_root[span] = d_scores[:, 0]
            d_among = np.array(d_scores[:, 1:])
            np.fill_diagonal(d_among, 0.0)
            d_queries[span] = d_among @ heads[span]
            d_heads[span] = d_among.T @ queries[span]
            rows = places[:, None] * BUCKETS
            d_of_modifier[span] = _summed(d_among, rows + buckets)
            d_of_head[span] = _summed(d_among, rows.T + buckets)
        model.inc_grad("root", d_of_root @ queries)
        d_queries += np.outer(d_of_root, root)
        model.inc_grad("u", d_queries.sum(axis=0))
        model.inc_grad("U", gemm(modifiers, d_queries, trans1=True))
        model.inc_grad("E", gemm(d_of_modifier, modifiers, trans1=True))
        model.inc_grad("bias", d_of_modifier.sum(axis=0))
        model.inc_grad("F", gemm(d_of_head, heads, trans1=True))
        d_modifiers = gemm(d_queries, U, trans2=True) + gemm(d_of_modifier, E)
        d_heads += gemm(d_of_head, F)
        d_vectors = backprop_modifiers(d_modifiers)
        d_vectors += backprop_heads(d_heads)
        return d_vectors, offsets

    return arcs, backprop


def _parameters(model: Model[Input, Arcs]) -> list[Any]:
    return [model.get_param(name) for name in ("U", "u", "root", "E", "F", "bias")]


def _summed(values: NDArray[np.float32], places: NDArray[np.intp]) -> NDArray[np.float32]:
    """Sum an (n, n) array into an (n, BUCKETS) array, given each value's flat index in it."""
    n = len(values)
    sums = np.bincount(places.ravel(), weights=values.ravel(), minlength=n * BUCKETS)
    return sums.reshape(n, BUCKETS).astype("f")
