"""Which words of a text belong in its headline: features and a logistic model."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from ...errors import ProblemError
from .words import Vertices, Words

__all__ = ["FEATURES", "PAPER_FEATURES", "CorpusCounts", "fit_logistic", "selection_features"]

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

#: What the paper names: where the stem occurs first, and its TF*IDF.
PAPER_FEATURES = ("bias", "first_sentence_index", "tfidf")


@dataclass(frozen=True, eq=False)
class CorpusCounts:
    """In how many texts, and titles, each stem occurs.

    Attributes
    ----------
    stems
        Ascending keys. **Shape:** ``(stems,)``
    texts, titles
        How many texts have the stem, and how many of their titles. **Shape:** ``(stems,)``
    size
        How many texts there are.
    """

    stems: NDArray[np.uint64]
    texts: NDArray[np.int64]
    titles: NDArray[np.int64]
    size: int

    @classmethod
    def count(
        cls, texts: Sequence[NDArray[np.uint64]], titles: Sequence[NDArray[np.uint64]]
    ) -> CorpusCounts:
        """Count the different stems of each text, and those of its title that it has."""
        in_text = [np.unique(stems) for stems in texts]
        in_title = [
            np.intersect1d(stems, title) for stems, title in zip(in_text, titles, strict=True)
        ]
        nothing = np.empty(0, dtype=np.uint64)
        stems, counts = np.unique(np.concatenate([nothing, *in_text]), return_counts=True)
        chosen, times = np.unique(np.concatenate([nothing, *in_title]), return_counts=True)
        titled = np.zeros(len(stems), dtype=np.int64)
        titled[np.searchsorted(stems, chosen)] = times
        return cls(stems, counts, titled, len(in_text))

    @classmethod
    def empty(cls) -> CorpusCounts:
        """The counts of no text."""
        nothing = np.empty(0, dtype=np.int64)
        return cls(nothing.astype(np.uint64), nothing, nothing, 0)

    def look_up(
        self, stems: NDArray[np.uint64], *, without: NDArray[np.bool_] | None = None
    ) -> tuple[NDArray[np.int64], NDArray[np.int64], int]:
        """Texts and titles with each stem, and the number of texts.

        Parameters
        ----------
        without
            If given, one text that has all these stems, and in its title those where
            `without` is true, is left out: what a text's own features must not know.
        """
        texts = np.zeros(len(stems), dtype=np.int64)
        titles = np.zeros(len(stems), dtype=np.int64)
        if self.size:
            place = np.minimum(np.searchsorted(self.stems, stems), len(self.stems) - 1)
            known = self.stems[place] == stems
            texts[known] = self.texts[place[known]]
            titles[known] = self.titles[place[known]]
        if without is None:
            return texts, titles, self.size
        return np.maximum(texts - 1, 0), np.maximum(titles - without, 0), max(self.size - 1, 0)

    def arrays(self) -> dict[str, Any]:
        """The fields by name, for saving; the constructor takes them back."""
        return {name: getattr(self, name) for name in self.__dataclass_fields__}


def selection_features(
    words: Words,
    vertices: Vertices,
    corpus: CorpusCounts,
    *,
    title: NDArray[np.bool_] | None = None,
) -> Floats:
    """Describe each vertex, by its stem where the paper does so.

    Parameters
    ----------
    words, vertices
        The text.
    corpus
        What other texts say about the stems.
    title
        In training, which vertices have a stem of the title: the text's own part in the
        corpus counts is then left out.

    Returns
    -------
    Features, in the order of `FEATURES`. **Shape:** ``(n, len(FEATURES))``
    """
    n, classes = len(vertices), vertices.classes
    table = np.zeros((n, len(FEATURES)))
    if not n:
        return table
    kinds = int(classes.max()) + 1
    tokens = np.flatnonzero(vertices.of_token >= 0)
    vertex = vertices.of_token[tokens]
    stem = classes[vertex]
    count = np.bincount(stem, minlength=kinds).astype(np.float64)
    first = np.full(kinds, len(words.keys))
    np.minimum.at(first, stem, tokens)
    sentence = words.sentences[first]
    pairs = np.unique(stem * (int(words.sentences[-1]) + 1) + words.sentences[tokens])
    spread = np.bincount(pairs // (int(words.sentences[-1]) + 1), minlength=kinds)
    texts, titles, size = corpus.look_up(vertices.stems, without=title)
    idf = np.log((size + 1.0) / (texts + 1.0)) if size else np.zeros(n)
    mean_rate = (corpus.titles.sum() + 1.0) / (corpus.texts.sum() + 50.0)
    rate = (titles + 4.0 * mean_rate) / (texts + 4.0)
    frequency = np.log1p(count)[classes]
    share = np.bincount(vertex, minlength=n)
    early = 1.0 / (1.0 + sentence)
    columns = {
        "bias": 1.0,
        "first_sentence_index": np.log1p(sentence)[classes],
        "tfidf": frequency * idf / 5.0,
        "idf": idf / 5.0,
        "frequency": frequency,
        "in_first_sentence": (sentence == 0)[classes],
        "first_position": np.log1p(first - first.min())[classes] / 5.0,
        "spread": (spread / (words.sentences[-1] + 1.0))[classes],
        "form_share": np.log(vertices.counts / count[classes]),
        "capital_share": _share(words.capital, tokens, vertex, share),
        "entity": _share(words.entity, tokens, vertex, share),
        "noun": _share(words.kinds == 1, tokens, vertex, share),
        "proper_noun": _share(words.kinds == 2, tokens, vertex, share),
        "verb": _share(words.kinds == 3, tokens, vertex, share),
        "adjective": _share(words.kinds == 4, tokens, vertex, share),
        "phrase": np.log1p(_phrases(words, vertices)),
        "title_rate": np.log(rate / mean_rate) if size else 0.0,
        "early_and_frequent": early[classes] * frequency,
    }
    for place, name in enumerate(FEATURES):
        if name in columns:
            table[:, place] = columns[name]
    return table


def _share(
    flags: NDArray[np.bool_],
    tokens: NDArray[np.int64],
    vertex: NDArray[np.int64],
    counts: NDArray[np.int64],
) -> Floats:
    """The share of each vertex's tokens that have the flag."""
    return np.bincount(vertex, weights=flags[tokens], minlength=len(counts)) / counts


