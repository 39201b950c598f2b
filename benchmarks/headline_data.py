"""Titled sections of open textbooks, and `headline_generator` in mode "words" trained on them."""

from __future__ import annotations

import random
from collections.abc import Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import numpy as np
import spacy
from spacy.tokens import Doc
from spacy.training import Example

from spacy_decoders.components.headline.generator import HeadlineGenerator
from spacy_decoders.components.headline.headlines import title_words
from spacy_decoders.components.headline.reading import read_words
from spacy_decoders.components.headline.rouge import rouge
from spacy_decoders.decoders.path import Beam, PathProblem, PathSolution
from spacy_decoders.models.headline.stems import Stemmer
from spacy_decoders.models.headline.word_features import PAPER_FEATURES
from spacy_decoders.readers.headlines import HeadlineCorpus

__all__ = [
    "BOOKS", "NLP", "PAPER", "Given", "Section", "headlines", "lead_words", "problem_of",
    "read_sections", "sections_of", "top_words", "trained", "tuned",
]  # fmt: skip

BOOKS = ("algoarch", "cpalgo", "ods", "pythonds")
SEED = 0
NLP = spacy.blank("en")
STEMMER = Stemmer("en")
#: The paper's scoring: log-probabilities of selection and of the language model, added up.
PAPER = {
    "model": {
        "@architectures": "spacy-decoders.WordSelection.v1",
        "features": list(PAPER_FEATURES),
    },
    "ordering": 1.0,
    "contiguity": 0.0,
    "ends": 1.0,
}


@dataclass(frozen=True, eq=False)
class Section:
    """A section with its title; `length` is the title's number of content words."""

    title: str
    example: Example
    length: int

    @property
    def doc(self) -> Doc:
        return self.example.predicted


@dataclass
class Given:
    """In the place of a decoder: notes the problem, and hands over the solution that it holds."""

    solution: PathSolution | None = None
    problems: list[tuple[PathProblem, int]] = field(default_factory=list)

    def decode_lengths(self, problem: PathProblem, lengths: Sequence[int], **_: Any) -> list[Any]:
        self.problems.append((problem, lengths[-1]))
        return [self.solution or Beam(1).decode(problem, lengths[-1])]

    def k_best(self, *_: Any, **__: Any) -> list[PathSolution]:
        raise NotImplementedError


def sections_of(folder: Path, book: str) -> list[Example]:
    """The sections of a book, without the titles that some of them begin with."""
    path = folder / "headlines" / book / "sections.jsonl.gz"
    return list(HeadlineCorpus(path, strip_title=True)(NLP))


def read_sections(folder: Path) -> tuple[list[Section], list[Section]]:
    """Read all textbooks; the training part and the test part, split by a fixed seed."""
    sections = []
    for book in BOOKS:
        for example in sections_of(folder, book):
            title = example.reference._.headline
            wanted = sum(
                of_content for _, of_content in title_words(title, NLP.Defaults.stop_words)
            )
            if wanted and read_words(example.predicted, STEMMER).content.any():
                sections.append(Section(title, example, wanted))
    random.Random(SEED).shuffle(sections)
    cut = int(0.7 * len(sections))
    return sections[:cut], sections[cut:]


def trained(sections: Sequence[Section], **config: Any) -> HeadlineGenerator:
    """Count and fit a component on training sections alone."""
    nlp = spacy.blank("en")
    config = {"iterations": None, "mode": "words", **config}
    pipe: Any = nlp.add_pipe("headline_generator", config=config)
    nlp.initialize(lambda: [section.example for section in sections])
    return pipe


def problem_of(pipe: HeadlineGenerator, section: Section) -> tuple[PathProblem, int]:
    """The decoding problem of a section, at its title's own length, as the component makes it."""
    given = Given()
    headlines(pipe, [section], decoder=given)
    return given.problems[-1]


def headlines(pipe: HeadlineGenerator, sections: Sequence[Section], **options: Any) -> list[str]:
    """The component's headlines of the titles' own lengths, unless the options say otherwise."""
    before = {name: getattr(pipe, name) for name in {"length", *options}}
    written = []
    for section in sections:
        pipe.configure(**{"length": section.length, **options})
        written.append(pipe(section.doc.copy())._.headline)
    pipe.configure(**before)
    return written


def tuned(
    sections: Sequence[Section], *, quick: bool
) -> tuple[HeadlineGenerator, dict[str, float]]:
    """Choose the weights by cross-validation on the training part alone, then train."""
    count = 2 if quick else 4
    parts = [sections[part::count] for part in range(count)]
    pipes = [
        trained([section for other in parts if other is not part for section in other])
        for part in parts
    ]
    orderings, bonuses = ((0.1,), (0.5, 1.0)) if quick else ((0.05, 0.1, 0.2), (0.5, 1.0, 2.0))
    scores = {}
    for ordering in orderings:
        for contiguity in bonuses:
            weights = {"ordering": ordering, "contiguity": contiguity}
            found = [
                rouges(pipe, part, **weights) for pipe, part in zip(pipes, parts, strict=True)
            ]
            scores[ordering, contiguity] = float(np.mean(np.concatenate(found)))
    ordering, contiguity = max(scores, key=lambda key: scores[key])
    chosen = trained(sections, ordering=ordering, contiguity=contiguity)
    return chosen, {f"ordering {o}, contiguity {c}": score for (o, c), score in scores.items()}


def rouges(pipe: HeadlineGenerator, sections: Sequence[Section], **options: Any) -> list[float]:
    """ROUGE-L of each section's headline."""
    written = headlines(pipe, sections, **options)
    return [
        rouge(section.title, headline).rougeL
        for section, headline in zip(sections, written, strict=True)
    ]


def top_words(pipe: HeadlineGenerator, section: Section) -> str:
    """The words of highest selection score, one of each class, in source order."""
    ((scored,),) = pipe.predict([section.doc])
    vertices = scored.vertices
    chosen: dict[int, int] = {}
    for vertex in np.argsort(-scored.odds, kind="stable").tolist():
        chosen.setdefault(int(vertices.classes[vertex]), vertex)
        if len(chosen) == section.length:
            break
    first = sorted(int(vertices.first[vertex]) for vertex in chosen.values())
    return " ".join(section.doc[place].text for place in first)


def lead_words(pipe: HeadlineGenerator, section: Section) -> str:
    """The text from its first content word to as many as the title has."""
    ((scored,),) = pipe.predict([section.doc])
    places = np.flatnonzero(scored.words.content)[: section.length]
    return str(section.doc[int(places[0]) : int(places[-1]) + 1].text)
