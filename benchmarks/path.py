"""Headline decoding: table 1 and figure 2 of the paper (Deshpande et al. 2007).

    python benchmarks/path.py [--quick]

needs the data folder and ``pip install -e ".[benchmarks]"``. Problems and headlines are those
of `headline_generator` in mode "words", trained here in the paper's way on sections of open
textbooks. Times are processor time: all decoders run in one thread, and what else the machine
does then hardly counts.
"""

from __future__ import annotations

import random
from collections.abc import Sequence
from dataclasses import dataclass, field
from functools import partial
from pathlib import Path
from time import perf_counter, process_time
from typing import Any

import harness  # isort: skip - before numpy

import numpy as np
import spacy
from pipelines import written
from spacy.training import Example

from spacy_decoders.budget import Budget
from spacy_decoders.components.headline.generator import HeadlineGenerator
from spacy_decoders.components.headline.reading import Texts
from spacy_decoders.components.headline.scorer import rouge, title_words
from spacy_decoders.decoders import path as core
from spacy_decoders.decoders.path.published.color_coding import Colorings, best_color_count
from spacy_decoders.models.headline.stems import Stemmer
from spacy_decoders.readers.headlines import HeadlineCorpus

Problems = list[tuple[core.PathProblem, int]]

BOOKS = ("algoarch", "cpalgo", "ods", "pythonds")
SEED = 0
NLP = spacy.blank("en")
STEMMER = Stemmer("en")
#: The paper's scoring: log-probabilities of selection, by the first position of the stem and its
#: TF*IDF, and of the language model, added up.
PAPER = {
    "model": {
        "@architectures": "spacy-decoders.PhraseSelection.v1",
        "features": ["bias", "first_sentence_index", "tfidf"],
    },
    "ordering": 1.0,
    "contiguity": 0.0,
}


@dataclass(frozen=True, eq=False)
class Section:
    """A section with its title; `length` is the title's number of content words."""

    title: str
    example: Example
    length: int


@dataclass
class Given:
    """In the place of a decoder: notes the problem, and hands over the solution that it holds."""

    solution: core.PathSolution | None = None
    problems: list[tuple[core.PathProblem, int]] = field(default_factory=list)

    def decode_lengths(
        self, problem: core.PathProblem, lengths: Sequence[int], **_: Any
    ) -> list[Any]:
        self.problems.append((problem, lengths[-1]))
        return [self.solution or core.Beam(1).decode(problem, lengths[-1])]

    def k_best(self, *_: Any, **__: Any) -> list[core.PathSolution]:
        raise NotImplementedError("problems are taken from decode_lengths alone.")


def main() -> None:
    """Run everything and write the report."""
    options = harness.arguments(__doc__ or "").parse_args()
    quick = options.quick
    report = harness.Report("path", options.results)
    train, test = read_sections(options.data)
    report.facts["sections"] = {"train": len(train), "test": len(test)}
    paper = generator(
        [section.example for section in train], iterations=None, mode="words", **PAPER
    )
    sample = test[: 40 if quick else None]
    by_paper = [problem_of(paper, section) for section in sample]
    optima = [core.ExactPath().decode(*task).certificate for task in by_paper]
    table_1(report, by_paper, optima, sample, paper, quick)
    figure_2(report, by_paper)


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
            if wanted and Texts.of([example.predicted]).tokens(STEMMER).content.any():
                sections.append(Section(title, example, wanted))
    random.Random(SEED).shuffle(sections)
    cut = int(0.7 * len(sections))
    return sections[:cut], sections[cut:]


def generator(train: Sequence[Example] | None, **config: Any) -> Any:
    """A component on its own, trained if there are sections to train on."""
    nlp = spacy.blank("en")
    pipe: Any = nlp.add_pipe("headline_generator", config=config)
    if train is not None:
        nlp.initialize(lambda: train)
    return pipe


def problem_of(pipe: HeadlineGenerator, section: Section) -> tuple[core.PathProblem, int]:
    """The decoding problem of a section, at its title's own length, as the component makes it."""
    given = Given()
    written(pipe, section.example, length=section.length, decoder=given)
    return given.problems[-1]


def spread(seconds: Sequence[float]) -> list[float]:
    """Median, mean and largest of times, in milliseconds."""
    return [1e3 * float(of(seconds)) for of in (np.median, np.mean, np.max)]


