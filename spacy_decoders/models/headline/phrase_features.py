"""The features by which the phrases of a headline are scored."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from .corpus_counts import CorpusCounts
from .phrases import MOST_WORDS, Phrases, Traits
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
PHRASE_FEATURES = (
    *OF_PHRASES,
    *(f"words_{size}" for size in range(1, MOST_WORDS + 1)),
    *(f"{kind}_{name}" for name, kinds in OF_WORDS.items() for kind in kinds),
    *(f"{place}_{tag}" for place in ("first", "last", "share") for tag in TAGS),
    *(f"{name}_behind" for name in COMPARED),
)


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
        n = len(words.keys)
        keys, stems = np.unique(words.stems, return_inverse=True)
        stems = stems.reshape(-1)
        size = len(keys)
        count = np.bincount(stems, minlength=size).astype(np.float64)
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
        pairs = np.unique(stems * sentences + words.sentences)
        spread = np.bincount(pairs // sentences, minlength=size) / sentences
        first = np.full(size, n)
        np.minimum.at(first, stems, np.arange(n))
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
    if not len(phrases):
        return np.zeros((0, len(PHRASE_FEATURES)))
    columns = _of_words(words, traits, phrases, scores)
    columns |= _of_occurrences(words, traits, phrases)
    columns |= _of_make_up(words, traits, phrases, scores, titles)
    columns |= {f"{name}_behind": columns[name].max() - columns[name] for name in COMPARED}
    return np.column_stack([columns[name] for name in PHRASE_FEATURES])


def _of_words(
    words: Words, traits: Traits, phrases: Phrases, scores: TextScores
) -> dict[str, Floats]:
    """Mean, first, last, least and greatest value of the words' scores."""
    start, end = phrases.starts[phrases.first], phrases.ends[phrases.first]
    counted = traits.unit
    weight = counted.astype(np.float64)
    sizes = np.maximum(1.0, _within(weight, start, end))
    columns: dict[str, Floats] = {}
    names = list(OF_WORDS)
    table = np.column_stack([scores.columns[name] for name in names])
    sums = _within(table * weight[:, None], start, end) / sizes[:, None]
    extreme = [place for place, name in enumerate(names) if "least" in OF_WORDS[name]]
    least = np.full((len(start), len(extreme)), np.inf)
    most = -least
    lows = np.where(counted[:, None], table[:, extreme], np.inf)
    highs = np.where(counted[:, None], table[:, extreme], -np.inf)
    for step in range(int((end - start).max())):
        inside = np.flatnonzero(start + step < end)
        at = start[inside] + step
        least[inside] = np.minimum(least[inside], lows[at])
        most[inside] = np.maximum(most[inside], highs[at])
    for place, name in enumerate(names):
        kinds = OF_WORDS[name]
        columns[f"mean_{name}"] = sums[:, place]
        columns[f"first_{name}"] = table[start, place]
        columns[f"last_{name}"] = table[end - 1, place]
        if "least" in kinds:
            columns[f"least_{name}"] = least[:, extreme.index(place)]
            columns[f"most_{name}"] = most[:, extreme.index(place)]
    return columns


