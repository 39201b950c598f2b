"""The phrases of texts, and features of words and phrases as headlines."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from ...arrays import Booleans, Floats, Integers
from .knowledge import HeadlineKnowledge
from .words import TextTokens, Vertices, numbered

__all__ = [
    "FEATURES", "MOST_WORDS", "PHRASE_FEATURES", "Phrases", "phrase_features",
    "token_features", "vertex_features",
]  # fmt: skip


#: The number of words of the longest phrase, not counting hyphens and the like.
MOST_WORDS = 16
#: Parts of speech, by spaCy's numbers.
TAGS = {
    "adjective": 84, "adposition": 85, "adverb": 86, "auxiliary_verb": 87, "determiner": 90,
    "noun": 92, "number": 93, "pronoun": 95, "proper_noun": 96, "verb": 100,
}  # fmt: skip
#: Features of tokens: the first position of their stem, and its frequencies here, elsewhere and in
#: titles; then those of the token itself.
FEATURES = (
    "bias", "first_sentence_index", "first_position", "frequency", "idf", "tfidf", "spread",
    "title_rate", "capital", "entity", *TAGS,
)  # fmt: skip

#: The largest number of words for which phrases have a feature of their own.
MOST_COUNTED = 3
OF_PHRASES = (
    "words", *(f"words_{size}" for size in range(1, MOST_COUNTED + 1)), "function_words",
    "occurrences", "first_place", "at_start", "expected_overlap",
)  # fmt: skip
#: Properties in which kinds of texts differ, with usual values. The deviations, times the number
#: of words of a phrase, are features, from which the length of titles is learned.
OF_TEXTS = {
    "text_words": 5.0, "text_sentences": 2.0, "text_idf": 0.7, "text_function_words": 0.4,
}  # fmt: skip
#: The features of phrases: the mean over meaningful words, those of the last token, those of the
#: phrase itself, and those from which its length is learned.
PHRASE_FEATURES = (
    *(f"{kind}_{name}" for kind in ("mean", "last") for name in (*FEATURES[1:], "chance")),
    *OF_PHRASES,
    *(f"{name}_by_words" for name in OF_TEXTS),
)


@dataclass(frozen=True, eq=False)
class Phrases:
    """The places of phrases in texts, in order; phrases of the same stems are the same phrase.

    **Shape of starts, ends and numbers:** ``(places,)``
    """

    #: The first token, and the one after the last.
    starts: Integers
    ends: Integers
    #: The number of the phrase; phrases are numbered by their first places.
    numbers: Integers
    #: The first place of each phrase, and its number of places. **Shape:** ``(phrases,)``
    first: Integers
    counts: Integers

    @classmethod
    def of(cls, tokens: TextTokens) -> Phrases:
        """Collect the phrases: meaningful, within a sentence, and without punctuation.

        They do not begin or end with a function word, are not cut at a hyphen, and have no stem
        twice.
        """
        from .kernels.phrases import collect  # compiled where it is first needed

        of = tokens
        flags = of.word, of.hyphen, of.glue, of.stop, of.unit, of.meaning
        stems = of.own(of.stems), of.stem_numbers[0]
        starts, ends, keys = collect(*flags, *stems, of.sentences, MOST_WORDS)
        return cls(starts, ends, *numbered(keys))

    def candidates(self, whole: Booleans) -> Integers:
        """The first place that is `whole` of each phrase that has such a place.

        **Shape:** ``(candidates,)``
        """
        places = whole.nonzero()[0]
        return places[numbered(self.numbers[places].view(np.uint64))[1]]


def token_features(tokens: TextTokens, knowledge: HeadlineKnowledge) -> Floats:
    """Compute the features of each token, given counts of other texts.

    **Shape:** ``(tokens, len(FEATURES))``
    """
    text, sentences, begins = tokens.text, tokens.sentences, tokens.begins
    stems, first, count = tokens.stem_numbers
    (texts, titles), size = knowledge.look_up(tokens.stems[first]), knowledge.size
    idf = np.log((size + 1.0) / (texts + 1.0)) / 5.0
    # the share of the text's sentences that have each stem
    different = numbered((stems * len(text) + sentences).view(np.uint64))[1]
    spread = np.bincount(stems[different], minlength=len(first)) / tokens.sizes[1][text[first]]
    frequency = np.log1p(count)
    by_stem = {
        "first_sentence_index": np.log1p((sentences - sentences[begins][text])[first]),
        "first_position": np.log1p(first - begins[text[first]]) / 5.0,
        "frequency": frequency,
        "idf": idf,
        "tfidf": frequency * idf,
        "spread": spread,
        "title_rate": np.log((titles + 0.2) / (texts + 4.0) * 20.0) * (size > 0),
    }
    features = np.ones((len(FEATURES), len(text)))
    features[1:8] = np.array([*by_stem.values()])[:, stems]  # in the order of `FEATURES`
    features[8:10] = tokens.capital, tokens.entity
    features[10:] = tokens.tags == np.array([*TAGS.values()])[:, None]
    return np.ascontiguousarray(features.T)


def vertex_features(vertices: Vertices, features: Floats) -> Floats:
    """The mean of the features of each vertex's tokens. **Shape:** ``(n, len(FEATURES))``"""
    places = (vertices.of_token >= 0).nonzero()[0]
    numbers = vertices.of_token[places]
    counts, order = np.bincount(numbers), numbers.argsort(kind="stable")
    sums = np.add.reduceat(features[places[order]], counts.cumsum() - counts)
    return np.asarray(sums / counts[:, None])


