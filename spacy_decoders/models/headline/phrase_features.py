"""The features by which the phrases of a headline are scored."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from .corpus_counts import CorpusCounts
from .phrases import Phrases, Traits
from .title_counts import TitleCounts
from .words import Vertices, Words

__all__ = ["PHRASE_FEATURES", "TextScores", "phrase_features"]

Floats = NDArray[np.float64]
Integers = NDArray[np.int64]

#: Parts of speech, as spaCy numbers them, of the first and last word and of any word.
TAGS = {
    "adjective": 84, "adposition": 85, "adverb": 86, "auxiliary_verb": 87, "determiner": 90,
    "noun": 92, "number": 93, "pronoun": 95, "proper_noun": 96, "verb": 100,
}  # fmt: skip
#: Scores of words, and which of their values within a phrase are features.
OF_WORDS = {
    "chance": ("mean", "first", "last", "least", "most"),
    "count": ("mean", "first", "last", "least", "most"),
    "rarity": ("mean", "first", "last", "least", "most"),
    "tfidf": ("mean", "first", "last", "least", "most"),
    "title_rate": ("mean", "first", "last", "least", "most"),
    "opens_titles": ("first",),
    "ends_titles": ("last",),
    "sentences": ("mean", "first", "last", "least", "most"),
    "first_sentence": ("mean", "first", "last"),
    "capital": ("mean",),
    "entity": ("mean",),
    "after_article": ("mean", "first", "last"),
    "before_preposition": ("first", "last"),
    "unknown": ("mean",),
}
OF_PHRASES = (
    "occurrences", "density", "maximal_left", "maximal_right", "after_break", "before_break",
    "after_auxiliary", "before_auxiliary", "after_function", "before_function",
    "first_sentence_index", "first_position", "relative_position", "in_first_sentence", "at_start",
    "spread", "sentence_share", "form_share", "words", "units", "function_words", "other_edges",
    "glue", "opener", "expected_overlap", "title_pairs", "constituent", "text_words",
    "text_sentences",
)  # fmt: skip
#: Features whose distance to the text's best phrase is one, too.
COMPARED = (
    "occurrences", "expected_overlap", "mean_chance", "mean_tfidf", "mean_title_rate",
    "last_ends_titles", "first_position",
)  # fmt: skip
#: What kinds of texts differ in, and its usual value: the products of the difference with a
#: phrase's number of words are features, from which the length of a title is learned.
OF_TEXTS = {
    "text_words": 5.0, "text_sentences": 2.0, "sentence_words": 3.0, "text_rarity": 1.2,
    "text_unknown": 0.1, "text_capital": 0.1, "text_function_words": 0.4, "text_repetition": 1.5,
}  # fmt: skip
#: Phrases of one word, of two and so on up to this many have a feature each.
MOST_COUNTED = 8
PHRASE_FEATURES = (
    *OF_PHRASES,
    *(f"words_{size}" for size in range(1, MOST_COUNTED + 1)),
    *(f"{kind}_{name}" for name, kinds in OF_WORDS.items() for kind in kinds),
    *(f"{place}_{tag}" for place in ("first", "last", "share") for tag in TAGS),
    *(f"{name}_behind" for name in COMPARED),
    *(name for name in OF_TEXTS if name not in OF_PHRASES),
    *(f"{name}_by_words" for name in OF_TEXTS),
)


class TextTable(NamedTuple):
    """What features need to know of each token."""

    #: Its sentence. **Shape:** ``(tokens,)``
    sentences: NDArray[np.int64]
    #: Its traits. **Shape:** ``(tokens, 9)``
    flags: NDArray[np.bool_]
    #: Its part of speech, as a number among those that are features, or -1.
    #: **Shape:** ``(tokens,)``
    tags: NDArray[np.int64]
    #: What it depends on; empty without a parse. **Shape:** ``(tokens,)`` or ``(0,)``
    heads: NDArray[np.int64]
    #: Scores of its stem. **Shape:** ``(tokens, scores)``
    scores: NDArray[np.float64]
    #: How often titles have it before the next one. **Shape:** ``(tokens,)``
    pairs: NDArray[np.float64]


class FeatureColumns(NamedTuple):
    """Where features are."""

    #: Of each score of words its mean, first, last, least and greatest value, or -1.
    #: **Shape:** ``(scores, 5)``
    words: NDArray[np.int64]
    #: The column of the first tag of the first word, of the last word, and of the share.
    #: **Shape:** ``(3,)``
    tags: NDArray[np.int64]
    #: The column of phrases of one word, and that after the last such one. **Shape:** ``(2,)``
    sizes: NDArray[np.int64]
    #: Among the scores, the chance of being in the title.
    chance: int
    #: FeatureColumns that are compared with the best, and where the difference is.
    #: **Shape:** ``(compared, 2)``
    compared: NDArray[np.int64]


@dataclass(frozen=True, eq=False)
class TextScores:
    """Scores of each token of a text, by its stem. **Shape of all:** ``(tokens,)``"""

    columns: dict[str, Floats]
    stems: Integers

    @classmethod
    def of(
        cls,
        words: Words,
        traits: Traits,
        vertices: Vertices,
        odds: Floats,
        corpus: CorpusCounts,
        titles: TitleCounts,
        own: NDArray[np.uint64] | None = None,
    ) -> TextScores:
        """Score the tokens.

        Parameters
        ----------
        words, traits, vertices
            The text.
        odds
            Log-odds of each vertex being in the title. **Shape:** ``(n,)``
        corpus, titles
            Counts of other texts and titles.
        own
            The stems of the text's own title, if the counts include the text: it is left out then.
        """
        from .kernels.words import count_kinds, number_keys

        n = len(words.keys)
        stems, first, counts = number_keys(words.stems)
        keys, count = words.stems[first], counts.astype(np.float64)
        size = len(keys)
        texts, _, total = corpus.look_up(keys)
        seen = titles.of_stems(keys).astype(np.float64)
        if own is not None:
            texts, total = np.maximum(texts - 1, 0), max(total - 1, 0)
            for column, words_of in enumerate((own, own[:1], own[-1:])):
                seen[:, column] -= np.isin(keys, words_of)
            seen = np.maximum(seen, 0.0)
        rarity = np.log((total + 1.0) / (texts + 1.0)) / 3.0 if total else np.ones(size)
        rates = [
            np.log((seen[:, column] + 0.2) / (texts + smooth) * scale)
            if titles.size
            else 0 * count
            for column, smooth, scale in ((0, 4.0, 20.0), (1, 8.0, 40.0), (2, 8.0, 40.0))
        ]
        sentences = int(words.sentences[-1]) + 1 if n else 1
        spread = count_kinds(stems, words.sentences, size)[1] / sentences
        chance = np.where(vertices.of_token >= 0, 0.0, 0.02)
        inside = vertices.of_token >= 0
        chance[inside] = 1.0 / (1.0 + np.exp(-odds[vertices.of_token[inside]]))
        left = np.concatenate([[False], traits.auxiliary[:-1]])[:n]
        right = np.concatenate([traits.auxiliary[1:], [False]])[:n]
        # the shares of rare words tend to the usual one
        after, onward = (
            (np.bincount(stems, weights=side, minlength=size) + 0.3) / (count + 1.0)
            for side in (left, right)
        )
        by_stem = {
            "count": np.log(count), "rarity": rarity, "tfidf": np.log(count) * rarity,
            "title_rate": rates[0], "opens_titles": rates[1], "ends_titles": rates[2],
            "sentences": spread, "first_sentence": np.log1p(words.sentences[first]),
            "after_article": after, "before_preposition": onward,
            "unknown": (texts == 0).astype(np.float64) if total else 0 * count,
        }  # fmt: skip
        columns = {name: values[stems] for name, values in by_stem.items()}
        columns["chance"] = chance
        columns["capital"] = words.capital.astype(np.float64)
        columns["entity"] = words.entity.astype(np.float64)
        return cls(columns, stems)


def phrase_features(
    words: Words, traits: Traits, phrases: Phrases, scores: TextScores, titles: TitleCounts
) -> Floats:
    """Compute the features of each phrase.

    Parameters
    ----------
    words, traits, phrases
        The text and its phrases.
    scores
        The scores of its tokens.
    titles
        Counts of titles, for their pairs of words and their usual length.

    Returns
    -------
    Features, in the order of `PHRASE_FEATURES`. **Shape:** ``(n, len(PHRASE_FEATURES))``
    """
    from .kernels.phrase_features import fill_features

    table = np.zeros((len(phrases), len(PHRASE_FEATURES)))
    if not len(phrases):
        return table
    pairs = titles.of_pairs(words.stems[:-1], words.stems[1:])
    text = TextTable(
        words.sentences,
        traits.flags,
        _NUMBERS[traits.tags],
        traits.heads if traits.parsed else traits.heads[:0],
        np.column_stack([scores.columns[name] for name in OF_WORDS]),
        np.append(np.minimum(pairs, 3), 0).astype(np.float64),
    )
    fill_features(text, phrases.occurrences, _COLUMNS, float(titles.words), table)
    _add_text(words, traits, scores, table)
    return table


def _add_text(words: Words, traits: Traits, scores: TextScores, table: Floats) -> None:
    """Add what the whole text is like, and how that goes with long and short phrases."""
    column = PHRASE_FEATURES.index
    units, said = traits.unit, traits.word
    size, sentences = table[0, column("text_words")], table[0, column("text_sentences")]
    values = {
        "text_words": size,
        "text_sentences": sentences,
        "sentence_words": size - sentences,
        "text_rarity": _mean(scores.columns["rarity"][units]),
        "text_unknown": _mean(scores.columns["unknown"][units]),
        "text_capital": _mean(words.capital[units]),
        "text_function_words": _mean(traits.stop[said]),
        "text_repetition": table[:, column("occurrences")].max(),
    }
    for name, usual in OF_TEXTS.items():
        table[:, column(name)] = values[name]
        table[:, column(f"{name}_by_words")] = (values[name] - usual) * table[:, column("words")]


def _mean(values: NDArray[Any]) -> float:
    return float(values.mean()) if len(values) else 0.0


def _columns() -> FeatureColumns:
    """Where the kernel finds the features."""
    place = PHRASE_FEATURES.index
    of_words = [
        [place(f"{kind}_{name}") if kind in kinds else -1 for kind in OF_WORDS["chance"]]
        for name, kinds in OF_WORDS.items()
    ]
    tags = [place(f"{of}_{next(iter(TAGS))}") for of in ("first", "last", "share")]
    compared = [[place(name), place(f"{name}_behind")] for name in COMPARED]
    sizes = [place("words_1"), place("words_1") + MOST_COUNTED]
    given = (np.array(part, dtype=np.int64) for part in (of_words, tags, sizes, compared))
    words, tags_at, sizes_at, compared_at = given
    return FeatureColumns(words, tags_at, sizes_at, list(OF_WORDS).index("chance"), compared_at)


_COLUMNS = _columns()
#: Of each part of speech its number among those that are features, or -1.
_NUMBERS = np.full(256, -1, dtype=np.int64)
_NUMBERS[list(TAGS.values())] = np.arange(len(TAGS))
