"""Branch and bound over trees: speed, certificates and accuracy, as the paper reports them.

Scores are those of `branch_and_bound_parser` on public treebanks (`tree_scores.py`). Tables 2 and
3 of Qian and Liu (2013) in kind, figures 4 and 5 as plots:

    python benchmarks/tree_branch_and_bound.py            # everything
    python benchmarks/tree_branch_and_bound.py --quick    # fewer sentences

Words a second are by CPU seconds of one thread; scoring is not counted. A sentence is certified
if that was done within a second by the clock on the wall.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from statistics import mean, median
from time import process_time

import harness  # isort: skip - before numpy

import numpy as np
import tree_scores
from tree_scores import Sentence

from spacy_decoders.budget import Budget
from spacy_decoders.certificate import Certificate
from spacy_decoders.decoders.tree import BranchAndBound, TreeProblem

SECOND = Budget(seconds=1.0)
WINDOW = 15


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
    model = tree_scores.load("ewt", options.data)
    short = [s for s in model.held_out if s.n <= 45][: 150 if options.quick else 600]
    long = [s for s in model.held_out if s.n > 45][: 10 if options.quick else 60]
    families = {
        "arcs": {"families": ["arcs"]},
        "+ all grandparents": {"families": ["arcs", "grandparents"]},
        "+ all siblings": {"families": ["arcs", "siblings"]},
        f"+ grandparents, siblings within {WINDOW}": {"window": WINDOW},
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
    far = run(long, lambda s: model.problem(s))
    near = run(long, lambda s: model.problem(s, window=WINDOW))
    report.table(
        "More than 45 tokens, heads unpruned, at most a second a sentence",
        COLUMNS,
        [far.row("all pairs"), near.row(f"pairs within {WINDOW}")],
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


def others(report: harness.Report, options) -> None:
    """Non-projective trees with grandparents."""
    rows = []
    for name in ("danish", "hungarian", "latin"):
        model = tree_scores.load(name, options.data, steps=options.steps)
        sentences = model.held_out[: 60 if options.quick else 250]
        done = run(sentences, model.problem)
        speed = len(sentences) / sum(done.seconds)
        rows.append([*done.row(name), speed])
    report.table("Non-projective, arcs and grandparents", [*COLUMNS, "sentences/s"], rows)


def main() -> None:
    parser = harness.arguments(__doc__.split("\n", maxsplit=1)[0])
    parser.add_argument("--only", choices=["english", "others"], help="one part alone")
    tree_scores.add_steps(parser)
    options = parser.parse_args()
    report = harness.Report("tree_branch_and_bound", options.results)
    try:
        if options.only != "others":
            english(report, options)
        if options.only != "english":
            others(report, options)
    finally:  # what was measured is kept, whatever happens
        report.close()


if __name__ == "__main__":
    main()
