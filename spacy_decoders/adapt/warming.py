"""Compiling what decodes the scores of other models, on tiny problems."""

from __future__ import annotations

import numpy as np

from ..arrays import read_only

__all__ = ["compile_adapters"]


def compile_adapters() -> None:
    """Run each room's kernels once, with the types that they are called with later."""
    from .crfsuite import CrfSuiteModel, ModelFile
    from .crfsuite.kernels.search import emissions
    from .tokens import EntityDecoder
    from .trees import arc_probabilities

    EntityDecoder(["O", "B-X", "I-X"]).decode([[0.0, 1.0, 0.0], [0.0, 0.0, 1.0]])
    arc_probabilities(np.zeros((3, 3)), projective=True)
    file = ModelFile(
        ("A", "B"),
        {"a": 0},
        read_only(np.zeros((2, 2))),
        read_only(np.array([0, 1])),
        read_only(np.zeros(1, dtype=np.int32)),
        read_only(np.ones(1)),
    )
    model = CrfSuiteModel(file)
    encoded = model.encode([["a", "a"]])
    model.decode(encoded)
    # what a model with a table too large for memory takes
    features = (file.offsets, file.feature_labels, file.feature_weights)
    emissions(encoded.numbers, encoded.values, encoded.tokens, *features, 16)
