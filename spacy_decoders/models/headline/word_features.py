"""The features by which the words of a headline are selected."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

from .knowledge import HeadlineKnowledge
from .words import Vertices, Words

__all__ = ["FEATURES", "PAPER_FEATURES", "word_features"]

Floats = NDArray[np.float64]

#: All features, in the order of the columns.
FEATURES = (
    "bias",
    "first_sentence_index",
    "tfidf",
    "idf",
    "frequency",
    "in_first_sentence",
    "first_position",
    "spread",
    "form_share",
    "capital_share",
    "entity",
    "noun",
    "proper_noun",
    "verb",
    "adjective",
    "phrase",
    "title_rate",
    "early_and_frequent",
)

#: The features of the paper: where the stem occurs first, and its TF*IDF.
PAPER_FEATURES = ("bias", "first_sentence_index", "tfidf")


def word_features(words: Words, vertices: Vertices, knowledge: HeadlineKnowledge) -> Floats:
    """Compute the features of each vertex, given counts of other texts; by stem as in the paper.

    **Shape:** ``(n, len(FEATURES))``
    """
    from .kernels.words import count_kinds

    n, classes = len(vertices), vertices.classes
    table = np.zeros((n, len(FEATURES)))
    if not n:
        return table
    kinds = int(classes.max()) + 1
    tokens = np.flatnonzero(vertices.of_token >= 0)
    vertex = vertices.of_token[tokens]
    stem = classes[vertex]
    count = np.bincount(stem, minlength=kinds).astype(np.float64)
    places, spread = count_kinds(stem, words.sentences[tokens], kinds)
    first = tokens[places]
    sentence = words.sentences[first]
    (texts, titles), size = knowledge.look_up(vertices.stems), knowledge.size
    idf = np.log((size + 1.0) / (texts + 1.0)) if size else np.zeros(n)
    of_texts = knowledge.titles[knowledge.texts > 0, 0].sum()
    mean_rate = (of_texts + 1.0) / (knowledge.texts.sum() + 50.0)
    rate = (titles[:, 0] + 4.0 * mean_rate) / (texts + 4.0)
    frequency = np.log1p(count)[classes]
    share = np.bincount(vertex, minlength=n)
    early = 1.0 / (1.0 + sentence)
    columns: dict[str, Any] = {
        "bias": 1.0,
        "first_sentence_index": np.log1p(sentence)[classes],
        "tfidf": frequency * idf / 5.0,
        "idf": idf / 5.0,
        "frequency": frequency,
        "in_first_sentence": (sentence == 0)[classes],
        "first_position": np.log1p(first - first.min())[classes] / 5.0,
        "spread": (spread / (words.sentences[-1] + 1.0))[classes],
        "form_share": np.log(vertices.counts / count[classes]),
        "phrase": np.log1p(_phrases(vertices)),
        "title_rate": np.log(rate / mean_rate) if size else 0.0,
        "early_and_frequent": early[classes] * frequency,
    }
    flags = {
        "capital_share": words.capital,
        "entity": words.entity,
        "noun": words.kinds == 1,
        "proper_noun": words.kinds == 2,
        "verb": words.kinds == 3,
        "adjective": words.kinds == 4,
    }
    for name, flag in flags.items():
        # the share of each vertex's tokens that have it
        columns[name] = np.bincount(vertex, weights=flag[tokens], minlength=n) / share
    for place, name in enumerate(FEATURES):
        table[:, place] = columns[name]
    return table


def _phrases(vertices: Vertices) -> Floats:
    """How often, beyond once, each vertex occurs in its most repeated pair of neighbours."""
    of = vertices.of_token
    near = np.flatnonzero((of[:-1] >= 0) & (of[1:] >= 0))
    n = len(vertices)
    pairs, counts = np.unique(of[near] * n + of[near + 1], return_counts=True)
    most = np.zeros(n)
    repeated = counts > 1
    for side in np.divmod(pairs[repeated], n):
        np.maximum.at(most, side, counts[repeated] - 1)
    return most
