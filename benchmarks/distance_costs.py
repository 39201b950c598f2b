"""Distance costs and values of the decoders of representatives, as in the paper's table 1."""

from __future__ import annotations

import math
import statistics
from collections import defaultdict
from collections.abc import Collection, Sequence

from timing import Report  # isort: skip - before numpy

import numpy as np

from spacy_decoders import Budget
from spacy_decoders.decoders.representatives import (
    Degree,
    ExactRepresentatives,
    Greedy,
    HittingDistance,
    LocalSearch,
    PageRank,
    RepresentativesProblem,
    RepresentativesSolution,
    SpanningTree,
)

__all__ = ["DistanceCosts", "solved"]

EXACT = "ExactRepresentatives"


def solved(
    problem: RepresentativesProblem, *, seconds: float, seed: int = 0
) -> RepresentativesSolution:
    """Solve a problem exactly, but for its margins."""
    decoder = ExactRepresentatives(exact_margins=False, seed=seed)
    return decoder.decode(problem, budget=Budget(seconds=seconds))


class DistanceCosts:
    """What heuristics cost on some documents, in per cent of the optimum, and what they get right.

    Parameters
    ----------
    without
        Decoders to leave out.
    """

    def __init__(self, without: Collection[str] = ()) -> None:
        self.without = without
        self.ratios: dict[str, list[float]] = defaultdict(list)
        self.values: dict[str, list[float]] = defaultdict(list)
        self.certified: list[bool] = []

    def __len__(self) -> int:
        return len(self.certified)

    def add(
        self,
        problem: RepresentativesProblem,
        exact: RepresentativesSolution,
        gold: Sequence[int] | None = None,
        *,
        seed: int = 0,
    ) -> None:
        """Decode a document; `gold` has the right choices, where they are known."""
        best = exact.distance_cost
        decoders = [
            SpanningTree(seed), HittingDistance(seed), Greedy(seed), LocalSearch(seed=seed),
            Degree(seed), PageRank(seed),
        ]  # fmt: skip
        found = {EXACT: exact}
        for decoder in decoders:
            name = type(decoder).__name__
            if name not in self.without:
                found[name] = decoder.decode(problem, budget=Budget(seconds=5))
        for name, solution in found.items():
            self.ratios[name].append(100 * solution.distance_cost / best)
            if gold is not None:
                self.values[name].append(float(np.mean(solution.choices == np.asarray(gold))))
        if gold is not None:
            self.ratios["Ground truth"].append(100 * 2 * problem.pair_sum(gold) / best)
        self.certified.append(exact.certificate.is_optimal)

    def table(self, report: Report, name: str) -> None:
        """Print means and their standard errors."""
        share = 100 * statistics.mean(self.certified) if self.certified else 0.0
        report.table(
            f"{name}: {len(self)} documents, {share:.1f}% certified",
            ["decoder", "distance-cost ratio", "± s.e.", "value", "± s.e."],
            [[name, *spread(of), *spread(self.values[name])] for name, of in self.ratios.items()],
        )


def spread(numbers: Sequence[float]) -> tuple[float | None, float | None]:
    """Return the mean and its standard error."""
    if not numbers:
        return None, None
    error = statistics.stdev(numbers) / math.sqrt(len(numbers)) if len(numbers) > 1 else 0.0
    return statistics.mean(numbers), error
