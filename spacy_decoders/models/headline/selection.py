"""The model of headlines: linear scores of words and phrases, and their training."""

from collections.abc import Callable, Sequence
from itertools import pairwise
from typing import Any, TypeAlias, cast

import numpy as np
from numpy.typing import NDArray
from thinc.api import Model
from thinc.types import Floats1d, Floats2d

from ...arrays import Floats
from ...errors import ProblemError
from ..saved import array_of
from .features import FEATURES, PHRASE_FEATURES, vertex_features
from .judge import DEFAULT_JUDGE
from .knowledge import HeadlineKnowledge
from .words import Vertices

__all__ = [
    "HeadlineModel",
    "build_phrase_selection",
    "check_weights",
    "feature_columns",
    "fit_logistic",
    "fit_phrases",
    "reward_loss",
    "word_odds",
]

#: Maps the features of each text's words to their log-odds of being in the headline. The
#: parameters "phrases" and "judge" are the weights of phrases and of whole headlines; the
#: attribute "knowledge" holds the counts of training.
HeadlineModel: TypeAlias = "Model[list[Floats2d], list[Floats1d]]"

#: The weights of words before training, for texts of any kind.
WORD_WEIGHTS = {
    "bias": -2.7,
    "frequency": 0.9,
    "first_position": -2.8,
    "spread": 1.5,
    "capital": 1.1,
}
#: The weights of phrases before training.
PHRASE_WEIGHTS = {
    "expected_overlap": 4.0,
    "occurrences": 0.35,
    "words_1": -0.3,
    "words_2": 0.2,
    "words_3": 0.1,
}
#: A reward of 1 is worth as much as this difference of log-probabilities.
SHARPNESS = 8.0
#: The share of the log-likelihood of good phrases in the loss; without it, a text whose good
#: phrases are all unlikely would have no gradient.
LIKELIHOOD = 0.1
#: Good phrases are weighted by `exp(reward / TEMPERATURE)`.
TEMPERATURE = 0.1
#: The L2 penalty on weights of standardised features, and the most iterations of the fit.
PENALTY, STEPS = 0.01, 300


def build_phrase_selection(features: list[str] | None = None) -> HeadlineModel:
    """Build the model of headlines: logistic in features of words, linear in those of phrases.

    The log-odds of words are features of phrases. The initial weights work without training.
    `features` are those of words, names from
    :data:`~spacy_decoders.models.headline.features.FEATURES`, all by default; an unknown one
    raises `ProblemError`.

    Examples
    --------
    >>> model = build_phrase_selection(["bias", "frequency"])
    >>> model.get_param("weights")
    array([-2.7,  0.9], dtype=float32)
    """
    names = tuple(FEATURES if features is None else features)
    unknown = [name for name in names if name not in FEATURES]
    if unknown or not names:
        raise ProblemError(
            f"features: expected names among {', '.join(FEATURES)}; got {list(names)}."
        )
    params: dict[str, Any] = {
        "weights": np.array([WORD_WEIGHTS.get(name, 0.0) for name in names], dtype="f"),
        "phrases": np.array(
            [PHRASE_WEIGHTS.get(name, 0.0) for name in PHRASE_FEATURES], dtype="f"
        ),
        "judge": DEFAULT_JUDGE.copy(),
    }
    attrs = {"features": names, "knowledge": HeadlineKnowledge()}
    return Model("phrase_selection", _forward, params=params, attrs=attrs)


def check_weights(model: HeadlineModel) -> None:
    """Raise `StorageError` if loaded weights have other types or shapes than the model's."""
    shapes = {
        "weights": (len(model.attrs["features"]),),
        "phrases": (len(PHRASE_FEATURES),),
        "judge": DEFAULT_JUDGE.shape,
    }
    for name, shape in shapes.items():
        array_of(model.get_param(name), np.float32, shape, f"model, {name}")


def feature_columns(model: HeadlineModel) -> list[int]:
    """Return the columns, among all features of words, of those of the model."""
    return [*map(FEATURES.index, model.attrs["features"])]


def word_odds(model: HeadlineModel, vertices: Vertices, features: Floats) -> Floats:
    """The log-odds of each content word, given the features of the tokens. **Shape:** ``(n,)``"""
    table: Any = vertex_features(vertices, features)[:, feature_columns(model)].astype("f")
    return np.asarray(model.predict([table])[0], dtype="d")


