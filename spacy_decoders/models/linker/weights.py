"""The weights of linking: of features of a candidate, of pairs, and of linking to nothing."""

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
    """Build a linear model over the features of a candidate, with these initial weights.

    Parameters
    ----------
    prior
        The logarithm of how often the mention means the candidate.
    popularity
        The logarithm of one more than the candidate's links.
    context
        The cosine between the document and the candidate's description, if the vocabulary has
        vectors.
    pairs
        How near the candidate is to the concepts of the other mentions, the mean over these.
    title
        Whether the mention is the candidate's title.
    case
        The logarithm of how often the candidate is written with the mention's capitals.
    words
        The words around the mention that are in the candidate's title or description, each by
        how rare it is.
    type
        Whether the candidate's type agrees with the entity's label: 1 or -1.
    none
        Linking the mention to nothing, which is scored beside the most frequent candidate.
    matched
        Linking to nothing a mention that is a known alias and no entity.
    unlinked
        Linking to nothing: the log-odds that the mention's text is no link where it occurs.
    partial
        Linking to nothing a mention that is part of a longer name.
    unnamed
        Linking to nothing a mention that is only part of the candidates' titles, or another name
        of theirs.
    common
        Linking to nothing a common noun, or a bare given or family name: nearly each of these
        means more than a knowledge base lists, so that the text has to speak for a concept.

    Returns
    -------
    Model
        Maps features, **shape** ``(candidates, 14)``, to scores, **shape** ``(candidates,)``.
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
    """The loss of each mention's gold candidate given all others, and its gradient.

    The pseudo-likelihood of a pairwise model (Besag 1975), which is convex and fast to compute.
    Returns the negative logarithm, and its derivative by each score.

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
