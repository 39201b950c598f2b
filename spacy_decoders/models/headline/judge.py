"""How likely a headline is good: one logistic model for phrases and shortened sentences."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray
from spacy.parts_of_speech import IDS

from .words import TokenFacts

__all__ = ["DEFAULT_JUDGE", "FACTS", "KINDS", "chance_of", "judge_facts", "make_up_of"]

NOUN, PRON, PROPN = (IDS[part] for part in ("NOUN", "PRON", "PROPN"))
#: Kinds of headlines; each has its own weights, so that their probabilities can be compared.
KINDS = ("phrases", "sentence")
#: What is known of a headline and of the text that it is for.
FACTS = (
    "bias", "score", "words", "one_word", "two_words", "long", "mean_chance", "best_chance",
    "late", "occurrences", "kept", "subject", "pronoun_subject", "pronouns", "names", "last_noun",
    "odd", "numbers", "text_words", "sentence_words", "text_talk", "text_names", "text_odd",
)  # fmt: skip
#: The weights of a model that has learnt from no text: half of all headlines are good, and a
#: phrase, which says nothing wrong, is preferred to a sentence.
DEFAULT_JUDGE = np.zeros((len(KINDS), len(FACTS)), dtype=np.float32)
DEFAULT_JUDGE[1, 0] = -0.5


def judge_facts(
    text: TokenFacts,
    places: NDArray[np.int64],
    score: float,
    chances: NDArray[np.float64],
    sentence: tuple[int, int, int],
    occurrences: int,
    make_up: tuple[float, float, float],
) -> NDArray[np.float64]:
    """What the judge knows of one headline.

    Parameters
    ----------
    text
        What is known of its tokens.
    places
        Those of the headline, at least one of them a word. **Shape:** ``(tokens,)``
    score
        What its own kind scores it.
    chances
        How likely each of its words is in the title. **Shape:** ``(words,)``
    sentence
        Which sentence it is from, the sentence's words, and the number of sentences.
    occurrences
        How often the text has it.
    make_up
        As :func:`make_up_of` says it of the text.

    Returns
    -------
    In the order of `FACTS`. **Shape:** ``(len(FACTS),)``
    """
    said = places[~text.punct[places]]
    count, (number, size, sentences) = max(1, len(said)), sentence
    about = said[text.subjects[said]]
    kinds, length = text.kinds[said], max(1, len(text.lower))
    last = said[-1] if len(said) else places[-1]
    return np.array(
        [
            1.0,
            score,
            count / 5.0,
            count == 1,
            count == 2,
            count > 10,
            chances.mean() if len(chances) else 0.0,
            chances.max(initial=0.0),
            np.log1p(number),
            np.log(occurrences),
            count / max(size, count),
            np.isin(text.heads[about], said).any(),
            (text.kinds[about] == PRON).any(),
            (kinds == PRON).sum() / count,
            (kinds == PROPN).sum() / count,
            text.kinds[last] in (NOUN, PROPN),
            text.odd[said].sum() / count,
            text.like_number[said].sum() / count,
            np.log(length) / 5.0,
            np.log(length / sentences) / 3.0,
            *make_up,
        ]
    )


def make_up_of(text: TokenFacts) -> tuple[float, float, float]:
    """The shares of talk of "I" and "you", of names and of odd words at a text's front."""
    said = np.flatnonzero(~(text.punct | text.space))[:200]
    count = max(1, len(said))
    talk, odd = text.talk[said].sum() / count, text.odd[said].sum() / count
    names = (text.kinds[said] == PROPN).sum() / count
    return 5.0 * float(talk), float(names), 5.0 * float(odd)


def chance_of(weights: NDArray[np.float32], kind: str, facts: NDArray[np.float64]) -> float:
    """The probability that a headline is good.

    Examples
    --------
    >>> chance_of(DEFAULT_JUDGE, "phrases", np.ones(len(FACTS)))
    0.5
    """
    odds = float(weights[KINDS.index(kind)].astype(np.float64) @ facts)
    return float(1.0 / (1.0 + np.exp(-np.clip(odds, -30.0, 30.0))))
