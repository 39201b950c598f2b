"""Headline decoding: table 1 and figure 2 of the paper, and what comes after it.

    python benchmarks/path.py [--quick]

needs the data folder and ``pip install -e ".[benchmarks]"``. Problems and headlines are those
of `headline_generator`, trained here in the paper's way and in ours. Times are processor time:
all decoders run in one thread, and what else the machine does then hardly counts.
"""

from __future__ import annotations

import gc
from collections.abc import Callable, Mapping, Sequence
from functools import partial
from time import process_time

from timing import Report, arguments  # before numpy: it sets the threads

# isort: split
import numpy as np
from headline_data import PAPER, Given, Section, headlines, problem_of, read_sections, trained
from numpy.typing import NDArray
from plots import curves

from spacy_decoders.budget import Budget
from spacy_decoders.components.headline.generator import HeadlineGenerator
from spacy_decoders.components.headline.rouge import rouge
from spacy_decoders.decoders.path import (
    Beam,
    ColorCoding,
    ExactPath,
    IntegerProgram,
    PathProblem,
    reduce,
)
from spacy_decoders.decoders.path.published.color_coding import best_color_count
from spacy_decoders.decoders.path.published.coloring import Colorings

Problems = list[tuple[PathProblem, int]]


def main() -> None:
    """Run everything and write the report."""
    options = arguments(__doc__ or "").parse_args()
    quick = options.quick
    report = Report("path", options.results)
    train, test = read_sections(options.data)
    report.facts["sections"] = {"train": len(train), "test": len(test)}
    paper, ours = trained(train, **PAPER), trained(train)
    sample = test[: 40 if quick else None]
    by_paper = [problem_of(paper, section) for section in sample]
    by_ours = [problem_of(ours, section) for section in sample]
    optima = [ExactPath().decode(*task).certificate for task in by_paper]
    table_1(report, by_paper, optima, sample, paper, quick)
    figure_2(report, by_paper)
    longer(report, {"paper's scoring": by_paper, "our scoring": by_ours}, quick)
    symmetric(report, 3 if quick else 10)
    building(report, ours, test)
    report.close()


def table_1(
    report: Report,
    problems: Problems,
    optima: list,
    sections: list[Section],
    paper: HeadlineGenerator,
    quick: bool,
) -> None:
    """Times, optima and ROUGE-L of all decoders at the titles' true lengths."""
    decoders = {
        "ExactPath": ExactPath(),
        "Beam 1": Beam(1),
        "Beam 80": Beam(80),
        "Beam 1345": Beam(1345),
        "Beam 10, look-ahead": Beam(10, lookahead=True),
        "ColorCoding as published": ColorCoding(reduce=False),
        "ColorCoding": ColorCoding(),
    }
    tasks = {
        name: [partial(decoder.decode, *task) for task in problems]
        for name, decoder in decoders.items()
    }
    times = medians(tasks, 3)
    hits, scores = {name: [] for name in decoders}, {name: [] for name in decoders}
    for place, (section, optimum) in enumerate(zip(sections, optima, strict=True)):
        for name in decoders:
            solution = tasks[name][place]()
            hits[name].append(solution.certificate.score >= optimum.score - 1e-9)
            (headline,) = headlines(paper, [section], decoder=Given(solution))
            scores[name].append(rouge(section.title, headline).rougeL)
    program_times, program_places = integer_programs(report, problems, optima, quick)
    rows = []
    for name in decoders:
        rows.append(
            [
                name,
                1e3 * float(np.median(times[name])),
                1e3 * float(times[name].mean()),
                1e3 * float(times[name].max()),
                float(np.mean(scores[name])),
                100 * float(np.mean(hits[name])),
            ]
        )
    for name, taken in program_times.items():
        seconds = np.array(taken)
        rows.append(
            [
                f"{name} ({len(seconds)} documents)",
                1e3 * float(np.median(seconds)),
                1e3 * float(seconds.mean()),
                1e3 * float(seconds.max()),
                None,
                None,
            ]
        )
    report.table(
        f"Table 1: {len(problems)} held-out sections, the paper's scoring, true lengths",
        ["decoder", "median ms", "mean ms", "max ms", "ROUGE-L", "optimal %"],
        rows,
    )
    certified = 100 * float(np.mean([c.is_optimal for c in optima]))
    report.target("ExactPath at true lengths: certified", 100, certified, unit="%")
    median = {name: float(np.median(taken)) for name, taken in times.items()}
    report.target(
        "ExactPath against beam 80, time", 1.0, median["ExactPath"] / median["Beam 80"], most=True
    )
    flow = np.array(program_times["flow ILP, CBC"])
    for name, wanted in (("ExactPath", 10_000), ("ColorCoding as published", 1_000)):
        ratio = float(np.median(flow / times[name][program_places]))
        report.target(f"flow ILP against {name}, time", wanted, ratio)


def medians(
    tasks: Mapping[str, Sequence[Callable[[], object]]], repeats: int
) -> dict[str, NDArray[np.float64]]:
    """The median seconds of each of many short tasks, all kinds measured in turns."""
    taken = {name: np.zeros((repeats, len(of_kind))) for name, of_kind in tasks.items()}
    for of_kind in tasks.values():
        of_kind[0]()
    gc.collect()
    gc.disable()
    try:
        for turn in range(repeats):
            for name, of_kind in tasks.items():
                for place, task in enumerate(of_kind):
                    begin = process_time()
                    task()
                    taken[name][turn, place] = process_time() - begin
    finally:
        gc.enable()
    return {name: np.median(times, axis=0) for name, times in taken.items()}


