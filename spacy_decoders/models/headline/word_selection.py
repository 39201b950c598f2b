"""Selecting the words of a headline: a logistic model, and how it is fitted."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, TypeAlias, cast

import numpy as np
from numpy.typing import NDArray
from thinc.api import Model
from thinc.types import Floats1d, Floats2d

from ...errors import ProblemError
from .word_features import FEATURES

__all__ = [
    "WordSelection",
    "build_word_selection",
    "feature_columns",
    "fit_logistic",
]

#: From features of each text's words to their log-odds of being in the headline.
WordSelection: TypeAlias = "Model[list[Floats2d], list[Floats1d]]"

#: Weights for texts of any kind, without a corpus.
DEFAULT_WEIGHTS = {
    "bias": -2.5,
    "frequency": 0.7,
    "first_position": -2.7,
    "spread": 1.5,
    "capital_share": 1.1,
    "phrase": 0.4,
    "early_and_frequent": 0.25,
}


def build_word_selection(features: list[str] | None = None) -> WordSelection:
    """Build a logistic model over the features of words.

    Its initial weights are defaults that work without training.

    Parameters
    ----------
    features
        Names from :data:`~spacy_decoders.models.headline.word_features.FEATURES`; all by default.

    Raises
    ------
    ProblemError
        If a name is unknown.

    Examples
    --------
    >>> model = build_word_selection(["bias", "frequency"])
    >>> model.get_param("weights")
    array([-2.5,  0.7], dtype=float32)
    """
    names = tuple(FEATURES if features is None else features)
    unknown = [name for name in names if name not in FEATURES]
    if unknown or not names:
        raise ProblemError(
            f"features: expected names among {', '.join(FEATURES)}; got {list(names)}."
        )
    weights: Any = np.array([DEFAULT_WEIGHTS.get(name, 0.0) for name in names], dtype=np.float32)
    return Model(
        "word_selection", _forward, params={"weights": weights}, attrs={"features": names}
    )


def feature_columns(model: WordSelection) -> list[int]:
    """Return the columns of the model's features among all."""
    return [FEATURES.index(name) for name in model.attrs["features"]]


def fit_logistic(
    features: NDArray[np.float64],
    labels: NDArray[Any],
    *,
    ridge: float = 1.0,
    iterations: int = 50,
) -> NDArray[np.float64]:
    """Fit logistic regression (a maximum-entropy model) by Newton's method.

    Parameters
    ----------
    features
        **Shape:** ``(samples, features)``
    labels
        Whether, or with what probability. **Shape:** ``(samples,)``
    ridge
        Weight of the squared penalty, which keeps every weight finite.

    Returns
    -------
    The weights. **Shape:** ``(features,)``

    Raises
    ------
    ProblemError
        If there are no samples of both labels.

    Examples
    --------
    >>> x = np.array([[1.0, 0.0], [1.0, 1.0], [1.0, 2.0], [1.0, 3.0]])
    >>> weights = fit_logistic(x, np.array([False, True, False, True]), ridge=0.1)
    >>> bool(weights[1] > 0)
    True
    """
    if labels.all() or not labels.any():
        raise ProblemError(
            "labels: words inside and outside of headlines are needed to learn from; none of "
            f"{len(labels)} differ. Give documents with headlines made of their own words."
        )
    weights = np.zeros(features.shape[1])
    for _ in range(iterations):
        odds = features @ weights
        chance = 1.0 / (1.0 + np.exp(-np.clip(odds, -30.0, 30.0)))
        gradient = features.T @ (labels - chance) - ridge * weights
        curvature = (features * (chance * (1.0 - chance))[:, None]).T @ features
        step = np.linalg.solve(curvature + ridge * np.eye(len(weights)), gradient)
        # a bounded step: Newton's method overshoots where all probabilities are close to 0 or 1
        weights += step * min(1.0, 5.0 / max(1e-12, float(np.abs(step).max())))
        if np.abs(step).max() < 1e-8:
            break
    return weights


def _forward(
    model: WordSelection, tables: list[Floats2d], is_train: bool
) -> tuple[list[Floats1d], Callable[[list[Floats1d]], list[Floats2d]]]:
    weights = cast(Floats1d, model.get_param("weights"))

    def backprop(gradients: list[Floats1d]) -> list[Floats2d]:
        for table, gradient in zip(tables, gradients, strict=True):
            model.inc_grad("weights", table.T @ gradient)
        return [model.ops.xp.outer(gradient, weights) for gradient in gradients]

    return [cast(Floats1d, table @ weights) for table in tables], backprop
