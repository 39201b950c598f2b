"""The probability that a headline is good, by a logistic model of phrases and sentences."""

from collections.abc import Sequence
from itertools import chain
from typing import Any

import numpy as np
from spacy.parts_of_speech import IDS

from ...arrays import Floats
from .words import TextTokens

__all__ = ["DEFAULT_JUDGE", "FACTS", "KINDS", "judge_facts", "probabilities_of"]


NOUN, NUM, PRON, PROPN = (IDS[part] for part in ("NOUN", "NUM", "PRON", "PROPN"))
#: Kinds of headlines; each has its own weights, which makes probabilities comparable.
KINDS = ("phrases", "sentence")
#: The features of a headline and its text.
FACTS = (
    "bias", "score", "words", "one_word", "long", "mean_chance", "best_chance", "late",
    "occurrences", "kept", "pronouns", "names", "numbers", "last_noun", "text_words",
    "sentence_words",
)  # fmt: skip
#: The weights before training: half of all headlines are good, and phrases, which claim nothing,
#: are preferred to sentences.
DEFAULT_JUDGE = np.zeros((len(KINDS), len(FACTS)), dtype=np.float32)
DEFAULT_JUDGE[1, 0] = -0.5


def judge_facts(
    tokens: TextTokens,
    chances: Floats,
    headlines: Sequence[Sequence[int]],
    scores: Sequence[float],
    occurrences: Sequence[int],
) -> Floats:
    """Compute the features of headlines. **Shape:** ``(headlines, len(FACTS))``

    `tokens` are those of all texts, and `chances`, **shape** ``(tokens,)``, the probabilities that
    they are in the title. For each headline there are its tokens, its score among those of its
    kind, and its number of occurrences in the text.
    """
    own, lengths = np.arange(len(headlines)), np.array([*map(len, headlines)])
    rows = own.repeat(lengths)
    places = np.fromiter(chain.from_iterable(headlines), np.int64, len(rows))
    first = places[lengths.cumsum() - lengths]
    # words, or the other tokens of a headline without words
    said = tokens.plain[places]
    said |= np.bincount(rows[said], minlength=len(own))[rows] == 0
    places, rows = places[said], rows[said]
    words, tags = np.bincount(rows, minlength=len(own)), tokens.tags[places]
    ends = words.cumsum()
    last, kinds = tags[ends - 1], tags == np.array([PRON, PROPN, NUM])[:, None]
    shares = np.add.reduceat(kinds, ends - words, axis=1, dtype=np.float64) / words
    # those of content words, after a 0 for each headline, since some have none
    content = ~tokens.stop[places]
    kept, sizes = rows[content], np.bincount(rows, content, len(own)).astype(np.int64)
    counted = np.zeros(len(kept) + len(own))
    counted[np.arange(len(kept)) + kept + 1] = chances[places[content]]
    begins, size = sizes.cumsum() - sizes + own, np.maximum(sizes, 1)
    # of the text, and of the sentence
    text, sentence = tokens.text[first], tokens.sentences[first]
    sizes, sentences = (of[text] for of in tokens.sizes)
    number = sentence - tokens.sentences[tokens.begins[text]]
    columns = [
        np.ones(len(own)),
        scores,
        words / 5.0,
        words == 1,
        words > 10,
        np.add.reduceat(counted, begins) / size,
        np.maximum.reduceat(counted, begins),
        np.log1p(number),
        np.log(occurrences),
        words / np.maximum(np.bincount(tokens.sentences)[sentence], words),
        *shares,
        (last == NOUN) | (last == PROPN),
        np.log(sizes) / 5.0,
        np.log(sizes / sentences) / 3.0,
    ]
    return np.ascontiguousarray(np.array(columns, dtype=np.float64).T)


def probabilities_of(weights: Any, kinds: Sequence[str], facts: Floats) -> list[float]:
    """The probabilities that headlines are good, given their kinds and features.

    Examples
    --------
    >>> probabilities_of(DEFAULT_JUDGE, ["phrases"], np.ones((1, len(FACTS))))
    [0.5]
    """
    of_kind = dict(zip(KINDS, weights.astype(np.float64), strict=True))
    odds = [of_kind[kind] @ of for kind, of in zip(kinds, facts, strict=True)]
    return [*(1.0 / (1.0 + np.exp(-np.array(odds).clip(-30.0, 30.0)))).tolist()]
