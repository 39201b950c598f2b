"""Exact decoders against all choices, on a thousand small random problems."""

from __future__ import annotations

from itertools import product

import numpy as np
from numpy.typing import NDArray
from timing import Report

from spacy_decoders import NotDecomposableError
from spacy_decoders.decoders.representatives import (
    Decomposable,
    ExactRepresentatives,
    RepresentativesProblem,
)
from spacy_decoders.graph import ConceptGraph

__all__ = ["small_problems"]

#: What float64 may lose in a sum of a few costs.
EQUAL = 1e-9


def small_problems(report: Report, count: int = 1000) -> None:
    """Count the problems on which an exact decoder's cost is not the least."""
    wrong = {"ExactRepresentatives": 0, "Decomposable": 0}
    decomposable = 0
    for seed in range(count):
        random = np.random.default_rng(seed)
        problem = drawn(random, tree_like=bool(seed % 2))
        least = min(problem.cost(choice) for choice in product(*map(_places, problem.sets)))
        found = ExactRepresentatives(seed=seed).decode(problem).certificate
        wrong["ExactRepresentatives"] += not found.is_optimal or abs(found.score - least) > EQUAL
        try:
            found = Decomposable(seed=seed).decode(problem).certificate
        except NotDecomposableError:
            continue
        decomposable += 1
        wrong["Decomposable"] += not found.is_optimal or abs(found.score - least) > EQUAL
    report.table(
        f"{count:,} small random problems against all choices",
        ["decoder", "problems", "wrong"],
        [
            ["ExactRepresentatives", count, wrong["ExactRepresentatives"]],
            ["Decomposable, where its hypotheses hold", decomposable, wrong["Decomposable"]],
        ],
    )
    report.target(
        f"small graphs, {count:,} cases: wrong", 0, float(sum(wrong.values())), most=True, unit=""
    )


def drawn(random: np.random.Generator, *, tree_like: bool) -> RepresentativesProblem:
    """Draw a graph and sets of up to four of its vertices.

    Of a tree-like graph the sets are connected and apart, so that it often decomposes.
    """
    size = int(random.integers(6, 18))
    edges = [[int(random.integers(v)), v] for v in range(1, size)]
    if tree_like:
        sets, left = [], list(range(size))
        for _ in range(int(random.integers(2, 5))):
            begin = int(random.choice(left))
            beside = [v for e in edges for v in e if begin in e and v != begin and v in left]
            members = [begin, *beside[: int(random.integers(0, 3))]]
            left = [v for v in left if v not in members]
            sets.append(members)
            if len(left) < 3:
                break
    else:
        edges += random.integers(0, size, (int(random.integers(0, size)), 2)).tolist()
        sets = [
            random.choice(size, int(random.integers(1, 5)), replace=False).tolist()
            for _ in range(int(random.integers(1, 6)))
        ]
    local = [random.integers(0, 4, len(s)) / 2 for s in sets] if random.random() < 0.3 else None
    graph = ConceptGraph.from_edges(np.array(edges))
    return RepresentativesProblem.from_graph(graph, [np.array(s) for s in sets], local=local)


def _places(members: NDArray[np.int32]) -> range:
    return range(len(members))
