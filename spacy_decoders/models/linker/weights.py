"""The weights of linking: of a candidate's own features, of its pairs, and of linking nothing."""

from collections.abc import Callable
from enum import IntEnum
from typing import Any, cast

import numpy as np
from numpy.typing import NDArray
from thinc.api import Model
from thinc.types import Floats1d, Floats2d

from ...errors import ProblemError

__all__ = [
    "FEATURES",
    "Feature",
    "LinkWeights",
    "build_link_weights",
    "conditional_gradient",
    "weights_of",
]


class Feature(IntEnum):
    """The column of each feature, and the place of its weight.

    See :func:`build_link_weights` for their meaning.
    """

    PRIOR = 0
    POPULARITY = 1
    CONTEXT = 2
    PAIRS = 3
    TITLE = 4
    CASE = 5
    WORDS = 6
    TYPE = 7
    NONE = 8
    MATCHED = 9
    UNLINKED = 10
    PARTIAL = 11
    UNNAMED = 12
    COMMON = 13


#: The names of the features, in order.
FEATURES = tuple(feature.name.lower() for feature in Feature)

LinkWeights = Model[Floats2d, Floats1d]


def build_link_weights(
    prior: float = 1.0,
    popularity: float = 0.5,
    context: float = 1.0,
    pairs: float = 48.0,
    *,
    title: float = 0.7,
    case: float = 3.0,
    words: float = 1.0,
    type: float = 3.0,
    none: float = -4.0,
    matched: float = 2.5,
    unlinked: float = 1.0,
    partial: float = 4.0,
    unnamed: float = 2.0,
    common: float = 2.5,
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
        Of how near the candidate is to what the other mentions are linked to, the mean over
        these.
    title
        Of the mention being the candidate's title.
    case
        Of the logarithm of how often the candidate is written with the mention's capitals.
    words
        Of the words around the mention that are in the candidate's title or description, each
        by how rare it is.
    type
        Of the candidate's type agreeing with the entity's label: 1 or -1.
    none
        Of linking the mention to nothing. It is scored beside the candidate that is most
        frequent.
    matched
        Of linking nothing where the mention is a known alias and no entity.
    unlinked
        Of linking nothing, by the log-odds of the mention's text not being a link where it
        occurs.
    partial
        Of linking nothing where the mention is part of a longer name.
    unnamed
        Of linking nothing where the mention is only part of the title of what it may mean, or
        another name.
    common
        Of linking nothing where the mention is a common noun, or a bare given or family name:
        nearly each of these means more than a knowledge base lists, so that the text has to
        speak for a concept.

    Returns
    -------
    Model
        From features **shape** ``(candidates, 14)`` to scores **shape** ``(candidates,)``.
    """
    given = locals()
    start = [given[name] for name in FEATURES]
    model: LinkWeights = Model("link_weights", _forward, params={"weights": None})
    model.set_param("weights", model.ops.asarray1f(cast(Any, np.array(start, np.float32))))
    return model


def weights_of(model: LinkWeights, name: str) -> NDArray[np.float64]:
    """The weights of a component's model, by `Feature`. **Shape:** ``(14,)``

    Raises
    ------
    ProblemError
        If there are more or fewer, or one is not finite.
    """
    weights = np.asarray(model.ops.to_numpy(model.get_param("weights")), np.float64)
    if weights.shape != (len(FEATURES),):
        raise ProblemError(f"{name}: expected {len(FEATURES)} weights; got {weights.shape}.")
    if not np.isfinite(weights).all():
        raise ProblemError(f"{name}: a weight of the model is not finite: {weights}.")
    return weights.copy()


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
    compute. Returns the negative log-likelihood, and its derivative by each score.

    **Shapes:** scores and gradient (candidates,), the other mentions being linked as in the gold
    standard; offsets (mentions + 1,), where the candidates of each begin; gold (mentions,), the
    place of the gold candidate among these, -1 where it is unknown.
    """
    known, sizes = gold >= 0, np.diff(offsets)
    own = np.asarray(scores, np.float64)
    log_normalisers = np.logaddexp.reduceat(own, offsets[:-1])
    gradient = np.exp(own - log_normalisers.repeat(sizes)) * known.repeat(sizes)
    chosen = (offsets[:-1] + gold)[known]
    gradient[chosen] -= 1.0
    loss = float((log_normalisers[known] - own[chosen]).sum())
    return loss, gradient.astype(np.float32)