def table_1(
    report: harness.Report,
    problems: Problems,
    optima: list,
    sections: list[Section],
    paper: HeadlineGenerator,
    quick: bool,
) -> None:
    """Times, optima and ROUGE-L of all decoders at the titles' true lengths."""
    decoders = {
        "ExactPath": core.ExactPath(),
        "Beam 1": core.Beam(1),
        "Beam 80": core.Beam(80),
        "Beam 1345": core.Beam(1345),
        "Beam 10, look-ahead": core.Beam(10, lookahead=True),
        "ColorCoding": core.ColorCoding(),
    }
    tasks = {
        (name, place): partial(decoder.decode, *task)
        for name, decoder in decoders.items()
        for place, task in enumerate(problems)
    }
    medians = harness.interleaved(tasks, 3, clock=process_time)
    rows = []
    for name in decoders:
        hits, scores = [], []
        for place, (section, optimum) in enumerate(zip(sections, optima, strict=True)):
            solution = tasks[name, place]()
            hits.append(solution.certificate.score >= optimum.score - 1e-9)
            given = Given(solution)
            headline = written(paper, section.example, length=section.length, decoder=given)
            scores.append(rouge(section.title, headline).rougeL)
        taken = [medians[name, place] for place in range(len(problems))]
        rows.append([name, *spread(taken), np.mean(scores), 100 * np.mean(hits)])
    for name, taken in integer_programs(report, problems, optima, quick).items():
        rows.append([f"{name} ({len(taken)} documents)", *spread(taken), None, None])
    report.table(
        f"Table 1: {len(problems)} held-out sections, the paper's scoring, true lengths",
        ["decoder", "median ms", "mean ms", "max ms", "ROUGE-L", "optimal %"],
        rows,
    )


def integer_programs(
    report: harness.Report, problems: Problems, optima: list, quick: bool
) -> dict[str, list[float]]:
    """Time the integer programs on a few documents, spread over all sizes."""
    limit, count = (10.0, 2) if quick else (30.0, 7)
    order = sorted(range(len(problems)), key=lambda place: problems[place][0].size)
    places = [order[int(share * (len(order) - 1))] for share in np.linspace(0.1, 0.9, count)]
    programs = {
        "flow ILP, CBC": core.IntegerProgram("CBC", "flow"),
        "time-expanded ILP, CBC": core.IntegerProgram("CBC", "time_expanded"),
        "time-expanded ILP, HiGHS": core.IntegerProgram("HIGHS", "time_expanded"),
    }
    times: dict[str, list[float]] = {name: [] for name in programs}
    proven = dict.fromkeys(programs, 0)
    for place in places:
        for name, program in programs.items():
            decode = partial(program.decode, *problems[place], budget=Budget(seconds=limit))
            solution, taken = harness.timed(decode, perf_counter)  # in a child process
            times[name].append(taken)
            proven[name] += solution.certificate.is_optimal
            if solution.certificate.is_optimal:
                assert abs(solution.certificate.score - optima[place].score) < 1e-5
    report.facts["integer programs"] = {
        "documents": len(places),
        "limit in seconds (a document that needs more counts as this)": limit,
        "proven": proven,
    }
    return times


def figure_2(report: harness.Report, problems: Problems) -> None:
    """How many colourings it takes to find each document's optimum."""
    kinds = {
        "all titles": problems,
        "titles of up to 7 words": [task for task in problems if task[1] <= 7],
    }
    series, rows = {}, []
    for name, tasks in kinds.items():
        counts = np.sort([colorings_to_optimum(*task) for task in tasks])
        steps = np.unique(np.concatenate([[1], counts]))
        shares = 100 * np.searchsorted(counts, steps, side="right") / len(counts)
        series[name] = (steps.tolist(), shares.tolist())
        at_90 = int(counts[int(np.ceil(0.9 * len(counts))) - 1])
        rows.append([name, len(tasks), int(np.median(counts)), at_90, int(counts[-1])])
    report.table(
        "Figure 2: colourings until the optimum is found",
        ["problems", "documents", "median", "90% of documents", "all"],
        rows,
    )
    harness.curves(
        report.path(".png"),
        "Figure 2: convergence of colour-coding",
        "iterations",
        "exact solutions found (%)",
        series,
        log="x",
    )


def colorings_to_optimum(problem: core.PathProblem, length: int) -> int:
    """Count colourings until one shows the best path."""
    optimum = core.ExactPath().decode(problem, length).certificate.score
    colors = best_color_count(problem.class_count, length, problem.size, 1e-3)
    colorings = Colorings(problem, length, colors, seed=0)
    count = 1
    while colorings.next_path(optimum - 1e-9, lambda: False)[0] is None:
        count += 1
    return count


if __name__ == "__main__":
    main()
