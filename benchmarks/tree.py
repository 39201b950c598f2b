"""The tree decoders' dynamic programs beside ufal.chu_liu_edmonds, by sentence length.

::

    python benchmarks/tree.py [--quick]

Scores are random: the peer is measured on the same arrays, and must find trees of the same score.
Branch and bound is measured in `tree_branch_and_bound.py`, on real scores.
"""

from __future__ import annotations

from collections.abc import Callable
from time import thread_time
from typing import Any

import harness  # isort: skip - before numpy

import numpy as np
from ufal.chu_liu_edmonds import chu_liu_edmonds as ufal

from spacy_decoders.decoders.tree import (
    ChuLiuEdmonds,
    Eisner,
    SecondOrder,
    TreeProblem,
    max_marginals,
    score_tree,
)

#: What is not ours.
PEERS = ("ufal.chu_liu_edmonds",)
LENGTHS = [10, 25, 50, 100]
#: A task is repeated inside one measurement until it takes about so long.
LEAST_SECONDS = 5e-3


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
        self.many_roots = [
            TreeProblem(arcs, projective=False, single_root=False) for arcs in self.arcs
        ]
        self.second = [
            TreeProblem(arcs, rng.normal(size=(size,) * 3), rng.normal(size=(size,) * 3))
            for arcs in self.arcs[:2]
        ]


def ufal_heads(arcs: np.ndarray) -> np.ndarray:
    """Return the heads that ufal.chu_liu_edmonds finds, any number of roots."""
    heads, _ = ufal(arcs)  # rows are modifiers there
    return np.asarray(heads[1:])


def measure(n: int, count: int, repeats: int) -> dict[str, float]:
    """The median microseconds a sentence of one length that each decoder takes."""
    sample = Sample(n, count)
    tasks: dict[str, tuple[Callable[[Any], object], list[Any]]] = {
        "Eisner": (Eisner().decode, sample.projective),
        "Eisner, max-marginals": (max_marginals, sample.projective),
        "ChuLiuEdmonds, many roots": (ChuLiuEdmonds().decode, sample.many_roots),
        "ChuLiuEdmonds, single root": (ChuLiuEdmonds().decode, sample.free),
        "SecondOrder": (SecondOrder().decode, sample.second),
        "ufal.chu_liu_edmonds": (ufal_heads, sample.turned),
    }
    taken = harness.interleaved(
        {name: lambda t=task, of=items: list(map(t, of)) for name, (task, items) in tasks.items()},
        repeats,
        seconds=4.0,
        least=LEAST_SECONDS,
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


def main() -> None:
    options = harness.arguments(__doc__).parse_args()
    count, repeats = (10, 5) if options.quick else (40, 15)
    report = harness.Report("tree", options.results)
    report.facts["trees equal to ufal's"] = same_trees(count)
    rows = {n: measure(n, count, repeats) for n in LENGTHS}
    names = list(rows[LENGTHS[0]])
    report.table(
        "Microseconds a sentence (processor time, batches of one)",
        ["decoder", *(f"n = {n}" for n in LENGTHS)],
        [[name, *(rows[n][name] for n in LENGTHS)] for name in names],
    )
    harness.curves(
        report.path(".png"),
        "Decoding one sentence",
        "tokens",
        "microseconds",
        {name: (LENGTHS, [rows[n][name] for n in LENGTHS]) for name in names},
        peers=PEERS,
    )
    report.close()


if __name__ == "__main__":
    main()
