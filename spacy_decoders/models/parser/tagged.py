"""Token vectors that know the tag."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
from thinc.api import Model
from thinc.types import Floats2d

__all__ = ["Tagged"]

Input = tuple[Floats2d, Floats2d]


def Tagged(width: int, nI: int, nT: int | None = None) -> Model[Input, Floats2d]:
    """Add to each token's vector the mean embedding of its tag, as the tag layer sees it.

    Tags are learnt long before trees, and most labels follow from the tags of both ends.

    Takes token vectors, shape (tokens, nI), and tag scores, shape (tokens, nT). Returns shape
    (tokens, nI + width): the vectors, then ``softmax(scores) @ E``. The tag scores are constants:
    no gradient is propagated to them.

    Examples
    --------
    >>> layer = Tagged(width=4, nI=3, nT=5)
    >>> _ = layer.initialize()
    >>> layer.predict((np.ones((2, 3), "f"), np.zeros((2, 5), "f"))).shape
    (2, 7)
    """
    return Model(
        "tagged",
        _forward,
        init=_init,
        dims={"nI": nI, "nH": width, "nT": nT, "nO": nI + width},
        params={"E": None},
    )


def _init(model: Model[Input, Floats2d], X: Input | None = None, Y: object = None) -> None:
    ops: Any = model.ops
    # orthogonal rows as far as they go, so that tags are told apart from the first step on
    tags, width = model.get_dim("nT"), model.get_dim("nH")
    rng = np.random.default_rng(int(np.random.randint(2**31)))  # noqa: NPY002 - the run's seed
    model.set_param("E", ops.asarray2f(rng.normal(size=(tags, width)).astype("f")))


def _forward(
    model: Model[Input, Floats2d], X: Input, is_train: bool
) -> tuple[Floats2d, Callable[[Floats2d], Input]]:
    vectors, scores = X
    given: Any = scores
    likely = np.exp(given - given.max(axis=1, keepdims=True))
    likely /= likely.sum(axis=1, keepdims=True)
    E: Any = model.get_param("E")
    width = model.get_dim("nI")
    output: Any = np.concatenate([vectors, likely @ E], axis=1)

    def backprop(d_output: Floats2d) -> Input:
        gradient: Any = d_output
        model.inc_grad("E", likely.T @ gradient[:, width:])
        return np.ascontiguousarray(gradient[:, :width]), np.zeros_like(scores)  # type: ignore[return-value]

    return output, backprop
