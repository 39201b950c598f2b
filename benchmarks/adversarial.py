"""Problems made to be hard: is the budget kept, and how much memory is taken?

    python benchmarks/adversarial.py

Each decoder gets problems on which bounds say nothing (flat, symmetric, noise) or which are far
larger than sentences are, with a budget in seconds. The limit is the budget plus 20% and 50 ms.
Each runs in a process of its own, in which the decoder was compiled before; memory is what
decoding adds to the peak of the process. The figures go to results/adversarial.json, to be run on
a machine at rest.
"""

from __future__ import annotations

import json
import resource
import subprocess
import sys
from collections.abc import Callable
from time import perf_counter, process_time
from typing import Any, NamedTuple

import numpy as np
import timing

from spacy_decoders import Budget
from spacy_decoders.decoders import chain, path, representatives, tree

SECONDS = 1.0

#: Decodes one problem within a budget.
Run = Callable[[Budget], Any]


class Case(NamedTuple):
    """Makes a problem of a size and what decodes it; small ones compile the decoder."""

    small: int
    large: int
    make: Callable[[int], Run]


class Outcome(NamedTuple):
    """What became of a problem: seconds, those of the processor, status, gap, and memory in MB."""

    seconds: float
    processor: float
    status: str
    gap: float | None
    megabytes: float


def noise(*shape: int) -> Any:
    return np.random.default_rng(0).normal(size=shape).astype(np.float32)


def chains(decoder: Any, labels: Callable[[int], int], *, flat: bool) -> Callable[[int], Run]:
    def make(size: int) -> Run:
        count = labels(size)
        transitions = np.zeros((count, count), np.float32) if flat else noise(count, count)
        emissions = np.zeros((size, count), np.float32) if flat else noise(size, count)
        model = chain.ChainModel(transitions)
        return lambda budget: decoder.decode(model, emissions, budget=budget)

    return make


def trees(decoder: Any, *, flat: bool, factors: bool, projective: bool) -> Callable[[int], Run]:
    def make(size: int) -> Run:
        m = size + 1
        arcs = np.zeros((m, m)) if flat else noise(m, m)
        extra = (noise(m, m, m), noise(m, m, m)) if factors else (None, None)
        problem = tree.TreeProblem(arcs, *extra, projective=projective)
        return lambda budget: decoder.decode(problem, budget=budget)

    return make


def chain_trees(decoder: Any) -> Callable[[int], Run]:
    def make(size: int) -> Run:
        m = size + 1
        problem = tree.TreeProblem(noise(m, m), noise(m, m, m), projective=False)
        return lambda budget: decoder.decode(problem, budget=budget)

    return make


def paths(decoder: Any, length: int) -> Callable[[int], Run]:
    def make(size: int) -> Run:
        weights = noise(size, size)
        nothing = np.zeros(size)
        problem = path.PathProblem(nothing, weights + weights.T, nothing, np.arange(size))
        return lambda budget: decoder.decode(problem, min(length, size), budget=budget)

    return make


def concepts(decoder: Any, count: int) -> Callable[[int], Run]:
    def make(size: int) -> Run:
        n = count * size
        drawn = np.abs(noise(n, n))
        problem = representatives.RepresentativesProblem(
            drawn + drawn.T, np.split(np.arange(n), count)
        )
        return lambda budget: decoder.decode(problem, budget=budget)

    return make


def cases() -> dict[str, Case]:
    # as many labels in the small ones: with few, other compiled loops are taken
    few, many = (lambda size: 300), (lambda size: 5000 if size > 20 else 600)
    found = {}
    for decoder in (chain.ForwardDominance(), chain.Viterbi(), chain.ColumnGeneration()):
        name = type(decoder).__name__
        found[f"{name}, 1,500 tokens, 300 labels, flat"] = Case(
            5, 1500, chains(decoder, few, flat=True)
        )
        found[f"{name}, 100 tokens, 5,000 labels, noise"] = Case(
            5, 100, chains(decoder, many, flat=False)
        )
    arcs_only = {"flat": True, "factors": False}
    found["Eisner, 1,500 tokens, flat"] = Case(
        5, 1500, trees(tree.Eisner(), projective=True, **arcs_only)
    )
    found["ChuLiuEdmonds, 1,500 tokens, flat"] = Case(
        5, 1500, trees(tree.ChuLiuEdmonds(), projective=False, **arcs_only)
    )
    for projective in (True, False):
        kind = "projective" if projective else "non-projective"
        found[f"BranchAndBound, 100 tokens, all pairs noise, {kind}"] = Case(
            5, 100, trees(tree.BranchAndBound(), flat=False, factors=True, projective=projective)
        )
    found["PriceAndCut, 100 tokens, grandparents noise"] = Case(
        5, 100, chain_trees(tree.PriceAndCut())
    )
    for decoder in (path.ExactPath(), path.Beam(80), path.ColorCoding()):
        found[f"{type(decoder).__name__}, 400 vertices, symmetric, length 12"] = Case(
            20, 400, paths(decoder, 12)
        )
    for decoder in (representatives.ExactRepresentatives(), representatives.LocalSearch()):
        found[f"{type(decoder).__name__}, 53 sets of 200, noise"] = Case(
            2, 200, concepts(decoder, 53)
        )
    return found


def peak() -> float:
    """The most memory that this process has had, in MB."""
    return resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1024


def measure(name: str) -> Outcome:
    """Decode one problem in this process."""
    case = cases()[name]
    small, large = case.make(case.small), case.make(case.large)
    for budget in (Budget(iterations=20), Budget(seconds=SECONDS)):  # small ones are hard, too
        small(budget)
    before, begun, worked = peak(), perf_counter(), process_time()
    certificate = large(Budget(seconds=SECONDS)).certificate
    taken, worked = perf_counter() - begun, process_time() - worked
    return Outcome(taken, worked, certificate.status, certificate.gap, peak() - before)


def main() -> None:
    arguments = timing.arguments(__doc__ or "")
    arguments.add_argument("--case", help="measure this one, in this process")
    arguments.add_argument("--only", default="", help="problems with this in their names")
    given = arguments.parse_args()
    if given.case:
        print(json.dumps(measure(given.case)._asdict()))
        return
    limit = 1.2 * SECONDS + 0.05
    report = timing.Report("adversarial", given.results, {"budget": SECONDS, "limit": limit})
    rows = []
    for name in (name for name in cases() if given.only in name):
        command = [sys.executable, __file__, "--case", name]
        done = subprocess.run(command, capture_output=True, text=True, check=False)
        if done.returncode:
            print(f"{name}: {done.stderr.strip().splitlines()[-1]}", flush=True)
            continue
        outcome = Outcome(**json.loads(done.stdout.splitlines()[-1]))
        rows.append([name, *outcome])
        print(rows[-1], flush=True)
    report.table(f"A budget of {SECONDS} s", ["problem", *Outcome._fields], rows)
    report.close()


if __name__ == "__main__":
    main()
