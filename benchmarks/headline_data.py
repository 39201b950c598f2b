"""Titled sections of open textbooks, and `headline_generator` in mode "words" trained on them."""

from __future__ import annotations

import random
from collections.abc import Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import spacy
from spacy.tokens import Doc
from spacy.training import Example

from spacy_decoders.components.headline.generator import HeadlineGenerator
from spacy_decoders.components.headline.headlines import title_words
from spacy_decoders.components.headline.reading import read_words
from spacy_decoders.decoders.path import Beam, PathProblem, PathSolution
from spacy_decoders.models.headline.stems import Stemmer
from spacy_decoders.models.headline.word_features import PAPER_FEATURES
from spacy_decoders.readers.headlines import HeadlineCorpus

__all__ = [
    "BOOKS", "NLP", "PAPER", "Given", "Section", "headlines", "problem_of", "read_sections",
    "sections_of", "trained",
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
        raise NotImplementedError("problems are taken from decode_lengths alone.")


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
