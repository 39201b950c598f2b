"""Decoding trees: speed, certificates and accuracy, as the paper on branch and bound reports them.

    python benchmarks/tree.py [--quick] [--only english arcs]

`english` decodes scores of `branch_and_bound_parser` on EWT dev: tables 2 and 3 of Qian and Liu
(2013) in kind. Words a second are by CPU seconds of one thread; scoring is not counted. A
sentence is certified if that was done within a second by the clock on the wall.

`arcs` times the dynamic programs over arcs beside ufal.chu_liu_edmonds, by sentence length, on
random scores: the peer is measured on the same arrays, and must find trees of the same score.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import replace
from functools import partial
from statistics import mean
from typing import Any

import harness  # isort: skip - before numpy

import numpy as np
import tree_scores
from tree_scores import Sentence, Tally

from spacy_decoders.budget import Budget
from spacy_decoders.decoders import tree as core

SECOND = Budget(seconds=1.0)


COLUMNS = ["case", "sentences", "UAS", "words/s", "certified %", "passes", "median ms", "p90 ms"]


def tabulate(report: harness.Report, title: str, runs: dict[str, Tally]) -> None:
    """Make a table of methods."""
    rows = []
    for name, tally in runs.items():
        certificates = [solution.certificate for solution in tally.found]
        rows.append([
            name, len(certificates), round(tally.uas, 2), tally.words / sum(tally.seconds),
            tally.share(lambda of: of.certificate.is_optimal),
            mean(of.iterations for of in certificates),
            *(1000.0 * np.quantile(tally.seconds, (0.5, 0.9))),
        ])  # fmt: skip
    report.table(title, COLUMNS, rows)


def run(
    sentences: Sequence[Sentence],
    problem: Callable[[Sentence], core.TreeProblem],
    decoder: core.BranchAndBound | None = None,
) -> Tally:
    """Decode sentences one by one; the problems are built outside the time."""
    decoder = decoder or core.BranchAndBound()
    decoder.decode(problem(min(sentences, key=lambda s: s.n)))  # compiles
    tally = Tally()
    for sentence in sentences:
        tally.take(partial(decoder.decode, problem(sentence), budget=SECOND), sentence)
    return tally


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
    title = "Table 2 in kind: factor families, EWT dev, up to 45 tokens, heads unpruned"
    tabulate(report, title, runs)
    pruned = {"no pruning": runs["+ grandparents, all siblings"]}
    for k in (20, 10, 5, 3):
        pruned[f"k = {k}"] = run(short, lambda s, k=k: model.problem(s, k=k))
    title = "Table 3 in kind: accuracy and speed by candidate heads a word, all factors"
    tabulate(report, title, pruned)
    title = "More than 45 tokens, heads unpruned, at most a second a sentence"
    tabulate(report, title, {"all factors": run(long, model.problem)})
    paper = core.BranchAndBound(method="paper", root_iterations=60)
    tiny = [s for s in short if s.n <= 15][: 5 if options.quick else 30]
    published = run(tiny, model.problem, paper)
    both = {"as published, first order": published, "default": run(tiny, model.problem)}
    title = "The method as published and the default, up to 15 tokens, all factors"
    tabulate(report, title, both)


# -- arcs alone, beside another program

PEER = "ufal.chu_liu_edmonds"
LENGTHS = [10, 25, 50, 100]


def drawn(n: int, count: int) -> list[np.ndarray]:
    """Scores of arcs of some sentences of one length."""
    rng = np.random.default_rng(n)
    size = n + 1
    # as real scores are: most heads stand near, and one of them stands out
    distance = np.abs(np.subtract.outer(np.arange(size), np.arange(size)))
    found = []
    for _ in range(count):
        arcs = rng.normal(size=(size, size)) * 2 - np.log1p(distance)
        likely = np.clip(np.arange(1, size) + rng.integers(-4, 5, n), 0, n)
        arcs[likely, np.arange(1, size)] += 4
        found.append(arcs)
    return found


def ufal_heads(arcs: np.ndarray) -> np.ndarray:
    """Return the heads that ufal.chu_liu_edmonds finds, any number of roots."""
    from ufal.chu_liu_edmonds import chu_liu_edmonds

    heads, _ = chu_liu_edmonds(arcs)  # rows are modifiers there
    return np.asarray(heads[1:])


def arc_times(n: int, count: int, repeats: int) -> dict[str, float]:
    """The median microseconds a sentence of one length that each decoder takes."""
    scores = drawn(n, count)
    projective = [core.TreeProblem(arcs) for arcs in scores]
    free = [core.TreeProblem(arcs, projective=False) for arcs in scores]
    many_roots = [replace(problem, single_root=False) for problem in free]
    turned = [np.ascontiguousarray(arcs.T) for arcs in scores]
    for problem, given in zip(many_roots, turned, strict=True):
        ours = core.ChuLiuEdmonds().decode(problem).certificate
        theirs = core.score_tree(problem, ufal_heads(given))
        if not ours.is_optimal or abs(theirs - (ours.score or 0.0)) > 1e-6:
            raise SystemExit(f"trees differ at n = {n}: {ours.score} and {theirs}")
    tasks: dict[str, tuple[Callable[[Any], object], list[Any]]] = {
        "Eisner": (core.Eisner().decode, projective),
        "ChuLiuEdmonds, many roots": (core.ChuLiuEdmonds().decode, many_roots),
        "ChuLiuEdmonds, single root": (core.ChuLiuEdmonds().decode, free),
        PEER: (ufal_heads, turned),
    }
    taken = harness.interleaved(
        {name: lambda t=task, of=items: list(map(t, of)) for name, (task, items) in tasks.items()},
        repeats,
        seconds=4.0,
        least=5e-3,
    )
    return {name: 1e6 * taken[name] / count for name in tasks}


def arcs(report: harness.Report, options) -> None:
    """Microseconds a sentence that each decoder takes, by length."""
    count, repeats = (10, 5) if options.quick else (40, 15)
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
        PARTS[name](report, options)


if __name__ == "__main__":
    main()
