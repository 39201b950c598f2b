"""Titled sections of open textbooks as decoding problems, under the paper's scoring and ours."""

from __future__ import annotations

import gzip
import json
import random
from collections.abc import Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import numpy as np
import spacy
from numpy.typing import NDArray

from spacy_decoders.budget import Budget
from spacy_decoders.components.headline.rouge import rouge
from spacy_decoders.components.headline.units import headline_of_words, title_words
from spacy_decoders.components.headline.words import read_words, word_keys
from spacy_decoders.decoders.path import ExactPath
from spacy_decoders.models.headline.corpus_model import HeadlineKnowledge
from spacy_decoders.models.headline.selection import (
    FEATURES,
    PAPER_FEATURES,
    fit_logistic,
    selection_features,
)
from spacy_decoders.models.headline.stems import Stemmer
from spacy_decoders.models.headline.word_graph import WordGraph, word_graph
from spacy_decoders.models.headline.words import Vertices, Words

__all__ = ["Section", "System", "lead_words", "read_sections", "top_words", "tuned"]

BOOKS = ("algoarch", "cpalgo", "ods", "pythonds")
SEED = 0
_NLP = spacy.blank("en")
_STEMMER = Stemmer("en")


@dataclass(frozen=True, eq=False)
class Section:
    """A section with its title; `length` is the title's number of content words."""

    title: str
    doc: Any
    words: Words
    vertices: Vertices
    title_words: list[tuple[str, bool]]
    title_stems: NDArray[np.uint64]

    @property
    def length(self) -> int:
        return min(sum(content for _, content in self.title_words), self.class_count)

    @property
    def class_count(self) -> int:
        return int(self.vertices.classes.max()) + 1


def read_sections(folder: Path) -> tuple[list[Section], list[Section]]:
    """Read all textbooks; the training part and the test part, split by a fixed seed."""
    sections = []
    for book in BOOKS:
        with gzip.open(folder / "headlines" / book / "sections.jsonl.gz", "rt") as lines:
            for line in lines:
                record = json.loads(line)
                doc = _NLP.make_doc(record["text"])
                words = read_words(doc, _STEMMER)
                title = title_words(record["title"], _NLP.Defaults.stop_words)
                stems = word_keys(_STEMMER.stems(w for w, content in title if content))
                vertices = Vertices.of(words)
                if len(stems) and len(vertices):
                    sections.append(Section(record["title"], doc, words, vertices, title, stems))
    random.Random(SEED).shuffle(sections)
    cut = int(0.7 * len(sections))
    return sections[:cut], sections[cut:]