def _phrases(words: Words, vertices: Vertices) -> Floats:
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


def fit_logistic(
    features: Floats, labels: NDArray[np.bool_], *, ridge: float = 1.0, iterations: int = 50
) -> Floats:
    """Fit logistic regression (a maximum-entropy model) by Newton's method.

    Parameters
    ----------
    features
        **Shape:** ``(samples, features)``
    labels
        **Shape:** ``(samples,)``
    ridge
        Weight of the squared penalty, which keeps every weight finite.

    Returns
    -------
    The weights. **Shape:** ``(features,)``

    Raises
    ------
    ProblemError
        If there are no samples of both labels.

    Examples
    --------
    >>> x = np.array([[1.0, 0.0], [1.0, 1.0], [1.0, 2.0], [1.0, 3.0]])
    >>> weights = fit_logistic(x, np.array([False, True, False, True]), ridge=0.1)
    >>> bool(weights[1] > 0)
    True
    """
    if labels.all() or not labels.any():
        raise ProblemError(
            "labels: words inside and outside of headlines are needed to learn from; none of "
            f"{len(labels)} differ. Give documents with headlines made of their own words."
        )
    weights = np.zeros(features.shape[1])
    for _ in range(iterations):
        odds = features @ weights
        chance = 1.0 / (1.0 + np.exp(-np.clip(odds, -30.0, 30.0)))
        gradient = features.T @ (labels - chance) - ridge * weights
        curvature = (features * (chance * (1.0 - chance))[:, None]).T @ features
        step = np.linalg.solve(curvature + ridge * np.eye(len(weights)), gradient)
        # a bounded step: Newton's method overshoots where all chances are close to 0 or 1
        weights += step * min(1.0, 5.0 / max(1e-12, float(np.abs(step).max())))
        if np.abs(step).max() < 1e-8:
            break
    return weights