def phrase_features(
    tokens: TextTokens,
    phrases: Phrases,
    chosen: Integers,
    features: Floats,
    chances: Floats,
    knowledge: HeadlineKnowledge,
) -> Floats:
    """Compute the features of the phrases at the `chosen` places.

    `features`, **shape** ``(tokens, len(FEATURES))``, are those of tokens, and `chances`,
    **shape** ``(tokens,)``, the probabilities that they are in the title. Returns **shape** ``(n,
    len(PHRASE_FEATURES))``.
    """
    starts, ends, number = phrases.starts[chosen], phrases.ends[chosen], phrases.numbers[chosen]
    text, begins = tokens.text[starts], tokens.begins
    scores = np.concatenate([features[:, 1:], chances[:, None]], axis=1)
    # the tokens of all phrases, concatenated, and where those of each begin
    lengths = ends - starts
    rows = lengths.cumsum() - lengths
    places = np.arange(lengths.sum()) + (starts - rows).repeat(lengths)
    function_word = tokens.word & tokens.stop
    counted = np.array([tokens.word, function_word, tokens.unit, chances * tokens.word])
    words, function_words, units, overlap = np.add.reduceat(counted[:, places], rows, axis=1)
    means = np.add.reduceat((scores * tokens.unit[:, None])[places], rows) / units[:, None]
    position = phrases.starts[phrases.first[number]] - begins[text]
    of_phrases = [
        words,
        *(words == np.arange(1, MOST_COUNTED + 1)[:, None]),
        function_words,
        np.log(phrases.counts[number]),
        np.log1p(position),
        position == 0,
        # the expected F1 of the words, taken as independent
        2.0 * overlap / (words + knowledge.title_words),
    ]
    differences = _of_texts(tokens, features) - np.array([*OF_TEXTS.values()])
    by_words = words[:, None] * differences[text]
    own = np.array(of_phrases).T
    return np.concatenate([means, scores[ends - 1], own, by_words], axis=1)


def _of_texts(tokens: TextTokens, features: Floats) -> Floats:
    """The properties of each text, in the order of `OF_TEXTS`. **Shape:** ``(texts, 4)``"""

    def mean(values: NDArray[Any], among: Booleans) -> Floats:
        total = np.bincount(tokens.text, values * among)
        return total / np.maximum(np.bincount(tokens.text, among), 1)

    idf = mean(features[:, FEATURES.index("idf")], tokens.unit)
    lengths = np.log(np.maximum(1, tokens.sizes))
    return np.array([*lengths, idf, mean(tokens.stop, tokens.word)]).T