@dataclass(frozen=True, eq=False)
class System:
    """A trained scoring of headlines.

    `paper`: log-probabilities of selection, from the paper's features, and of the language
    model, added up. Otherwise: all features, and the weights given.
    """

    knowledge: HeadlineKnowledge
    weights: NDArray[np.float64]
    columns: list[int]
    ordering: float
    contiguity: float
    ends: float
    auxiliaries: NDArray[np.uint64] = field(init=False)

    def __post_init__(self) -> None:
        object.__setattr__(self, "auxiliaries", word_keys(self.knowledge.auxiliaries))

    @classmethod
    def train(
        cls,
        sections: Sequence[Section],
        *,
        paper: bool = False,
        ordering: float = 0.1,
        contiguity: float = 1.0,
    ) -> System:
        """Count and fit on training sections alone."""
        knowledge = HeadlineKnowledge.count(
            [s.words for s in sections],
            [s.title_words for s in sections],
            [s.title_stems for s in sections],
            "en",
        )
        columns = [FEATURES.index(name) for name in (PAPER_FEATURES if paper else FEATURES)]
        labels = [np.isin(s.vertices.stems, s.title_stems) for s in sections]
        tables = [
            selection_features(s.words, s.vertices, knowledge.corpus, title=chosen)[:, columns]
            for s, chosen in zip(sections, labels, strict=True)
        ]
        weights = fit_logistic(np.concatenate(tables), np.concatenate(labels))
        if paper:
            return cls(knowledge, weights, columns, 1.0, 0.0, 1.0)
        return cls(knowledge, weights, columns, ordering, contiguity, 0.0)

    def selection(self, section: Section) -> NDArray[np.float64]:
        """The log-probability of each word's being in the title."""
        corpus = self.knowledge.corpus
        table = selection_features(section.words, section.vertices, corpus)
        return -np.logaddexp(0.0, -(table[:, self.columns] @ self.weights))

    def graph(self, section: Section) -> WordGraph:
        """The decoding problem of a section."""
        model = self.knowledge.language_model
        assert model is not None
        return word_graph(
            section.words,
            section.vertices,
            self.selection(section),
            model,
            self.auxiliaries,
            ordering=self.ordering,
            contiguity=self.contiguity,
            edge_ordering=self.ends,
        )

    def headline(self, section: Section, length: int | None = None) -> str:
        """The best headline, of the title's own length unless told."""
        graph = self.graph(section)
        wanted = min(length or section.length, section.class_count)
        solution = ExactPath().decode(graph.problem, wanted, budget=Budget(seconds=1))
        return self.text(section, graph, solution.vertices)

    def automatic(self, section: Section) -> str:
        """The best headline of the length with the best mean score per step."""
        graph = self.graph(section)
        least, most = self.knowledge.lengths
        most = min(most, section.class_count)
        lengths = list(range(min(least, most), most + 1))
        found = ExactPath().decode_lengths(graph.problem, lengths, budget=Budget(seconds=1))
        best = max(found, key=lambda s: s.certificate.score / max(len(s.vertices) - 1, 0.5))
        return self.text(section, graph, best.vertices)

    def text(self, section: Section, graph: WordGraph, path: NDArray[np.int32]) -> str:
        """Put a path into words."""
        words = self.knowledge.auxiliaries
        between = [words[x] if x >= 0 else "" for x in graph.via[path[:-1], path[1:]]]
        read = (section.words, section.vertices)
        certificate: Any = None
        return headline_of_words(section.doc, path.tolist(), *read, between, certificate).text


def tuned(sections: Sequence[Section], *, quick: bool) -> tuple[System, dict[str, float]]:
    """Choose the weights by cross-validation on the training part alone, then train."""
    count = 2 if quick else 4
    parts = [sections[part::count] for part in range(count)]
    folds = [
        ([section for other in parts if other is not part for section in other], part)
        for part in parts
    ]
    systems = [System.train(train) for train, _ in folds]
    orderings, bonuses = ((0.1,), (0.5, 1.0)) if quick else ((0.05, 0.1, 0.2), (0.5, 1.0, 2.0))
    scores = {}
    for ordering in orderings:
        for contiguity in bonuses:
            results = [
                rouge(
                    section.title, with_weights(system, ordering, contiguity).headline(section)
                ).rougeL
                for system, (_, held_out) in zip(systems, folds, strict=True)
                for section in held_out
            ]
            scores[ordering, contiguity] = float(np.mean(results))
    ordering, contiguity = max(scores, key=lambda key: scores[key])
    chosen = System.train(sections, ordering=ordering, contiguity=contiguity)
    return chosen, {f"ordering {o}, contiguity {c}": score for (o, c), score in scores.items()}


def with_weights(system: System, ordering: float, contiguity: float) -> System:
    """The same system with other weights."""
    return System(
        system.knowledge, system.weights, system.columns, ordering, contiguity, system.ends
    )


def top_words(system: System, section: Section) -> str:
    """The words of highest selection score, one of each class, in source order."""
    chosen: dict[int, int] = {}
    for vertex in np.argsort(-system.selection(section), kind="stable").tolist():
        chosen.setdefault(int(section.vertices.classes[vertex]), vertex)
        if len(chosen) == section.length:
            break
    first = sorted(int(section.vertices.first[vertex]) for vertex in chosen.values())
    return " ".join(section.doc[place].text for place in first)


def lead_words(section: Section) -> str:
    """The text from its first content word to as many as the title has."""
    places = np.flatnonzero(section.words.content)[: section.length]
    return str(section.doc[int(places[0]) : int(places[-1]) + 1].text)
