"""The weights of linking: those of a candidate's own features, and of its pair costs."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, cast

import numpy as np
from numpy.typing import NDArray
from thinc.api import Model
from thinc.types import Floats1d, Floats2d

__all__ = ["FEATURES", "LinkWeights", "build_link_weights", "conditional_gradient"]

#: The feature of each weight, in order. The last is the mean pair cost, with a minus sign.
FEATURES = ("prior", "popularity", "context", "pairs")

LinkWeights = Model[Floats2d, Floats1d]


def build_link_weights(
    prior: float = 1.0, popularity: float = 0.5, context: float = 1.0, pairs: float = 20.0
) -> LinkWeights:
    """Build a linear model over the features of a candidate.

    Parameters
    ----------
    prior
        Of the logarithm of how often the mention means the candidate.
    popularity
        Of the logarithm of one more than the candidate's links.
    context
        Of the cosine between the document and the candidate's description, where the
        vocabulary has vectors.
    pairs
        Of the mean cost between the candidate and what the other mentions are linked to.

    Returns
    -------
    Model
        From features **shape** ``(candidates, 4)`` to scores **shape** ``(candidates,)``.
    """
    model: LinkWeights = Model("link_weights", _forward, params={"weights": None})
    start = np.array([prior, popularity, context, pairs], dtype=np.float32)
    model.set_param("weights", model.ops.asarray1f(cast(Any, start)))
    return model


def _forward(
    model: LinkWeights, features: Floats2d, is_train: bool
) -> tuple[Floats1d, Callable[[Floats1d], Floats2d]]:
    weights = model.get_param("weights")

    def backprop(d_scores: Floats1d) -> Floats2d:
        model.inc_grad("weights", features.T @ d_scores)
        return model.ops.xp.outer(d_scores, weights)  # type: ignore[no-any-return]

    return features @ weights, backprop


def conditional_gradient(
    scores: NDArray[Any], offsets: NDArray[np.int64], gold: NDArray[np.int64]
) -> tuple[float, NDArray[np.float32]]:
    """Loss and gradient of choosing each mention's gold candidate given all others.

    The conditional likelihood of a pairwise model (Besag 1975), which is convex and fast to
    compute.

    Parameters
    ----------
    scores
        Of all candidates, the other mentions being linked as in the gold standard.
        **Shape:** ``(candidates,)``
    offsets
        Where the candidates of each mention begin. **Shape:** ``(mentions + 1,)``
    gold
        Place of the gold candidate among those of its mention, -1 where it is unknown.
        **Shape:** ``(mentions,)``

    Returns
    -------
    loss, gradient
        Negative log-likelihood, and its derivative by each score, **shape**
        ``(candidates,)``.
    """
    loss = 0.0
    gradient = np.zeros(len(scores), np.float32)
    for mention in np.flatnonzero(gold >= 0).tolist():
        start, stop = offsets[mention], offsets[mention + 1]
        own = np.asarray(scores[start:stop], np.float64)
        log_normaliser = np.logaddexp.reduce(own)
        gradient[start:stop] = np.exp(own - log_normaliser)
        gradient[start + gold[mention]] -= 1.0
        loss += float(log_normaliser - own[gold[mention]])
    return loss, gradient