def _of_occurrences(words: Words, traits: Traits, phrases: Phrases) -> dict[str, Floats]:
    """What all occurrences of a phrase, by its stems, have in common: count, context, place."""
    n = len(words.keys)
    start, end, kind = phrases.starts, phrases.ends, phrases.stemmed
    size = int(kind.max()) + 1
    count = np.bincount(kind, minlength=size).astype(np.float64)
    sentence, last_sentence = words.sentences, float(words.sentences[-1])
    before = np.maximum(start - 1, 0)
    after = np.minimum(end, n - 1)
    breaks = ~(traits.word | traits.glue)
    left_break = (start == 0) | breaks[before] | (sentence[before] != sentence[start])
    right_break = (end == n) | breaks[after] | (sentence[after] != sentence[end - 1])

    def share(flags: NDArray[np.bool_]) -> Floats:
        return np.asarray(np.bincount(kind, weights=flags, minlength=size) / count)

    first = np.full(size, n)
    np.minimum.at(first, kind, start)
    last = np.zeros(size, dtype=np.int64)
    np.maximum.at(last, kind, start)
    pairs = np.unique(kind * (int(last_sentence) + 1) + sentence[start])
    sentences = np.bincount(pairs // (int(last_sentence) + 1), minlength=size)
    of_kind = {
        "occurrences": np.log(count),
        "density": np.log(count / n * 500.0),
        "maximal_left": _longest_extension(phrases, count, n, left=True) / count,
        "maximal_right": _longest_extension(phrases, count, n, left=False) / count,
        "after_break": share(left_break),
        "before_break": share(right_break),
        "after_auxiliary": share(traits.auxiliary[before] & ~left_break),
        "before_auxiliary": share(traits.auxiliary[after] & ~right_break),
        "after_function": share(traits.stop[before] & ~left_break),
        "before_function": share(traits.stop[after] & ~right_break),
        "first_sentence_index": np.log1p(sentence[first]),
        "first_position": np.log1p(first),
        "relative_position": first / n,
        "in_first_sentence": (sentence[first] == 0).astype(np.float64),
        "at_start": (first == 0).astype(np.float64),
        "spread": (last - first) / n,
        "sentence_share": sentences / (last_sentence + 1.0),
    }
    own = kind[phrases.first]
    columns = {name: values[own] for name, values in of_kind.items()}
    columns["form_share"] = np.log(phrases.counts / count[own])
    times = phrases.counts

    def mean(values: Floats) -> Floats:
        sums = np.bincount(phrases.phrase, weights=values, minlength=len(phrases))
        return np.asarray(sums / times)

    for name, tag in TAGS.items():
        has = traits.tags == tag
        columns[f"first_{name}"] = mean(has[start])
        columns[f"last_{name}"] = mean(has[end - 1])
        columns[f"share_{name}"] = mean(
            _within(has.astype(np.float64), start, end) / (end - start)
        )
    columns["constituent"] = mean(_constituents(traits, start, end).astype(np.float64))
    return columns


def _of_make_up(
    words: Words, traits: Traits, phrases: Phrases, scores: TextScores, titles: TitleCounts
) -> dict[str, Floats]:
    """Numbers of words of each kind, and what titles say of them."""
    start, end = phrases.starts[phrases.first], phrases.ends[phrases.first]

    def number(flags: NDArray[Any]) -> Floats:
        return _within(flags.astype(np.float64), start, end)

    sizes = number(traits.word)
    chance = number(np.where(traits.word, scores.columns["chance"], 0.0))
    pairs = titles.of_pairs(words.stems[:-1], words.stems[1:])
    inside = np.concatenate([np.minimum(pairs, 3), [0]]).astype(np.float64)
    columns = {
        "words": sizes,
        "units": number(traits.unit),
        "function_words": number(traits.stop & traits.word),
        "other_edges": number(traits.edge & ~traits.unit),
        "glue": number(traits.glue),
        "opener": traits.opener[start].astype(np.float64),
        # the expected F1 of the words, were each in the title by itself
        "expected_overlap": 2.0 * chance / (sizes + titles.words),
        "title_pairs": _within(inside, start, end - 1),
        "text_words": np.full(len(start), np.log(len(words.keys))),
        "text_sentences": np.full(len(start), np.log1p(float(words.sentences[-1]))),
    }
    for size in range(1, MOST_WORDS + 1):
        columns[f"words_{size}"] = (sizes == size).astype(np.float64)
    return columns


def _within(values: Floats, start: Integers, end: Integers) -> Floats:
    """The sum of the values of each span of tokens."""
    before = np.zeros((1, *values.shape[1:]))
    sums = np.concatenate([before, np.cumsum(values, axis=0)])
    return np.asarray(sums[end] - sums[start])


def _longest_extension(phrases: Phrases, count: Floats, n: int, *, left: bool) -> Floats:
    """How often the most frequent phrase occurs that is one or two tokens longer on one side."""
    start, end, kind = phrases.starts, phrases.ends, phrases.stemmed
    codes = start * (n + 1) + end
    found = np.zeros(len(count))
    for step in (2, 1):
        wanted = (start - step) * (n + 1) + end if left else start * (n + 1) + end + step
        place = np.minimum(np.searchsorted(codes, wanted), len(codes) - 1)
        known = codes[place] == wanted
        np.maximum.at(found, kind[known], count[kind[place[known]]])
    return found


def _constituents(traits: Traits, start: Integers, end: Integers) -> NDArray[np.bool_]:
    """Whether exactly one token of each span depends on a token outside of it."""
    if not traits.parsed:
        return np.zeros(len(start), dtype=bool)
    outward = np.zeros(len(start), dtype=np.int64)
    for step in range(int((end - start).max(initial=0))):
        inside = np.flatnonzero(start + step < end)
        at = start[inside] + step
        head = traits.heads[at]
        outward[inside] += (head < start[inside]) | (head >= end[inside]) | (head == at)
    return np.asarray(outward == 1)
