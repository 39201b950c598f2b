"""Scoring the phrases of a headline: a small network, and its loss through the decoder."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, TypeAlias, cast

import numpy as np
from thinc.api import Model
from thinc.types import Floats1d, Floats2d

from ...errors import ProblemError
from .judge import DEFAULT_JUDGE
from .phrase_features import PHRASE_FEATURES
from .word_selection import build_word_selection

__all__ = [
    "PhraseScorer",
    "PhraseSelection",
    "build_phrase_selection",
    "phrase_scorer_of",
    "standardised",
]

#: From features of each text's phrases to their scores.
PhraseScorer: TypeAlias = "Model[list[Floats2d], list[Floats1d]]"
#: The scorer of words, with that of phrases as its layer.
PhraseSelection: TypeAlias = "Model[list[Floats2d], list[Floats1d]]"

#: Weights for texts of any kind, without a corpus.
DEFAULT_WEIGHTS = {
    "expected_overlap": 4.0,
    "occurrences": 0.35,
    "words_1": -0.3,
    "words_2": 0.2,
    "words_3": 0.1,
    "maximal_left": -0.5,
    "maximal_right": -0.8,
    "in_first_sentence": 0.2,
    "after_break": 0.15,
    "before_break": 0.1,
    "before_function": 0.1,
    "function_words": -0.35,
    "other_edges": -0.3,
    "opener": -0.2,
    "first_verb": -0.2,
    "last_verb": -0.3,
    "last_adjective": -0.5,
    "last_adverb": -0.5,
    "share_pronoun": -1.0,
    "constituent": 0.2,
}
#: Standardised features beyond this many deviations count as much as those at it.
MOST_DEVIATIONS = 5.0


def build_phrase_selection(
    hidden: int = 24,
    features: list[str] | None = None,
) -> PhraseSelection:
    """Build the model of a headline made of phrases.

    The model scores words, as :func:`.build_word_selection` does; their log-odds are features of
    phrases. Its layer, a network with one hidden layer beside a linear one, scores phrases. The
    initial weights are defaults that work without training.

    Parameters
    ----------
    hidden
        Hidden units.
    features
        Names of the features of words, from
        :data:`~spacy_decoders.models.headline.word_features.FEATURES`; all by default.
    Raises
    ------
    ProblemError
        If a name is unknown or `hidden` is less than 1.

    Examples
    --------
    >>> model = build_phrase_selection(hidden=8)
    >>> phrase_scorer_of(model).get_param("hidden").shape[1]
    8
    """
    if type(hidden) is not int or hidden < 1:
        raise ProblemError(f"hidden: expected a whole number of at least 1; got {hidden!r}.")
    words = build_word_selection(features)
    size = len(PHRASE_FEATURES)
    linear = np.array([DEFAULT_WEIGHTS.get(name, 0.0) for name in PHRASE_FEATURES], dtype="f")
    params: dict[str, Any] = {
        "mean": np.zeros(size, dtype="f"),
        "scale": np.ones(size, dtype="f"),
        "linear": linear,
        "hidden": np.zeros((size, hidden), dtype="f"),
        "bias": np.zeros(hidden, dtype="f"),
        "output": np.zeros(hidden, dtype="f"),
    }
    phrases: PhraseScorer = Model("phrase_scorer", _score_phrases, params=params)
    judge: Any = DEFAULT_JUDGE.copy()
    return Model(
        "phrase_selection",
        words._func,
        layers=[phrases],
        refs={"phrases": phrases},
        params={"weights": words.get_param("weights"), "judge": judge},
        attrs={"features": words.attrs["features"]},
    )


def phrase_scorer_of(model: PhraseSelection) -> PhraseScorer | None:
    """Return the scorer of phrases within a model, None if it scores words only."""
    return model.get_ref("phrases") if model.has_ref("phrases") else None


def standardised(model: PhraseScorer, table: Floats2d) -> Floats2d:
    """Return features less their means, in deviations, without extremes."""
    mean: Any = model.get_param("mean")
    # models that were saved when there were fewer features know the first ones
    deviations: Any = (table[:, : len(mean)] - mean) / model.get_param("scale")
    return cast(Floats2d, deviations.clip(-MOST_DEVIATIONS, MOST_DEVIATIONS))


def _score_phrases(
    model: PhraseScorer, tables: list[Floats2d], is_train: bool
) -> tuple[list[Floats1d], Callable[[list[Floats1d]], list[Floats2d]]]:
    param: Any = model.get_param
    linear, hidden = param("linear"), param("hidden")
    bias, output = param("bias"), param("output")
    given, active, scores = [], [], []
    for table in tables:
        standard = standardised(model, table)
        units = (standard @ hidden + bias).clip(0.0, None)
        given.append(standard)
        active.append(units)
        scores.append(standard @ linear + units @ output)

    def backprop(gradients: list[Floats1d]) -> list[Floats2d]:
        for standard, units, gradient in zip(given, active, gradients, strict=True):
            below = model.ops.xp.outer(gradient, output) * (units > 0)
            model.inc_grad("linear", standard.T @ gradient)
            model.inc_grad("output", units.T @ gradient)
            model.inc_grad("hidden", standard.T @ below)
            model.inc_grad("bias", below.sum(axis=0))
        # the features are not learned
        return [cast(Floats2d, np.zeros_like(table)) for table in tables]

    return cast("list[Floats1d]", scores), backprop