def integer_programs(
    report: Report, problems: Problems, optima: list, quick: bool
) -> tuple[dict[str, list[float]], list[int]]:
    """Time the integer programs on a few documents, spread over all sizes."""
    limit, count = (10.0, 2) if quick else (30.0, 7)
    order = sorted(range(len(problems)), key=lambda place: problems[place][0].size)
    places = [order[int(share * (len(order) - 1))] for share in np.linspace(0.1, 0.9, count)]
    programs = {
        "flow ILP, CBC": IntegerProgram("CBC", "flow"),
        "time-expanded ILP, CBC": IntegerProgram("CBC", "time_expanded"),
        "time-expanded ILP, HiGHS": IntegerProgram("HIGHS", "time_expanded"),
    }
    times: dict[str, list[float]] = {name: [] for name in programs}
    proven = dict.fromkeys(programs, 0)
    for place in places:
        for name, program in programs.items():
            begin = process_time()
            solution = program.decode(*problems[place], budget=Budget(seconds=limit))
            times[name].append(process_time() - begin)
            proven[name] += solution.certificate.is_optimal
            if solution.certificate.is_optimal:
                assert abs(solution.certificate.score - optima[place].score) < 1e-5
    report.facts["integer programs"] = {
        "documents": len(places),
        "limit in seconds (a document that needs more counts as this)": limit,
        "proven": proven,
    }
    return times, places


def figure_2(report: Report, problems: Problems) -> None:
    """How many colourings it takes to find each document's optimum."""
    kinds = {
        "as published": problems,
        "titles of up to 7 words, as published": [task for task in problems if task[1] <= 7],
        "after safe reduction by a beam of 10": [
            (reduced(problem, length), length) for problem, length in problems
        ],
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
    curves(
        report.path(".png"),
        "Figure 2: convergence of colour-coding",
        "iterations",
        "exact solutions found (%)",
        series,
        log="x",
    )
    for name, _, _, at_90, at_all in rows:
        case = f"colour-coding, {name}: iterations for"
        report.target(f"{case} 90%", 11, at_90, most=True, unit="iterations")
        report.target(f"{case} all", 60, at_all, most=True, unit="iterations")


def reduced(problem: PathProblem, length: int) -> PathProblem:
    """The vertices that a path as good as a narrow beam's can visit."""
    known = Beam(10, lookahead=True).decode(problem, length).certificate.score
    return reduce(problem, length, known)[0]


def colorings_to_optimum(problem: PathProblem, length: int) -> int:
    """Count colourings, as published, until one shows the best path."""
    optimum = ExactPath().decode(problem, length).certificate.score
    colors = best_color_count(problem.class_count, length, problem.size, 1e-3)
    rest = np.zeros((length, problem.size))
    colorings = Colorings(problem, rest, colors, prune=False, seed=0)
    return colorings.run(0, 1_000_000, optimum - 1e-9, lambda: False)[0]


def longer(report: Report, scorings: dict[str, Problems], quick: bool) -> None:
    """Exact decoding of longer headlines within a second each."""
    rows, certified = [], []
    for name, problems in scorings.items():
        for length in (3, 5, 8, 10, 13):
            taken, optimal = [], []
            for problem, _ in problems[: 20 if quick else None]:
                if problem.class_count < length:
                    continue
                begin = process_time()
                solution = ExactPath().decode(problem, length, budget=Budget(seconds=1))
                taken.append(process_time() - begin)
                optimal.append(solution.certificate.is_optimal)
            certified += optimal
            rows.append(
                [
                    f"{name}, {length} words",
                    1e3 * float(np.median(taken)),
                    1e3 * max(taken),
                    100 * float(np.mean(optimal)),
                ]
            )
    report.table("ExactPath, longer", ["case", "median ms", "max ms", "certified %"], rows)
    report.target(
        "ExactPath, lengths to 13, both scorings: certified within 1 s",
        99,
        100 * float(np.mean(certified)),
        unit="%",
    )


def symmetric(report: Report, count: int) -> None:
    """The hardest kind: symmetric random weights, every vertex a class."""
    taken, optimal = [], []
    for seed in range(count):
        drawn = np.random.default_rng(seed).random((110, 110))
        nothing = np.zeros(110)
        problem = PathProblem(nothing, drawn + drawn.T, nothing, np.arange(110))
        begin = process_time()
        solution = ExactPath().decode(problem, 13, budget=Budget(seconds=5))
        taken.append(process_time() - begin)
        optimal.append(solution.certificate.is_optimal)
    report.facts["symmetric random weights"] = {"seconds": taken, "certified": optimal}
    slowest = max(taken) if all(optimal) else None
    report.target(
        "symmetric random weights, n = 110, k = 13: slowest of all", 1.0, slowest,
        most=True, unit="s",
    )  # fmt: skip


def building(report: Report, pipe: HeadlineGenerator, sections: list[Section]) -> None:
    """All that the component does but decoding: reading, features, selection and the graph."""
    near = [s for s in sections if 100 <= problem_of(pipe, s)[0].size <= 120]
    solved = [Given(ExactPath().decode(*problem_of(pipe, section))) for section in near]

    def build(section: Section, given: Given) -> None:
        pipe.configure(length=section.length, decoder=given)
        (scored,) = pipe.predict([section.doc])
        pipe.decode(section.doc, scored)

    tasks = [partial(build, *each) for each in zip(near, solved, strict=True)]
    times = medians({"build": tasks}, 5)["build"]
    pipe.configure(length="auto", decoder=ExactPath())
    report.facts["graph building, median ms"] = 1e3 * float(np.median(times))
    report.target(
        "building the graph, n = 110", 2.0, 1e3 * float(np.median(times)), most=True, unit="ms"
    )


if __name__ == "__main__":
    main()
