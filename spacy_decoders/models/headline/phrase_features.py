"""The features by which the phrases of a text are scored as headlines."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import fields
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from .knowledge import HeadlineKnowledge
from .phrases import Phrases, Traits
from .words import Vertices, Words

__all__ = ["PHRASE_FEATURES", "ReadText", "phrase_features"]

Floats = NDArray[np.float64]
Integers = NDArray[np.int64]

#: Keys of stems are combined with this times the number of their text.
_MIXER = np.uint64(0x9E3779B97F4A7C15)
#: Parts of speech, as spaCy numbers them.
TAGS = {
    "adjective": 84, "adposition": 85, "adverb": 86, "auxiliary_verb": 87, "determiner": 90,
    "noun": 92, "number": 93, "pronoun": 95, "proper_noun": 96, "verb": 100,
}  # fmt: skip
#: Scores of tokens: how likely and how often their stem is in this title and in others', how
#: frequent it is here and elsewhere, where it occurs, and what stands beside it.
SCORES = (
    "chance", "count", "rarity", "tfidf", "title_rate", "opens_titles", "ends_titles",
    "sentences", "first_sentence", "capital", "entity", "after_article", "before_preposition",
    "unknown", *TAGS,
)  # fmt: skip
#: What is made of the scores of a phrase's tokens; mean, least and most are those of words with
#: a meaning.
KINDS = ("mean", "first", "last", "least", "most")
#: Phrases of one word, of two and so on up to this many have a feature each.
MOST_COUNTED = 8
OF_PHRASES = (
    "words", *(f"words_{size}" for size in range(1, MOST_COUNTED + 1)), "function_words",
    "other_edges", "opener", "occurrences", "form_share", "first_position", "at_start", "spread",
    "sentence_share", "expected_overlap", "title_pairs", "constituent",
)  # fmt: skip
#: What kinds of texts differ in, and its usual value: the products of the difference with a
#: phrase's number of words are features, from which the length of a title is learned.
OF_TEXTS = {
    "text_words": 5.0, "text_sentences": 2.0, "text_rarity": 1.2, "text_unknown": 0.1,
    "text_capital": 0.1, "text_function_words": 0.4, "text_repetition": 1.5,
}  # fmt: skip
PHRASE_FEATURES = (
    *(f"{kind}_{name}" for kind in KINDS for name in SCORES),
    *OF_PHRASES,
    *(f"{name}_by_words" for name in OF_TEXTS),
)


class ReadText(NamedTuple):
    """A text and its phrases."""

    words: Words
    traits: Traits
    vertices: Vertices
    phrases: Phrases
    #: Which phrases' features are wanted. **Shape:** ``(n,)``
    chosen: Integers
    #: Log-odds of each vertex being in the title. **Shape:** ``(vertices,)``
    odds: Floats


class TextsEndToEnd(NamedTuple):
    """The tokens of texts end to end: numpy calls on many texts cost less than on each."""

    words: Words
    traits: Traits
    #: How likely each token is in the title. **Shape:** ``(tokens,)``
    chances: Floats
    #: The text of each token. **Shape:** ``(tokens,)``
    text: Integers
    #: Where each text begins, its tokens and its sentences. **Shapes:** ``(texts,)``
    begins: Integers
    sizes: Integers
    sentences: Integers

    @classmethod
    def of(cls, texts: Sequence[ReadText]) -> TextsEndToEnd:
        """Lay out texts, none of them empty."""
        words, traits = [text.words for text in texts], [text.traits for text in texts]
        sizes = np.array([len(of.keys) for of in words])
        chances = [  # the last of them serves token -1
            np.append(1.0 / (1.0 + np.exp(-text.odds)), 0.02)[text.vertices.of_token]
            for text in texts
        ]
        return cls(
            Words(*(np.concatenate([getattr(of, x.name) for of in words]) for x in fields(Words))),
            Traits.of_flags(
                np.concatenate([of.flags for of in traits]),
                np.concatenate([of.tags for of in traits]),
                _moved([of.heads for of in traits], sizes),
                any(of.parsed for of in traits),
            ),
            np.concatenate(chances),
            np.repeat(np.arange(len(texts)), sizes),
            np.cumsum(sizes) - sizes,
            sizes,
            np.array([of.sentences[-1] + 1 for of in words]),
        )


def phrase_features(texts: Sequence[ReadText], knowledge: HeadlineKnowledge) -> list[Floats]:
    """Compute the features of the chosen phrases of each text, given counts of other texts.

    **Shape of each:** ``(chosen, len(PHRASE_FEATURES))``
    """
    read = [text for text in texts if len(text.chosen)]
    table = _features(read, knowledge) if read else np.zeros((0, len(PHRASE_FEATURES)))
    return np.split(table, np.cumsum([len(text.chosen) for text in texts])[:-1])


def _features(texts: Sequence[ReadText], knowledge: HeadlineKnowledge) -> Floats:
    """The features of the chosen phrases of all texts; each text has some."""
    laid = TextsEndToEnd.of(texts)
    traits, unit = laid.traits, laid.traits.unit
    scores = _token_scores(laid, knowledge)
    found = [text.phrases for text in texts]
    starts_of, kinds_of = [of.starts for of in found], [of.stemmed for of in found]
    first_of, counts_of = [of.first for of in found], [of.counts for of in found]
    chosen = _moved([text.chosen for text in texts], [len(of) for of in first_of])
    first = _moved(first_of, [len(of) for of in starts_of])[chosen]
    every = _moved(starts_of, laid.sizes)
    starts, ends = every[first], _moved([of.ends for of in found], laid.sizes)[first]
    text = laid.text[starts]

    lengths = ends - starts
    rows = np.cumsum(lengths) - lengths
    places = np.arange(lengths.sum()) + np.repeat(starts - rows, lengths)
    values, counted = scores[places], unit[places, None]
    pairs = knowledge.pairs_of(laid.words.stems[:-1], laid.words.stems[1:])
    following = np.append(np.minimum(pairs, 3), 0)
    heads, low, high = traits.heads[places], np.repeat(starts, lengths), np.repeat(ends, lengths)
    outward = (heads < low) | (heads >= high) | (heads == places)
    columns = (
        traits.word, traits.stop & traits.word, traits.edge & ~unit, unit,
        traits.word * laid.chances, following,
    )  # fmt: skip
    words, function_words, other_edges, units, chances, title_pairs, outside = np.add.reduceat(
        np.column_stack([*(column[places] for column in columns), outward]), rows
    ).T
    of_words = (
        np.add.reduceat(values * counted, rows) / np.maximum(units, 1)[:, None],
        scores[starts],
        scores[ends - 1],
        np.minimum.reduceat(np.where(counted, values, np.inf), rows),
        np.maximum.reduceat(np.where(counted, values, -np.inf), rows),
    )

    # what all occurrences of a phrase by stems have in common
    sizes = [of.max() + 1 for of in kinds_of]
    kinds = _moved(kinds_of, sizes)
    times, kind, n = np.bincount(kinds), kinds[first], len(unit)
    earliest, latest = np.full(len(times), n), np.zeros(len(times), np.int64)
    np.minimum.at(earliest, kinds, every)
    np.maximum.at(latest, kinds, every)
    position = earliest[kind] - laid.begins[text]
    different = np.unique(kinds * n + laid.words.sentences[every]) // n
    of_phrases = [
        words,
        *(words == size for size in range(1, MOST_COUNTED + 1)),
        function_words,
        other_edges,
        traits.opener[starts],
        np.log(times[kind]),
        np.log(np.concatenate(counts_of)[chosen] / times[kind]),
        np.log1p(position),
        position == 0,
        (latest[kind] - earliest[kind]) / laid.sizes[text],
        np.bincount(different, minlength=len(times))[kind] / laid.sentences[text],
        # the expected F1 of the words, each by itself
        2.0 * chances / (words + knowledge.title_words),
        title_pairs - following[ends - 1],
        (outside == 1) & np.array([of.traits.parsed for of in texts])[text],
    ]
    repetition = np.log(np.maximum.reduceat(times, np.cumsum(sizes) - sizes))
    differences = _of_texts(laid, scores, repetition) - np.array([*OF_TEXTS.values()])
    table = [*of_words, np.column_stack(of_phrases), words[:, None] * differences[text]]
    return np.concatenate(table, axis=1)


def _token_scores(laid: TextsEndToEnd, knowledge: HeadlineKnowledge) -> Floats:
    """The scores of each token, in the order of `SCORES`."""
    from .kernels.words import count_kinds, number_keys

    words, traits = laid.words, laid.traits
    # texts share no stems
    stems, first, count = number_keys(words.stems ^ (laid.text.astype(np.uint64) * _MIXER))
    (texts, titles), size = knowledge.look_up(words.stems[first]), knowledge.size
    rarity = np.log((size + 1.0) / (texts + 1.0)) / 3.0 if size else np.ones(len(first))
    anywhere, opening, ending = (
        np.log((titles[:, column] + 0.2) / (texts + smooth) * 5.0 * smooth) * (size > 0)
        for column, smooth in ((0, 4.0), (1, 8.0), (2, 8.0))
    )
    spread = count_kinds(stems, words.sentences, len(first))[1] / laid.sentences[laid.text[first]]
    beside = np.zeros((2, len(stems)), bool)
    beside[0, 1:], beside[1, :-1] = traits.auxiliary[:-1], traits.auxiliary[1:]
    beside[0, laid.begins], beside[1, laid.begins - 1] = False, False
    # the shares of rare words tend to the usual one
    after, before = (
        (np.bincount(stems, weights=side, minlength=len(first)) + 0.3) / (count + 1.0)
        for side in beside
    )
    frequency = np.log(count)
    by_stem = {
        "count": frequency, "rarity": rarity, "tfidf": frequency * rarity,
        "title_rate": anywhere, "opens_titles": opening, "ends_titles": ending,
        "sentences": spread, "first_sentence": np.log1p(words.sentences[first]),
        "after_article": after, "before_preposition": before,
        "unknown": (texts == 0) & (size > 0),
    }  # fmt: skip
    columns: dict[str, Any] = {name: values[stems] for name, values in by_stem.items()}
    columns |= {"chance": laid.chances, "capital": words.capital, "entity": words.entity}
    columns |= {name: traits.tags == tag for name, tag in TAGS.items()}
    return np.column_stack([columns[name] for name in SCORES]).astype(np.float64)


def _of_texts(laid: TextsEndToEnd, scores: Floats, repetition: Floats) -> Floats:
    """What each text is like, in the order of `OF_TEXTS`. **Shape:** ``(texts, 7)``"""
    traits, unit = laid.traits, laid.traits.unit

    def mean(values: NDArray[Any], among: NDArray[np.bool_]) -> Floats:
        total = np.bincount(laid.text, values * among)
        return total / np.maximum(np.bincount(laid.text, among), 1)

    of_units = [
        mean(scores[:, SCORES.index(name)], unit) for name in ("rarity", "unknown", "capital")
    ]
    sizes = np.log(laid.sizes), np.log1p(laid.sentences - 1.0)
    return np.column_stack([*sizes, *of_units, mean(traits.stop, traits.word), repetition])


def _moved(parts: Sequence[Integers], sizes: Any) -> Integers:
    """Places within things of some sizes as places in all of them end to end."""
    before = (np.cumsum(sizes) - sizes).tolist()
    return np.concatenate([part + by for part, by in zip(parts, before, strict=True)])
