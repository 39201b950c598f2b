"""The features by which the phrases of a text are scored as headlines."""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from .knowledge import HeadlineKnowledge
from .phrases import Phrases, Traits
from .words import Vertices, Words

__all__ = ["PHRASE_FEATURES", "ReadText", "phrase_features"]

Floats = NDArray[np.float64]
Integers = NDArray[np.int64]

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


def phrase_features(text: ReadText, knowledge: HeadlineKnowledge) -> Floats:
    """Compute the features of the chosen phrases of a text, given counts of other texts.

    **Shape:** ``(chosen, len(PHRASE_FEATURES))``
    """
    if not len(text.chosen):
        return np.zeros((0, len(PHRASE_FEATURES)))
    traits, occurrences = text.traits, text.phrases.occurrences
    scores = _token_scores(text, knowledge)
    first = occurrences.first[text.chosen]
    starts, ends = occurrences.starts[first], occurrences.ends[first]

    unit = traits.unit
    lengths = ends - starts
    rows = np.cumsum(lengths) - lengths
    places = np.arange(lengths.sum()) + np.repeat(starts - rows, lengths)
    values, counted = scores[places], unit[places, None]
    units = np.maximum(_sums(unit, starts, ends), 1)
    of_words = (
        _sums(scores * unit[:, None], starts, ends) / units[:, None],
        scores[starts],
        scores[ends - 1],
        np.minimum.reduceat(np.where(counted, values, np.inf), rows),
        np.maximum.reduceat(np.where(counted, values, -np.inf), rows),
    )

    # what all occurrences of a phrase by stems have in common
    kinds = occurrences.stemmed
    times = np.bincount(kinds)
    n, sentences = len(unit), text.words.sentences
    earliest, latest = np.full(len(times), n), np.zeros(len(times), np.int64)
    np.minimum.at(earliest, kinds, occurrences.starts)
    np.maximum.at(latest, kinds, occurrences.starts)
    different = np.unique(kinds * n + sentences[occurrences.starts]) // n
    kind = kinds[first]
    words = _sums(traits.word, starts, ends)
    pairs = knowledge.pairs_of(text.words.stems[:-1], text.words.stems[1:])
    heads, low, high = traits.heads[places], np.repeat(starts, lengths), np.repeat(ends, lengths)
    outward = (heads < low) | (heads >= high) | (heads == places)
    of_phrases = [
        words,
        *(words == size for size in range(1, MOST_COUNTED + 1)),
        _sums(traits.stop & traits.word, starts, ends),
        _sums(traits.edge & ~unit, starts, ends),
        traits.opener[starts],
        np.log(times[kind]),
        np.log(occurrences.counts[text.chosen] / times[kind]),
        np.log1p(earliest[kind]),
        earliest[kind] == 0,
        (latest[kind] - earliest[kind]) / n,
        np.bincount(different, minlength=len(times))[kind] / (sentences[-1] + 1.0),
        # the expected F1 of the words, each by itself
        2.0 * _sums(traits.word * scores[:, 0], starts, ends) / (words + knowledge.title_words),
        _sums(np.append(np.minimum(pairs, 3), 0), starts, ends - 1),
        (np.add.reduceat(outward.astype(np.int64), rows) == 1) & traits.parsed,
    ]
    usual = np.array([*OF_TEXTS.values()])
    differences = _of_text(text, scores, float(np.log(times.max()))) - usual
    table = [*of_words, np.column_stack(of_phrases), words[:, None] * differences]
    return np.concatenate(table, axis=1)


def _token_scores(text: ReadText, knowledge: HeadlineKnowledge) -> Floats:
    """The scores of each token, in the order of `SCORES`."""
    from .kernels.words import count_kinds, number_keys

    words, traits, of_token = text.words, text.traits, text.vertices.of_token
    stems, first, count = number_keys(words.stems)
    (texts, titles), size = knowledge.look_up(words.stems[first]), knowledge.size
    rarity = np.log((size + 1.0) / (texts + 1.0)) / 3.0 if size else np.ones(len(first))
    anywhere, opening, ending = (
        np.log((titles[:, column] + 0.2) / (texts + smooth) * 5.0 * smooth) * (size > 0)
        for column, smooth in ((0, 4.0), (1, 8.0), (2, 8.0))
    )
    spread = count_kinds(stems, words.sentences, len(first))[1] / (words.sentences[-1] + 1.0)
    beside = np.zeros((2, len(stems)), bool)
    beside[0, 1:], beside[1, :-1] = traits.auxiliary[:-1], traits.auxiliary[1:]
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
    chance, inside = np.full(len(stems), 0.02), of_token >= 0
    chance[inside] = 1.0 / (1.0 + np.exp(-text.odds[of_token[inside]]))
    columns: dict[str, Any] = {name: values[stems] for name, values in by_stem.items()}
    columns |= {"chance": chance, "capital": words.capital, "entity": words.entity}
    columns |= {name: traits.tags == tag for name, tag in TAGS.items()}
    return np.column_stack([columns[name] for name in SCORES]).astype(np.float64)


def _of_text(text: ReadText, scores: Floats, repetition: float) -> Floats:
    """What a text is like, in the order of `OF_TEXTS`."""
    traits = text.traits
    units, words = max(1, int(traits.unit.sum())), max(1, int(traits.word.sum()))
    of_units = scores[traits.unit].sum(axis=0) / units
    rarity, unknown, capital = (
        of_units[SCORES.index(name)] for name in ("rarity", "unknown", "capital")
    )
    function_words = float((traits.stop & traits.word).sum()) / words
    sizes = np.log(len(scores)), np.log1p(float(text.words.sentences[-1]))
    return np.array([*sizes, rarity, unknown, capital, function_words, repetition])


def _sums(values: NDArray[Any], starts: Integers, ends: Integers) -> NDArray[Any]:
    """The sums of some columns over tokens from each start on, before each end."""
    total = np.zeros((len(values) + 1, *values.shape[1:]), np.result_type(values.dtype, np.int64))
    np.cumsum(values, axis=0, out=total[1:])
    return np.asarray(total[ends] - total[starts])
