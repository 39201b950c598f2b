"""Additional inputs of the output layers: likely tags, heads and dependents."""

from collections.abc import Callable, Sequence
from itertools import pairwise
from typing import Any

import numpy as np
from numpy.typing import NDArray
from thinc.api import Model, Relu
from thinc.types import Floats2d

__all__ = ["Relatives", "Tagged", "score_arcs"]

Input = tuple[Floats2d, Sequence[Any], NDArray[np.int64]]
TaggedInput = tuple[Floats2d, Floats2d]


def Tagged(width: int, nI: int, nT: int | None = None) -> Model[TaggedInput, Floats2d]:
    """Append to each token's vector the expected embedding of its tag.

    Tags are learnt long before trees, and most labels follow from the tags at both ends.

    Takes token vectors, shape (tokens, nI), and tag scores, shape (tokens, nT). Returns shape
    (tokens, nI + width): the vectors, then ``softmax(scores) @ E``. No gradient is propagated to
    the tag scores.

    Examples
    --------
    >>> layer = Tagged(width=4, nI=3, nT=5)
    >>> _ = layer.initialize()
    >>> layer.predict((np.ones((2, 3), "f"), np.zeros((2, 5), "f"))).shape
    (2, 7)
    """
    return Model(
        "tagged",
        _add_tags,
        init=_init_tags,
        dims={"nI": nI, "nH": width, "nT": nT, "nO": nI + width},
        params={"E": None},
    )


def _init_tags(
    model: Model[TaggedInput, Floats2d], X: TaggedInput | None = None, Y: object = None
) -> None:
    ops: Any = model.ops
    # random rows, which are nearly orthogonal, so that tags differ from the first step on
    tags, width = model.get_dim("nT"), model.get_dim("nH")
    rng = np.random.default_rng(int(np.random.randint(2**31)))  # noqa: NPY002 - the run's seed
    model.set_param("E", ops.asarray2f(rng.normal(size=(tags, width)).astype("f")))


def _add_tags(
    model: Model[TaggedInput, Floats2d], X: TaggedInput, is_train: bool
) -> tuple[Floats2d, Callable[[Floats2d], TaggedInput]]:
    vectors, scores = X
    likely: Any = model.ops.softmax(scores)
    E: Any = model.get_param("E")
    width = model.get_dim("nI")
    output: Any = np.concatenate([vectors, likely @ E], axis=1)

    def backprop(d_output: Floats2d) -> TaggedInput:
        gradient: Any = d_output
        model.inc_grad("E", likely.T @ gradient[:, width:])
        return np.ascontiguousarray(gradient[:, :width]), np.zeros_like(scores)  # type: ignore[return-value]

    return output, backprop


def Relatives(width: int, nI: int, dropout: float = 0.0) -> Model[Input, Floats2d]:
    """Append to each token's vector messages from its likely relatives in the tree.

    Most labels depend on words beside the arc: a preposition under the modifier, an auxiliary or a
    second subject under the head. So every token receives messages from its dependents on the
    left, those on the right, and its head, weighted by the probabilities of the arcs.

    Takes token vectors, shape (tokens, nI), arc scores from :func:`.BiaffineArcs`, and the offsets
    of the sentences. Returns shape (tokens, nI + 3 * width).

    Notes
    -----
    With P[m, h] the softmax of row m and z the tokens' messages, token t receives the sum of P[m,
    t] z_m over m < t, the same over m > t, and the sum of P[t, h] z_h. No gradient is propagated
    to the arc scores.

    References
    ----------
    .. [1] D. Marcheggiani, I. Titov. "Encoding Sentences with Graph Convolutional Networks for
       Semantic Role Labeling". EMNLP 2017, equation 3; edges are probabilities here.

    Examples
    --------
    >>> layer = Relatives(width=4, nI=3)
    >>> _ = layer.initialize()
    >>> arcs = np.array([[0, -np.inf, 1], [2, 0, -np.inf]], "f")
    >>> layer.predict((np.ones((2, 3), "f"), [arcs], np.array([0, 2]))).shape
    (2, 15)
    """
    return Model(
        "relatives",
        _forward,
        init=_init,
        dims={"nI": nI, "nH": width, "nO": nI + 3 * width},
        layers=[Relu(3 * width, nI=nI, dropout=dropout)],
    )


def _init(model: Model[Input, Floats2d], X: Input | None = None, Y: object = None) -> None:
    model.layers[0].initialize()


def _forward(
    model: Model[Input, Floats2d], X: Input, is_train: bool
) -> tuple[Floats2d, Callable[[Floats2d], Input]]:
    vectors, arcs, offsets = X
    width, inputs = model.get_dim("nH"), model.get_dim("nI")
    hidden, backprop_hidden = model.layers[0](vectors, is_train)
    messages: Any = hidden
    output: Any = np.empty((len(messages), inputs + 3 * width), dtype="f")
    output[:, :inputs] = vectors
    received = output[:, inputs:]
    sentences = [slice(a, b) for a, b in pairwise(offsets)]
    flows = [_flows(model.ops.softmax(scores)) for scores in arcs]
    columns = [slice(i * width, (i + 1) * width) for i in range(3)]
    for span, given in zip(sentences, flows, strict=True):
        for part, flow in zip(columns, given, strict=True):
            np.matmul(flow, messages[span, part], out=received[span, part])

    def backprop(d_output: Floats2d) -> Input:
        d_received: Any = d_output[:, inputs:]
        d_messages = np.empty_like(messages)
        for span, given in zip(sentences, flows, strict=True):
            for part, flow in zip(columns, given, strict=True):
                d_messages[span, part] = flow.T @ d_received[span, part]
        d_vectors = backprop_hidden(d_messages)
        d_vectors += d_output[:, :inputs]
        return d_vectors, arcs, offsets

    return output, backprop


def _flows(likely: Any) -> tuple[NDArray[Any], NDArray[Any], NDArray[Any]]:
    """Return weights of messages, to rows from columns: left dependents, right ones, heads."""
    heads = likely[:, 1:]  # among tokens; (modifier, head)
    return np.tril(heads.T, -1), np.triu(heads.T, 1), heads


def score_arcs(
    model: Model[Any, Any], vectors: Any, offsets: NDArray[np.int64]
) -> tuple[list[Floats2d], Any]:
    """Return the arc scores of each sentence, and the vectors from which labels are scored.

    `vectors` are those of the tokens of all sentences, concatenated; `offsets` are where sentences
    begin, and the number of tokens last.
    """
    arcs: list[Floats2d] = model.get_ref("arcs").predict((vectors, offsets))
    relatives = model.maybe_get_ref("relatives")
    if relatives is None:
        return arcs, vectors
    received = relatives.predict((vectors, arcs, offsets))
    again = model.get_ref("arcs_again").predict((received, offsets))
    for scores, more in zip(arcs, again, strict=True):
        scores += more
    return arcs, received
