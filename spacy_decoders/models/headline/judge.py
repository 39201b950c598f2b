"""How likely a headline is good: one logistic model for phrases and shortened sentences."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
from numpy.typing import NDArray
from spacy.tokens import Doc, Span, Token

__all__ = ["DEFAULT_JUDGE", "FACTS", "KINDS", "chance_of", "judge_facts"]

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
    unit: Doc | Span,
    tokens: Sequence[Token],
    score: float,
    chances: NDArray[np.float64],
    sentence: tuple[int, int, int],
    occurrences: int,
) -> NDArray[np.float64]:
    """What the judge knows of one headline.

    Parameters
    ----------
    unit
        The text.
    tokens
        Those of the headline, at least one of them a word.
    score
        What its own kind scores it.
    chances
        How likely each of its words is in the title. **Shape:** ``(words,)``
    sentence
        Which sentence it is from, the sentence's words, and the number of sentences.
    occurrences
        How often the text has it.

    Returns
    -------
    In the order of `FACTS`. **Shape:** ``(len(FACTS),)``
    """
    said = [token for token in tokens if not token.is_punct]
    count, (number, size, sentences) = max(1, len(said)), sentence
    subjects = [token for token in said if token.dep_.startswith(("nsubj", "csubj", "expl"))]
    heads = {token.i for token in said}
    last = said[-1] if said else tokens[-1]
    talk, names, odd, length = _make_up(unit)
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
            any(token.head.i in heads for token in subjects),
            any(token.pos_ == "PRON" for token in subjects),
            sum(token.pos_ == "PRON" for token in said) / count,
            sum(token.pos_ == "PROPN" for token in said) / count,
            last.pos_ in ("NOUN", "PROPN"),
            sum(_is_odd(token) for token in said) / count,
            sum(token.like_num for token in said) / count,
            np.log(max(1, length)) / 5.0,
            np.log(max(1, length) / sentences) / 3.0,
            talk,
            names,
            odd,
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


def _is_odd(token: Token) -> bool:
    """Whether it is an address, an account, a sign or a word without a tag."""
    return token.like_url or token.like_email or not token.text[0].isalnum() or token.pos_ == "X"


def _make_up(unit: Doc | Span) -> tuple[float, float, float, int]:
    """The shares of talk of "I" and "you", of names and of odd words, and the number of words."""
    said = [token for token in unit if not (token.is_punct or token.is_space)][:200]
    count = max(1, len(said))
    talk = sum(token.lower_ in _TALK for token in said) / count
    names = sum(token.pos_ == "PROPN" for token in said) / count
    return 5.0 * talk, names, 5.0 * sum(map(_is_odd, said)) / count, len(unit)


_TALK = frozenset({"i", "you", "me", "my", "your", "we", "us", "our"})
