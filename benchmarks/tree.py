"""Decoding trees: speed, certificates and accuracy, as the paper on branch and bound reports them.

    python benchmarks/tree.py [--quick] [--only english arcs]

`english` decodes scores of `branch_and_bound_parser` on EWT dev: tables 2 and 3 of Qian and Liu
(2013) in kind, figures 4 and 5 as plots. Words a second are by CPU seconds of one thread; scoring
is not counted. A sentence is certified if that was done within a second by the clock on the wall.

`arcs` times the dynamic programs over arcs beside ufal.chu_liu_edmonds, by sentence length, on
random scores: the peer is measured on the same arrays, and must find trees of the same score.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from statistics import mean, median
from time import process_time, thread_time
from typing import Any

import harness  # isort: skip - before numpy

import numpy as np
import tree_scores
from tree_scores import Sentence

from spacy_decoders.budget import Budget
from spacy_decoders.certificate import Certificate
from spacy_decoders.decoders.tree import (
    BranchAndBound,
    ChuLiuEdmonds,
    Eisner,
    TreeProblem,
    max_marginals,
    score_tree,
)

SECOND = Budget(seconds=1.0)


@dataclass(frozen=True)
class Run:
    """What decoding some sentences came to."""

    sentences: Sequence[Sentence]
    seconds: Sequence[float]
    certificates: Sequence[Certificate]
    right: int

    @property
    def words(self) -> int:
        return sum(s.n for s in self.sentences)

    @property
    def speed(self) -> float:
        return self.words / sum(self.seconds)

    @property
    def certified(self) -> float:
        return 100.0 * mean(c.is_optimal for c in self.certificates)

    @property
    def calls(self) -> float:
        return mean(c.iterations for c in self.certificates)

    @property
    def milliseconds(self) -> float:
        return 1000.0 * median(self.seconds)

    @property
    def uas(self) -> float:
        return 100.0 * self.right / self.words

    def row(self, name: str) -> list[object]:
        return [
            name, len(self.sentences), round(self.uas, 2), self.speed, self.certified,
            self.calls, self.milliseconds, 1000.0 * float(np.quantile(self.seconds, 0.9)),
        ]  # fmt: skip


COLUMNS = ["case", "sentences", "UAS", "words/s", "certified %", "passes", "median ms", "p90 ms"]


def run(
    sentences: Sequence[Sentence],
    problem: Callable[[Sentence], TreeProblem],
    decoder: BranchAndBound | None = None,
) -> Run:
    """Decode sentences one by one; the problems are built outside the time."""
    decoder = decoder or BranchAndBound()
    decoder.decode(problem(min(sentences, key=lambda s: s.n)))  # compiles
    seconds, certificates, right = [], [], 0
    for sentence in sentences:
        given = problem(sentence)
        begin = process_time()
        solution = decoder.decode(given, budget=SECOND)
        seconds.append(process_time() - begin)
        certificates.append(solution.certificate)
        right += int((solution.heads == sentence.heads).sum())
    return Run(sentences, seconds, certificates, right)


def english(report: harness.Report, options) -> None:
    """EWT: tables 2 and 3, figures 4 and 5, and long sentences."""
    model = tree_scores.load("English-EWT", options.data)
    short = [s for s in model.held_out if s.n <= 45][: 150 if options.quick else 600]
    long = [s for s in model.held_out if s.n > 45][: 10 if options.quick else 60]
    families = {
        "arcs": {"families": ["arcs"]},
        "+ all grandparents": {"families": ["arcs", "grandparents"]},
        "+ all siblings": {"families": ["arcs", "siblings"]},
        "+ grandparents, all siblings": {},
    }
    runs = {name: run(short, lambda s, o=o: model.problem(s, **o)) for name, o in families.items()}
    report.table(
        "Table 2 in kind: factor families, EWT dev, up to 45 tokens, heads unpruned",
        COLUMNS,
        [done.row(name) for name, done in runs.items()],
    )
    everything = runs["+ grandparents, all siblings"]
    pruned = {"no pruning": everything}
    for k in (20, 10, 5, 3):
        pruned[f"k = {k}"] = run(short, lambda s, k=k: model.problem(s, k=k))
    report.table(
        "Table 3 in kind: accuracy and speed by candidate heads a word, all factors",
        COLUMNS,
        [done.row(name) for name, done in pruned.items()],
    )
    draw(report, pruned)
    report.table(
        "More than 45 tokens, heads unpruned, at most a second a sentence",
        COLUMNS,
        [run(long, lambda s: model.problem(s)).row("all factors")],
    )
    paper = BranchAndBound(method="paper", root_iterations=60)
    tiny = [s for s in short if s.n <= 15][: 5 if options.quick else 30]
    report.table(
        "The method as published and the default, up to 15 tokens, all factors",
        COLUMNS,
        [
            run(tiny, lambda s: model.problem(s), paper).row("as published, first order"),
            run(tiny, lambda s: model.problem(s)).row("default"),
        ],
    )


def draw(report: harness.Report, runs: dict[str, Run]) -> None:
    """Plot milliseconds and passes by sentence length (figures 4 and 5)."""
    times, passes = {}, {}
    for name, done in runs.items():
        bins: dict[int, list[int]] = {}
        for i, s in enumerate(done.sentences):
            bins.setdefault(s.n // 5 * 5 + 2, []).append(i)
        lengths = sorted(bins)
        times[name] = (lengths, [1e3 * mean(done.seconds[i] for i in bins[x]) for x in lengths])
        passes[name] = (
            lengths, [mean(done.certificates[i].iterations for i in bins[x]) for x in lengths]
        )  # fmt: skip
    for name, title, y_label, series in (
        ("time", "Time (figure 4)", "milliseconds a sentence", times),
        ("passes", "Passes of the backbone (figure 5)", "passes a sentence", passes),
    ):
        harness.curves(report.path(f"-{name}.png"), title, "tokens", y_label, series, log="y")


# -- arcs alone, beside another program

PEER = "ufal.chu_liu_edmonds"
LENGTHS = [10, 25, 50, 100]


class Sample:
    """The same random sentences of one length for every decoder and peer."""

    def __init__(self, n: int, count: int) -> None:
        rng = np.random.default_rng(n)
        size = n + 1
        # as real scores are: most heads stand near, and one of them stands out
        distance = np.abs(np.subtract.outer(np.arange(size), np.arange(size)))
        self.arcs = []
        for _ in range(count):
            arcs = rng.normal(size=(size, size)) * 2 - np.log1p(distance)
            likely = np.clip(np.arange(1, size) + rng.integers(-4, 5, n), 0, n)
            arcs[likely, np.arange(1, size)] += 4
            self.arcs.append(arcs)
        self.turned = [np.ascontiguousarray(arcs.T) for arcs in self.arcs]
        self.projective = [TreeProblem(arcs) for arcs in self.arcs]
        self.free = [TreeProblem(arcs, projective=False) for arcs in self.arcs]
        self.many_roots = [replace(problem, single_root=False) for problem in self.free]


def ufal_heads(arcs: np.ndarray) -> np.ndarray:
    """Return the heads that ufal.chu_liu_edmonds finds, any number of roots."""
    from ufal.chu_liu_edmonds import chu_liu_edmonds

    heads, _ = chu_liu_edmonds(arcs)  # rows are modifiers there
    return np.asarray(heads[1:])


def arc_times(n: int, count: int, repeats: int) -> dict[str, float]:
    """The median microseconds a sentence of one length that each decoder takes."""
    sample = Sample(n, count)
    tasks: dict[str, tuple[Callable[[Any], object], list[Any]]] = {
        "Eisner": (Eisner().decode, sample.projective),
        "Eisner, max-marginals": (max_marginals, sample.projective),
        "ChuLiuEdmonds, many roots": (ChuLiuEdmonds().decode, sample.many_roots),
        "ChuLiuEdmonds, single root": (ChuLiuEdmonds().decode, sample.free),
        PEER: (ufal_heads, sample.turned),
    }
    taken = harness.interleaved(
        {name: lambda t=task, of=items: list(map(t, of)) for name, (task, items) in tasks.items()},
        repeats,
        seconds=4.0,
        least=5e-3,
        clock=thread_time,
    )
    return {name: 1e6 * taken[name] / len(items) for name, (_, items) in tasks.items()}


def same_trees(count: int) -> int:
    """Check the peer's trees against ours; return how many were compared."""
    compared = 0
    for n in LENGTHS:
        sample = Sample(n, count)
        for problem, turned in zip(sample.many_roots, sample.turned, strict=True):
            ours = ChuLiuEdmonds().decode(problem).certificate
            theirs = score_tree(problem, ufal_heads(turned))
            if not ours.is_optimal or abs(theirs - (ours.score or 0.0)) > 1e-6:
                raise SystemExit(f"trees differ at n = {n}: {ours.score} and {theirs}")
            compared += 1
    return compared


def arcs(report: harness.Report, options) -> None:
    """Microseconds a sentence that each decoder takes, by length."""
    count, repeats = (10, 5) if options.quick else (40, 15)
    report.facts["trees equal to ufal's"] = same_trees(count)
    rows = {n: arc_times(n, count, repeats) for n in LENGTHS}
    names = list(rows[LENGTHS[0]])
    report.table(
        "Microseconds a sentence (processor time, batches of one)",
        ["decoder", *(f"n = {n}" for n in LENGTHS)],
        [[name, *(rows[n][name] for n in LENGTHS)] for name in names],
    )


PARTS = {"english": english, "arcs": arcs}


def main() -> None:
    parser = harness.arguments(__doc__.split("\n", maxsplit=1)[0])
    parser.add_argument("--only", nargs="+", choices=PARTS, default=list(PARTS))
    options = parser.parse_args()
    for name in options.only:
        report = harness.Report(f"tree-{name}", options.results)
        try:
            PARTS[name](report, options)
        finally:  # what was measured is kept, whatever happens
            report.close()


if __name__ == "__main__":
    main()