def _forward(
    model: HeadlineModel, tables: list[Floats2d], is_train: bool
) -> tuple[list[Floats1d], Callable[[list[Floats1d]], list[Floats2d]]]:
    weights = cast(Floats1d, model.get_param("weights"))
    # weights are fitted at the beginning of training, not by gradients
    return [cast(Floats1d, table @ weights) for table in tables], lambda gradients: []


def fit_logistic(features: Floats, labels: NDArray[Any], *, ridge: float = 1.0) -> Floats:
    """The weights of logistic regression, a maximum-entropy model. **Shape:** ``(features,)``

    The samples have `features`, **shape** ``(samples, features)``, and `labels`, **shape**
    ``(samples,)``, which are bools or probabilities. `ridge` is the weight of the L2 penalty,
    which keeps all weights finite. Raises `ProblemError` if there are no samples of both labels.

    Examples
    --------
    >>> x = np.array([[1.0, 0.0], [1.0, 1.0], [1.0, 2.0], [1.0, 3.0]])
    >>> weights = fit_logistic(x, np.array([False, True, False, True]), ridge=0.1)
    >>> bool(weights[1] > 0)
    True
    """
    if labels.min() == labels.max():
        raise ProblemError(
            "labels: words inside and outside of headlines are needed to learn from; none of "
            f"{len(labels)} differ. Give documents with headlines made of their own words."
        )

    def loss_of(weights: Floats) -> tuple[float, Floats]:
        odds = features @ weights
        wrong = 1.0 / (1.0 + np.exp(-np.clip(odds, -30.0, 30.0))) - labels
        loss = float(np.logaddexp(0.0, odds).sum() - labels @ odds)
        penalty = ridge * weights
        return loss + float(penalty @ weights) / 2.0, features.T @ wrong + penalty

    return _minimised(loss_of, features.shape[1])


def reward_loss(scores: Floats, rewards: Floats) -> tuple[float, Floats]:
    """Return the loss of scores of phrases, and its gradient.

    The loss is lower the higher the expected reward of a phrase drawn by its score, and the
    likelier good phrases. Scores, rewards and gradient are of each phrase, **shape** ``(n,)``.

    References
    ----------
    Smith and Eisner (2006), Minimum Risk Annealing for Training Log-Linear Models, equation 1.

    Examples
    --------
    >>> loss, gradient = reward_loss(np.zeros(2), np.array([1.0, 0.0]))
    >>> bool(gradient[0] < 0)
    True
    """
    logarithms = scores - np.logaddexp.reduce(scores)
    chances = np.exp(logarithms)
    value = float(chances @ rewards)
    loss = SHARPNESS * (1.0 - value)
    gradient = -SHARPNESS * chances * (rewards - value)
    if rewards.max() > 0:
        wanted = np.exp((rewards - rewards.max()) / TEMPERATURE) * (rewards > 0)
        wanted /= wanted.sum()
        loss = (1.0 - LIKELIHOOD) * loss - LIKELIHOOD * float(wanted @ logarithms)
        gradient = (1.0 - LIKELIHOOD) * gradient + LIKELIHOOD * (chances - wanted)
    return loss, gradient


def fit_phrases(tables: Sequence[Floats], rewards: Sequence[Floats]) -> Floats:
    """Fit the weights of phrases, **shape** ``(features,)``, to phrases of texts.

    For each text there are the features of its phrases, and their rewards as headlines, from 0 to
    1.
    """
    every = np.concatenate(tables)
    # not centred, since scores may differ by a constant within a text
    scale = every.std(axis=0) + 1e-3
    every = every / scale
    texts = [slice(*ends) for ends in pairwise(np.cumsum([0, *map(len, tables)]).tolist())]

    def loss_of(weights: Floats) -> tuple[float, Floats]:
        scores, gradient = every @ weights, np.zeros(len(every))
        total = 0.0
        for text, reward in zip(texts, rewards, strict=True):
            loss, gradient[text] = reward_loss(scores[text], reward)
            total += loss
        penalty = PENALTY * weights
        slope = every.T @ gradient / len(texts) + penalty
        return total / len(texts) + float(penalty @ weights) / 2.0, slope

    return np.asarray(_minimised(loss_of, every.shape[1]) / scale)


def _minimised(loss_of: Callable[[Floats], tuple[float, Floats]], size: int) -> Floats:
    """Return the weights that minimise a loss, which is computed with its gradient."""
    from scipy.optimize import minimize

    options = {"maxiter": STEPS}
    found = minimize(loss_of, np.zeros(size), jac=True, method="L-BFGS-B", options=options)
    return np.asarray(found.x)
