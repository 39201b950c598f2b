"""The features by which the phrases of headlines are scored, of several texts at once."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray

from .corpus_counts import CorpusCounts
from .laid_out import LaidOut, ReadText
from .title_counts import TitleCounts

__all__ = ["PHRASE_FEATURES", "features_of", "phrase_features"]

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


def phrase_features(
    texts: Sequence[ReadText], corpus: CorpusCounts, titles: TitleCounts
) -> list[Floats]:
    """Compute the features of the chosen phrases of each text.

    Parameters
    ----------
    texts
        The texts.
    corpus, titles
        Counts of other texts and titles.

    Returns
    -------
    Of each text its features, in the order of `PHRASE_FEATURES`. **Shape of each:**
    ``(chosen, len(PHRASE_FEATURES))``
    """
    if not texts:
        return []
    laid = LaidOut.of(texts)
    table = features_of(laid, _token_scores(texts, laid, corpus, titles), titles)
    return np.split(table, np.cumsum([len(text.chosen) for text in texts])[:-1])


def _token_scores(
    texts: Sequence[ReadText], laid: LaidOut, corpus: CorpusCounts, titles: TitleCounts
) -> dict[str, Floats]:
    """Scores of each token by its stem, with the names of `OF_WORDS`."""
    from .kernels.words import count_kinds

    words, traits, stems, n = laid.words, laid.traits, laid.stems, len(laid.text)
    keys, of_text = words.stems[laid.first], laid.text[laid.first]
    count = laid.counts.astype(np.float64)
    seen_in, _, total = corpus.look_up(keys)
    totals, seen = np.full(len(keys), total), titles.of_stems(keys).astype(np.float64)
    for number, text in enumerate(texts):
        if text.own is not None:
            mine = of_text == number
            seen_in[mine] = np.maximum(seen_in[mine] - 1, 0)
            totals[mine] = max(total - 1, 0)
            for column, given in enumerate((text.own, text.own[:1], text.own[-1:])):
                seen[mine, column] -= np.isin(keys[mine], given)
    seen = np.maximum(seen, 0.0)
    rarity = np.where(totals > 0, np.log((totals + 1.0) / (seen_in + 1.0)) / 3.0, 1.0)
    rates = [
        np.log((seen[:, column] + 0.2) / (seen_in + smooth) * scale) * (titles.size > 0)
        for column, smooth, scale in ((0, 4.0, 20.0), (1, 8.0, 40.0), (2, 8.0, 40.0))
    ]
    sentences = _sentences(laid)[of_text]
    spread = count_kinds(stems, words.sentences, len(keys))[1] / sentences
    vertices = np.cumsum([0, *(len(text.vertices) for text in texts)])
    of_token = np.concatenate([text.vertices.of_token for text in texts])
    inside = of_token >= 0
    odds = np.concatenate([text.odds for text in texts])
    chance = np.full(n, 0.02)
    chance[inside] = 1.0 / (1.0 + np.exp(-odds[(of_token + vertices[laid.text])[inside]]))
    left, right = np.zeros(n, bool), np.zeros(n, bool)
    left[1:], right[:-1] = traits.auxiliary[:-1], traits.auxiliary[1:]
    full = laid.sizes > 0
    left[laid.begins[full]], right[(laid.begins + laid.sizes)[full] - 1] = False, False
    # the shares of rare words tend to the usual one
    after, onward = (
        (np.bincount(stems, weights=side, minlength=len(keys)) + 0.3) / (count + 1.0)
        for side in (left, right)
    )
    by_stem = {
        "count": np.log(count), "rarity": rarity, "tfidf": np.log(count) * rarity,
        "title_rate": rates[0], "opens_titles": rates[1], "ends_titles": rates[2],
        "sentences": spread, "first_sentence": np.log1p(words.sentences[laid.first]),
        "after_article": after, "before_preposition": onward,
        "unknown": ((seen_in == 0) & (totals > 0)).astype(np.float64),
    }  # fmt: skip
    return {
        **{name: values[stems] for name, values in by_stem.items()},
        "chance": chance,
        "capital": words.capital.astype(np.float64),
        "entity": words.entity.astype(np.float64),
    }


def features_of(laid: LaidOut, scores: dict[str, Floats], titles: TitleCounts) -> Floats:
    """The features of chosen phrases, from scores of tokens with the names of `OF_WORDS`.

    **Shape:** ``(n, len(PHRASE_FEATURES))``
    """
    chosen = laid.chosen
    if not len(chosen):
        return np.zeros((0, len(PHRASE_FEATURES)))
    every = _of_all(laid, scores, titles)
    columns: dict[str, Any] = {name: values[chosen] for name, values in every.items()}
    for name in COMPARED:
        best = _most(every[name], laid.text_of_phrase, len(laid.sizes))
        columns[f"{name}_behind"] = best[laid.text_of_phrase[chosen]] - columns[name]
    at = laid.first_of_phrase[chosen]
    starts, ends = laid.starts[at], laid.ends[at]
    text = laid.text_of_phrase[chosen]
    columns |= _of_words(laid, scores, starts, ends)
    columns |= _of_kinds(laid, chosen)
    columns |= _of_occurrences(laid, chosen)
    columns |= _of_texts(laid, scores, every["occurrences"])
    for name in OF_TEXTS:
        columns[name] = columns[name][text]
        columns[f"{name}_by_words"] = (columns[name] - OF_TEXTS[name]) * columns["words"]
    pairs = titles.of_pairs(laid.words.stems[:-1], laid.words.stems[1:])
    known = np.append(np.minimum(pairs, 3), 0)
    columns["title_pairs"] = _sums(known, starts, ends - 1)
    return np.column_stack([columns[name] for name in PHRASE_FEATURES]).astype(np.float64)


def _of_all(laid: LaidOut, scores: dict[str, Floats], titles: TitleCounts) -> dict[str, Floats]:
    """Features of all phrases: those that are compared with the best of the text."""
    starts, ends = laid.starts[laid.first_of_phrase], laid.ends[laid.first_of_phrase]
    stemmed, begins = laid.stemmed[laid.first_of_phrase], laid.begins[laid.text_of_phrase]
    word, unit = laid.traits.word, laid.traits.unit
    # the first occurrence of a phrase by stems is that of its first spelling
    first = np.zeros(len(np.bincount(laid.stemmed)), np.int64)
    first[laid.stemmed[::-1]] = laid.starts[::-1]
    units = np.maximum(_sums(unit, starts, ends), 1)
    count = np.bincount(laid.stemmed)[stemmed]
    words, chances = _sums(word, starts, ends), _sums(word * scores["chance"], starts, ends)
    found = {
        "occurrences": np.log(count),
        # the expected F1 of the words, each by itself
        "expected_overlap": 2.0 * chances / (words + titles.words),
        "last_ends_titles": scores["ends_titles"][ends - 1],
        "first_position": np.log1p(first[stemmed] - begins),
    }
    for name in ("chance", "tfidf", "title_rate"):
        found[f"mean_{name}"] = _sums(unit * scores[name], starts, ends) / units
    return found


def _of_words(
    laid: LaidOut, scores: dict[str, Floats], starts: Integers, ends: Integers
) -> dict[str, Floats]:
    """Mean, first, last, least and greatest of the scores of words, and how many of each kind."""
    table = np.column_stack([scores[name] for name in OF_WORDS])
    traits = laid.traits
    unit, (places, rows) = traits.unit, _within(starts, ends)
    units = np.maximum(_sums(unit, starts, ends), 1)
    values, counted = table[places], unit[places, None]
    kinds = {
        "mean": _sums(table * unit[:, None], starts, ends) / units[:, None],
        "first": table[starts],
        "last": table[ends - 1],
        "least": np.minimum.reduceat(np.where(counted, values, np.inf), rows),
        "most": np.maximum.reduceat(np.where(counted, values, -np.inf), rows),
    }
    found = {
        f"{kind}_{name}": kinds[kind][:, column]
        for column, (name, of) in enumerate(OF_WORDS.items())
        for kind in of
    }
    words = _sums(traits.word, starts, ends)
    sizes = {f"words_{size}": words == size for size in range(1, MOST_COUNTED + 1)}
    return {
        **found,
        **sizes,
        "words": words,
        "units": _sums(unit, starts, ends),
        "glue": _sums(traits.glue, starts, ends),
        "function_words": _sums(traits.stop & traits.word, starts, ends),
        "other_edges": _sums(traits.edge & ~unit, starts, ends),
        "opener": traits.opener[starts],
    }


def _of_kinds(laid: LaidOut, chosen: Integers) -> dict[str, Floats]:
    """What all occurrences of a phrase by stems have in common, and what is beside them."""
    n, traits, sentences = len(laid.text), laid.traits, laid.words.sentences
    stemmed = laid.stemmed[laid.first_of_phrase[chosen]]
    counts = np.bincount(laid.stemmed)
    wanted = np.zeros(len(counts), bool)
    wanted[stemmed] = True
    own = np.flatnonzero(wanted[laid.stemmed])
    starts, ends, kinds = laid.starts[own], laid.ends[own], laid.stemmed[own]
    count, text = counts[stemmed], laid.text_of_phrase[chosen]
    first, last = np.zeros(len(counts), np.int64), np.zeros(len(counts), np.int64)
    first[kinds[::-1]], last[kinds] = starts[::-1], starts
    place = first[stemmed] - laid.begins[text]
    size, sentence = laid.sizes[text], sentences[first[stemmed]]
    different = np.unique(kinds * (n + 1) + laid.begins[laid.text[starts]] + sentences[starts])
    spread = np.bincount(different // (n + 1), minlength=len(counts))[stemmed]
    found: dict[str, Any] = {
        "density": np.log(count / size * 500.0),
        "first_sentence_index": np.log1p(sentence),
        "relative_position": place / size,
        "in_first_sentence": sentence == 0,
        "at_start": place == 0,
        "spread": (last[stemmed] - first[stemmed]) / size,
        "sentence_share": spread / _sentences(laid)[text],
        "form_share": np.log(laid.times[chosen] / count),
    }
    codes = laid.starts * (n + 1) + laid.ends  # ascending
    readable = traits.word | traits.glue
    for side, beside in (("left", starts - 1), ("right", ends)):
        inner = starts if side == "left" else ends - 1
        outside = np.clip(beside, 0, n - 1)
        whole = (outside == beside) & (laid.text[outside] == laid.text[inner])
        whole &= (sentences[outside] == sentences[inner]) & readable[outside]
        where = "after" if side == "left" else "before"
        for name, those in (
            ("break", ~whole),
            ("auxiliary", whole & traits.auxiliary[outside]),
            ("function", whole & traits.stop[outside]),
        ):
            share = np.bincount(kinds, weights=those, minlength=len(counts))[stemmed]
            found[f"{where}_{name}"] = share / count
        # how often the most frequent phrase occurs that is a token or two longer on this side
        longer = np.zeros(len(counts), np.int64)
        for step in (1, 2):
            code = (starts - step) * (n + 1) + ends if side == "left" else starts * (n + 1) + ends
            code += step * (side == "right")
            at = np.minimum(np.searchsorted(codes, code), len(codes) - 1)
            there = codes[at] == code
            np.maximum.at(longer, kinds[there], counts[laid.stemmed[at[there]]])
        found[f"maximal_{side}"] = longer[stemmed] / count
    return found


def _of_occurrences(laid: LaidOut, chosen: Integers) -> dict[str, Floats]:
    """Parts of speech, and the share of occurrences that are constituents."""
    number = np.full(len(laid.times), -1)
    number[chosen] = np.arange(len(chosen))
    of = number[laid.phrase]
    own = np.argsort(of, kind="stable")[np.count_nonzero(of < 0) :]
    starts, ends, of = laid.starts[own], laid.ends[own], of[own]
    begins = np.searchsorted(of, np.arange(len(chosen)))
    tags = laid.traits.tags[:, None] == np.array(list(TAGS.values()))
    shares = _sums(tags, starts, ends) / (ends - starts)[:, None]
    found: dict[str, Any] = {}
    for place, values in (("first", tags[starts]), ("last", tags[ends - 1]), ("share", shares)):
        total = np.add.reduceat(values.astype(np.float64), begins)
        for column, tag in enumerate(TAGS):
            found[f"{place}_{tag}"] = total[:, column] / laid.times[chosen]
    found["constituent"] = np.zeros(len(chosen))
    if laid.parsed.any():
        places, rows = _within(starts, ends)
        heads, lengths = laid.traits.heads[places], ends - starts
        low, high = np.repeat(starts, lengths), np.repeat(ends, lengths)
        outward = (heads < low) | (heads >= high) | (heads == places)
        whole = np.add.reduceat(outward.astype(np.int64), rows) == 1
        whole &= laid.parsed[starts]
        found["constituent"] = np.bincount(of, weights=whole, minlength=len(chosen))
        found["constituent"] /= laid.times[chosen]
    return found


def _of_texts(laid: LaidOut, scores: dict[str, Floats], occurrences: Floats) -> dict[str, Floats]:
    """What each text is like."""
    texts, traits = len(laid.sizes), laid.traits

    def mean(values: NDArray[Any], among: NDArray[np.bool_]) -> Floats:
        total = np.bincount(laid.text, weights=values * among, minlength=texts)
        return total / np.maximum(np.bincount(laid.text, weights=among, minlength=texts), 1)

    size, sentences = np.log(np.maximum(laid.sizes, 1)), np.log1p(_sentences(laid) - 1.0)
    return {
        "text_words": size,
        "text_sentences": sentences,
        "sentence_words": size - sentences,
        "text_rarity": mean(scores["rarity"], traits.unit),
        "text_unknown": mean(scores["unknown"], traits.unit),
        "text_capital": mean(laid.words.capital, traits.unit),
        "text_function_words": mean(traits.stop, traits.word),
        "text_repetition": _most(occurrences, laid.text_of_phrase, texts),
    }


def _sentences(laid: LaidOut) -> Floats:
    """The number of sentences of each text, 1 at least."""
    found = np.ones(len(laid.sizes))
    full = laid.sizes > 0
    found[full] = laid.words.sentences[(laid.begins + laid.sizes)[full] - 1] + 1
    return found


def _most(values: Floats, text: Integers, texts: int) -> Floats:
    """The greatest value of each text; 0 where it has none."""
    found = np.full(texts, -np.inf)
    with np.errstate(invalid="ignore"):  # damaged weights: they are refused where they decide
        np.maximum.at(found, text, values)
    return np.where(np.isfinite(found), found, 0.0)


def _sums(values: NDArray[Any], starts: Integers, ends: Integers) -> NDArray[Any]:
    """The sums of some columns over tokens from each start on, before each end."""
    total = np.zeros((len(values) + 1, *values.shape[1:]), np.result_type(values.dtype, np.int64))
    np.cumsum(values, axis=0, out=total[1:])
    return np.asarray(total[ends] - total[starts])


def _within(starts: Integers, ends: Integers) -> tuple[Integers, Integers]:
    """The tokens of phrases, laid end to end, and where those of each begin."""
    lengths = ends - starts
    rows = np.cumsum(lengths) - lengths
    return np.arange(lengths.sum()) + np.repeat(starts - rows, lengths), rows
