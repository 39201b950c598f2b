"""Learning the scores of phrases by the ROUGE that their headlines are expected to have."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray
from thinc.api import Adam

from .phrase_scorer import PhraseScorer

__all__ = ["expected_reward", "fit_phrases"]

Floats = NDArray[np.float32]

#: Passes over the texts, texts in a step, and the step at the beginning.
EPOCHS = 12
BATCH = 8
LEARN_RATE = 0.002
#: A few texts are passed over more often, to take this many steps.
LEAST_STEPS = 200
#: Decay of the weights, in each step relative to its size.
DECAY = 0.3
#: A reward of 1 is worth as much as this difference of log-probabilities.
SHARPNESS = 8.0
#: Share of the log-likelihood of good phrases in the loss; without it a text whose good phrases
#: are all unlikely teaches nothing.
LIKELIHOOD = 0.1
#: A phrase is taken as `exp(reward / TEMPERATURE)` times as good.
TEMPERATURE = 0.1
#: Phrases without a reward that a step looks at, drawn at random from a long text's.
MOST_OTHERS = 200


def expected_reward(
    scores: Floats, rewards: Floats, weights: Floats | None = None
) -> tuple[float, Floats]:
    """Return the expected reward of a phrase drawn by its score, and the gradient to lower it.

    The gradient is that of the expected loss, mixed with that of the log-likelihood of good
    phrases.

    Parameters
    ----------
    scores, rewards
        Of each phrase. **Shape:** ``(n,)``
    weights
        How many phrases each stands for; 1 by default. **Shape:** ``(n,)``

    References
    ----------
    Smith and Eisner (2006), Minimum Risk Annealing for Training Log-Linear Models, equation 1.

    Examples
    --------
    >>> rewards = np.array([1, 0], dtype="f")
    >>> value, gradient = expected_reward(np.zeros(2, "f"), rewards)
    >>> value, bool(gradient[0] < 0)
    (0.5, True)
    """
    chances = np.exp(scores - scores.max())
    if weights is not None:
        chances *= weights
    chances /= chances.sum()
    value = float(chances @ rewards)
    gradient = -SHARPNESS * chances * (rewards - value)
    if rewards.max() > 0:
        wanted = np.exp((rewards - rewards.max()) / TEMPERATURE) * (rewards > 0)
        wanted /= wanted.sum()
        gradient = (1.0 - LIKELIHOOD) * gradient + LIKELIHOOD * (chances - wanted)
    return value, gradient.astype(np.float32)


def fit_phrases(
    scorer: PhraseScorer,
    tables: Sequence[Floats],
    rewards: Sequence[Floats],
    *,
    seed: int = 0,
    epochs: int | None = None,
) -> None:
    """Fit the scorer from scratch to texts with the reward of each of their phrases.

    Parameters
    ----------
    scorer
        Its parameters are replaced.
    tables
        The features of each text's phrases.
    rewards
        How good a headline each of them is, from 0 to 1.
    seed
        Of the initial weights and the order of the texts.
    epochs
        Passes over the texts; by default what has turned out well.
    """
    known = [place for place, of_text in enumerate(rewards) if of_text.max(initial=0.0) > 0]
    if not known:
        return
    draw = np.random.default_rng(seed)
    _initialise(scorer, [tables[place] for place in known], draw)
    optimizer = Adam(LEARN_RATE, L2=0.0, grad_clip=0.0)
    per_epoch = -(-len(known) // BATCH)
    if epochs is None:
        epochs = max(EPOCHS, LEAST_STEPS // per_epoch)
    steps, step = epochs * per_epoch, 0
    for _ in range(epochs):
        order = draw.permutation(known).tolist()
        for low in range(0, len(order), BATCH):
            batch = order[low : low + BATCH]
            drawn = [_draw(rewards[place], draw) for place in batch]
            chosen: Any = [
                tables[place][kept] for place, (kept, _) in zip(batch, drawn, strict=True)
            ]
            scores: Any
            scores, backprop = scorer.begin_update(chosen)
            gradients: Any = [
                expected_reward(of_text, rewards[place][kept], weights)[1] / len(batch)
                for of_text, place, (kept, weights) in zip(scores, batch, drawn, strict=True)
            ]
            backprop(gradients)
            rate = LEARN_RATE * (1.0 - step / steps) + 1e-5
            _decay(scorer, rate * DECAY)
            optimizer.learn_rate = rate
            scorer.finish_update(optimizer)
            step += 1


def _initialise(scorer: PhraseScorer, tables: Sequence[Floats], draw: Any) -> None:
    """Standardise the features, and set small random weights."""
    sample = np.concatenate([table[::3] for table in tables])
    given: Any = scorer.get_param("hidden")
    size, hidden = given.shape
    values = {
        "mean": sample.mean(axis=0),
        "scale": sample.std(axis=0) + 1e-3,
        "linear": np.zeros(size),
        "hidden": draw.normal(0.0, size**-0.5, (size, hidden)),
        "bias": np.zeros(hidden),
        "output": draw.normal(0.0, 0.1 * hidden**-0.5, hidden),
    }
    for name, value in values.items():
        scorer.set_param(name, value.astype(np.float32))


def _draw(rewards: Floats, draw: Any) -> tuple[NDArray[np.int64], Floats]:
    """The phrases that a step looks at, and how many each stands for."""
    if len(rewards) <= 2 * MOST_OTHERS:
        return np.arange(len(rewards)), np.ones(len(rewards), dtype=np.float32)
    # the best phrases are always among them
    good = np.argsort(-rewards, kind="stable")[:MOST_OTHERS]
    good = good[rewards[good] > min(0.3, 0.5 * float(rewards.max()))]
    others = np.setdiff1d(np.arange(len(rewards)), good)
    sample = draw.choice(others, MOST_OTHERS, replace=False)
    weights = np.ones(len(good) + MOST_OTHERS, dtype=np.float32)
    weights[len(good) :] = len(others) / MOST_OTHERS
    return np.concatenate([good, sample]), weights


def _decay(scorer: PhraseScorer, share: float) -> None:
    for name in ("linear", "hidden", "output"):
        value: Any = scorer.get_param(name)
        scorer.set_param(name, value * (1.0 - share))
