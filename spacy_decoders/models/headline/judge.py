"""How likely a headline is good: one logistic model for phrases and shortened sentences."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray
from spacy.parts_of_speech import IDS

from .words import TextTokens

__all__ = ["DEFAULT_JUDGE", "FACTS", "KINDS", "chance_of", "judge_facts"]

NOUN, NUM, PRON, PROPN = (IDS[part] for part in ("NOUN", "NUM", "PRON", "PROPN"))
#: Kinds of headlines; each has its own weights, so that their probabilities can be compared.
KINDS = ("phrases", "sentence")
#: What is known of a headline and of the text that it is for.
FACTS = (
    "bias", "score", "words", "one_word", "long", "mean_chance", "best_chance", "late",
    "occurrences", "kept", "pronouns", "names", "numbers", "last_noun", "text_words",
    "sentence_words",
)  # fmt: skip
#: The weights of a model that has learnt from no text: half of all headlines are good, and a
#: phrase, which says nothing wrong, is preferred to a sentence.
DEFAULT_JUDGE = np.zeros((len(KINDS), len(FACTS)), dtype=np.float32)
DEFAULT_JUDGE[1, 0] = -0.5


def judge_facts(
    tokens: TextTokens,
    places: NDArray[np.int64],
    score: float,
    chances: NDArray[np.float64],
    occurrences: int,
) -> NDArray[np.float64]:
    """What the judge knows of one headline, in the order of `FACTS`: **shape** ``(len(FACTS),)``.

    Of the text there are the tokens and how likely each is in the title, **shape** ``(tokens,)``;
    of the headline the places of its tokens, at least one of them a word, **shape** ``(n,)``, the
    score by its own kind, and how often the text has it.
    """
    said = places[tokens.plain[places]]
    said = said if len(said) else places
    count, number = len(said), tokens.sentences[places[0]]
    tags, own = tokens.tags[said], chances[said][~tokens.stop[said]]
    shares = (tags[:, None] == (PRON, PROPN, NUM)).sum(axis=0) / count
    return np.array(
        [
            1.0,
            score,
            count / 5.0,
            count == 1,
            count > 10,
            own.mean() if len(own) else 0.0,
            own.max(initial=0.0),
            np.log1p(number),
            np.log(occurrences),
            count / max((tokens.sentences == number).sum(), count),
            *shares,
            tags[-1] in (NOUN, PROPN),
            np.log(len(chances)) / 5.0,
            np.log(len(chances) / (tokens.sentences[-1] + 1)) / 3.0,
        ]
    )


def chance_of(weights: NDArray[np.float32], kind: str, facts: NDArray[np.float64]) -> float:
    """The probability that a headline is good.

    Examples
    --------
    >>> chance_of(DEFAULT_JUDGE, "phrases", np.ones(len(FACTS)))
    0.5
    """
    odds = float(weights[KINDS.index(kind)].astype(np.float64) @ facts)
    return float(1.0 / (1.0 + np.exp(-np.clip(odds, -30.0, 30.0))))
