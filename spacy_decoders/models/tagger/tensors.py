"""Token vectors that another component wrote to ``doc.tensor``, so its network runs only once."""

from collections.abc import Callable
from typing import Any, TypeAlias

import numpy as np
from spacy.tokens import Doc
from thinc.api import Model
from thinc.types import Floats2d

from ...errors import ProblemError

__all__ = ["build_tensor_vectors", "tensor_widths"]

#: The name of the layer.
NAME = "tensor_vectors"

Vectors: TypeAlias = "Model[list[Doc], list[Floats2d]]"


def build_tensor_vectors(width: int, absent: float = 0.1) -> Vectors:
    """Build a layer that reads ``doc.tensor``; a Doc without one gets zero vectors.

    A tensor of another `width` is ignored. `absent` is the share of documents whose vectors are
    dropped in training, so that the model also works without the other component. Raises
    `ProblemError` if the width is not positive, or the share not from 0 to 1.
    """
    if width < 1:
        raise ProblemError(f"width: expected a positive number, got {width}.")
    if not 0.0 <= absent <= 1.0:
        raise ProblemError(f"absent: expected a share from 0 to 1, got {absent}.")
    return Model(
        NAME,
        _forward,
        dims={"nO": width},
        attrs={"absent": absent, "dropout_rate": 0.0, "random": np.random.default_rng(0)},
    )


def tensor_widths(model: Model[Any, Any], layer: str = NAME) -> list[int]:
    """Return the widths of the tensors that a model's layers of this name read."""
    return [node.get_dim("nO") for node in model.walk() if node.name == layer]


def _forward(
    model: Vectors, docs: list[Doc], is_train: bool
) -> tuple[list[Floats2d], Callable[[Any], list[Doc]]]:
    ops: Any = model.ops
    width, rate = model.get_dim("nO"), model.attrs["dropout_rate"] if is_train else 0.0
    random = model.attrs["random"]
    vectors = []
    for doc in docs:
        there = doc.tensor.shape == (len(doc), width)
        if not there or (is_train and random.random() < model.attrs["absent"]):
            vectors.append(ops.alloc2f(len(doc), width))
            continue
        rows = ops.asarray(doc.tensor, dtype="float32")
        if not np.isfinite(rows).all():
            raise ProblemError("doc.tensor: all its numbers must be finite; write it anew.")
        if rate:
            kept = random.random(rows.shape, dtype=np.float32) >= rate
            rows = rows * ops.asarray(kept / np.float32(1.0 - rate), dtype="float32")
        vectors.append(rows)
    return vectors, lambda gradient: docs
