"""Linking accuracy, margins, speed and memory of graph_entity_linker and its rivals.

    python benchmarks/linking.py            # all data sets
    python benchmarks/linking.py --quick    # fewer documents
    python benchmarks/linking.py --full-size    # speed in a graph of Wikipedia's size, alone

Weights are tuned on the training part of aida-candidates with the exact decoder, and used
unchanged on all other data. Candidates are shuffled: their order in the files is no feature.
"""

from __future__ import annotations

import timing  # isort: skip - first: it sets the threads

from collections.abc import Callable
from dataclasses import dataclass, replace
from itertools import pairwise
from pathlib import Path
from time import perf_counter

import numpy as np
from distance_costs import DistanceCosts, solved
from linking_data import DataSet, Document, aida, wikidata, wikispeedia
from linking_speed import alias_table, demo_speed, full_size_speed
from plots import bars

from spacy_decoders import Budget
from spacy_decoders.decoders.representatives import (
    ExactRepresentatives,
    HittingDistance,
    LocalSearch,
    RepresentativesProblem,
)
from spacy_decoders.knowledge.pair_costs import (
    DirectLink,
    GraphDistance,
    MilneWitten,
    MutualInformation,
    SharedNeighbours,
)

WIKIDATA = ("kore50", "wiki-fair-v2-no-coref", "oke-2015-train", "oke-2016-train")


@dataclass(frozen=True)
class Objective:
    """What a document is linked by: weights of popularity and of pairs, and the pair cost."""

    pairs: Callable | None
    weight: float = 25.0
    local: float = 1.0

    def problem(self, document: Document) -> RepresentativesProblem:
        table = document.table
        count = len(table)
        costs = np.zeros((count, count)) if self.pairs is None else self.pairs(table)
        sets = [np.arange(a, b) for a, b in pairwise(table.offsets)]
        own = -self.local * np.log1p(table.popularity)
        local = [own[members] for members in sets]
        return RepresentativesProblem(costs, sets, local, self.weight, table.keys)


def linked(data: DataSet, objective: Objective, decoder=None) -> dict:
    """Link all documents: accuracy, share certified, margins with what was right, seconds."""
    decoder = decoder or ExactRepresentatives(exact_margins=False)
    right, covered, margins, certified, seconds = [], [], [], [], []
    for document in data.documents:
        if not document.table.mentions:
            right += [False] * len(document.gold)
            covered += [data.covered(key) for _, key in document.gold]
            continue
        start = perf_counter()
        solution = decoder.decode(objective.problem(document), budget=Budget(seconds=5))
        seconds.append(perf_counter() - start)
        certified.append(solution.certificate.is_optimal)
        correct = document.right(solution.choices)
        right += correct
        covered += [data.covered(key) for _, key in document.gold]
        margins += [
            (float(solution.margins[unit]) if unit >= 0 else 0.0, is_right)
            for (unit, _), is_right in zip(document.gold, correct, strict=True)
        ]
    return {
        "accuracy": 100 * float(np.mean(right)),
        "covered": 100 * float(np.mean(np.array(right)[covered])) if any(covered) else None,
        "certified": 100 * float(np.mean(certified)),
        "margins": margins,
        "ms": 1000 * float(np.median(seconds)),
    }


def tuned(train: DataSet) -> Objective:
    """The weight of pairs and of title overlap that link the training documents best."""
    found = {
        (weight, residual): linked(
            train, Objective(SharedNeighbours(residual, "document"), weight)
        )["accuracy"]
        for weight in (15.0, 20.0, 25.0, 30.0)
        for residual in (0.3, 0.5)
    }
    weight, residual = max(found, key=lambda pair: (found[pair], -pair[0]))
    return Objective(SharedNeighbours(residual, "document"), weight)


def at_coverage(margins: list[tuple[float, bool]], share: float) -> float:
    """Accuracy of the share of mentions with the largest margins."""
    ranked = sorted(margins, key=lambda pair: -pair[0])
    kept = ranked[: max(1, int(len(ranked) * share))]
    return 100 * float(np.mean([right for _, right in kept]))


def personalised_page_rank(data: DataSet, damping: float = 0.85) -> float:
    """Accuracy in the manner of Pershina, He and Grishman (2015).

    A candidate's coherence is the sum, over the other mentions, of the most that one of their
    candidates, weighed by its popularity, gives it of its personalised PageRank.
    """
    from spacy_decoders.graph import adjacency

    right = []
    for document in data.documents:
        table = document.table
        if not table.mentions:
            right += [False] * len(document.gold)
            continue
        vertices, places = np.unique(table.concepts, return_inverse=True)
        joined = adjacency(data.base.graph, vertices).astype(float)
        np.fill_diagonal(joined, 1.0)
        steps = joined / joined.sum(axis=0)
        ranks = np.linalg.solve(
            np.eye(len(steps)) - damping * steps, (1 - damping) * np.eye(len(steps))
        )
        popularity = np.log1p(table.popularity)
        shares = np.empty(len(table))
        for start, stop in pairwise(table.offsets):
            own = popularity[start:stop]
            shares[start:stop] = own / max(own.sum(), 1e-12)
        received = ranks[np.ix_(places, places)] * shares[None, :]
        coherence = np.zeros(len(table))
        for unit, (start, stop) in enumerate(pairwise(table.offsets)):
            best = received[:, start:stop].max(axis=1)
            best[table.own_mention == unit] = 0.0
            coherence += best
        scores = coherence + coherence.mean() * shares
        choices = np.array([int(np.argmax(scores[a:b])) for a, b in pairwise(table.offsets)])
        right += document.right(choices)
    return 100 * float(np.mean(right))


def objectives_table(report: timing.Report, test: DataSet, best: Objective) -> dict:
    """What each objective links right, decoded exactly."""
    rivals: dict[str, Objective] = {
        "links received alone": Objective(None, 0.0),
        "graph distance alone": Objective(GraphDistance(), 1.0, local=0.0),
        "+ graph distance": Objective(GraphDistance(), 10.0),
        "+ direct link": Objective(DirectLink(), best.weight),
        "+ Milne-Witten": Objective(MilneWitten(), best.weight),
        "+ mutual information": Objective(MutualInformation(), best.weight),
        "+ shared neighbours": Objective(SharedNeighbours(0.0, "document"), best.weight),
        "+ shared neighbours and title overlap": best,
    }
    rows, found = [], {}
    for name, objective in rivals.items():
        found[name] = linked(test, objective)
        result = found[name]
        rows.append([name, result["accuracy"], result["certified"], result["ms"]])
    rows.insert(-1, ["personalised PageRank", personalised_page_rank(test), None, None])
    report.table(
        f"aida-candidates {test.name}: accuracy of linkable mentions",
        ["objective", "accuracy %", "certified %", "ms a document"],
        rows,
    )
    return found


def heuristics_table(report: timing.Report, data: DataSet) -> None:
    """Value and distance cost of every decoder of the paper under graph distance alone."""
    costs = DistanceCosts()
    for document in data.documents:
        table, gold = document.table, document.gold_choices()
        if len(table.mentions) < 2 or gold is None:
            continue
        candidates = [table.concepts[a:b] for a, b in pairwise(table.offsets)]
        problem = RepresentativesProblem.from_graph(data.base.graph, candidates)
        exact = solved(problem, seconds=2)
        if exact.distance_cost:
            costs.add(problem, exact, gold)
    costs.table(report, f"{data.name}, graph distance alone")


def wikidata_table(report: timing.Report, folder: Path, cache: Path, best: Objective) -> None:
    """Local costs alone against local costs and graph, on text with Wikidata candidates."""
    rows = []
    for name in WIKIDATA:
        data = wikidata(folder, name, cache)
        alone = linked(data, Objective(None, 0.0))
        near = linked(data, best)
        # a sparse graph: few candidates are joined, but many share a neighbour outside
        both = linked(data, Objective(SharedNeighbours(0.3, "graph"), best.weight))
        covered = [data.covered(key) for document in data.documents for _, key in document.gold]
        rows.append(
            [
                name,
                len(covered),
                100 * float(np.mean(covered)),
                alone["accuracy"],
                both["accuracy"],
                alone["covered"],
                near["covered"],
                both["covered"],
                both["certified"],
            ]
        )
        helped = both["covered"] - alone["covered"]
        report.target(f"{name}: the graph helps where it covers", 0.01, helped, unit="points")
    report.table(
        "wikidata-benchmarks: accuracy %",
        [
            "set",
            "mentions",
            "gold in graph %",
            "local",
            "local + graph",
            "local, covered",
            "+ neighbours in document, covered",
            "+ neighbours in graph, covered",
            "certified %",
        ],
        rows,
    )


def wikispeedia_table(report: timing.Report, data: DataSet) -> None:
    """Full-text candidates: their scores alone, and with graph distance."""
    # the weight that links the first forty documents best
    trial = replace(data, documents=data.documents[:40])
    weight = max(
        (1.0, 2.0, 4.0, 8.0),
        key=lambda w: linked(trial, Objective(GraphDistance(), w))["accuracy"],
    )
    data = replace(data, documents=data.documents[40:])
    local = linked(data, Objective(None, 0.0, 1.0))["accuracy"]
    rows = [["full-text score alone", local, None]]
    exact = linked(data, Objective(GraphDistance(), weight))
    for name, decoder in (
        ("+ distance, HittingDistance", HittingDistance()),
        ("+ distance, LocalSearch", LocalSearch()),
    ):
        rows.append(
            [name, linked(data, Objective(GraphDistance(), weight), decoder)["accuracy"], None]
        )
    rows.append(["+ distance, exact", exact["accuracy"], exact["certified"]])
    report.table("wikispeedia: accuracy %", ["objective", "accuracy %", "certified %"], rows)
    report.target(
        "wikispeedia: local + distance over local", 5.0, exact["accuracy"] - local, unit="points"
    )


def main() -> None:
    """Run everything."""
    parser = timing.arguments(__doc__ or "")
    parser.add_argument("--full-size", action="store_true", help="only a graph of full size")
    options = parser.parse_args()
    report = timing.Report("linking", options.results)
    if options.full_size:
        report.name = "linking-full-size"
        full_size_speed(report, options.results / "cache" / "linking")
        report.close()
        return
    folder, cache = options.data / "linking", options.results / "cache" / "linking"
    cache.mkdir(parents=True, exist_ok=True)
    quick = options.quick
    train = aida(folder / "aida-candidates", "train", cache, 40 if quick else None)
    test = aida(folder / "aida-candidates", "testa", cache, 40 if quick else None)
    best = tuned(train)
    report.facts["weights"] = {"pairs": best.weight, "title overlap": best.pairs.residual}
    found = objectives_table(report, test, best)
    ours = found["+ shared neighbours and title overlap"]
    exact = linked(test, best, ExactRepresentatives(exact_margins=True))
    coverage = {share: at_coverage(exact["margins"], share) for share in (1.0, 0.8, 0.5)}
    report.table(
        "aida-candidates testa: accuracy by coverage, most certain margins first",
        ["coverage %", "accuracy %"],
        [[100 * share, value] for share, value in coverage.items()],
    )
    heuristics_table(report, test)
    wikidata_table(report, folder / "wikidata-benchmarks", cache, best)
    speedia = wikispeedia(folder / "wikispeedia", cache, 50 if quick else 160, 84)
    wikispeedia_table(report, speedia)
    heuristics_table(report, speedia)
    alias_table(report, 100_000 if quick else 1_000_000)
    demo_speed(report)
    report.target("aida-candidates testa", 92.5, ours["accuracy"], unit="%")
    report.target("accuracy at 80% coverage", 97.0, coverage[0.8], unit="%")
    plot(report, found)
    report.close()


def plot(report: timing.Report, found: dict[str, dict]) -> None:
    """Accuracy by objective."""
    title = "aida-candidates testa: accuracy of linkable mentions"
    values = {name: result["accuracy"] for name, result in found.items()}
    bars(report.path(".png"), title, "%", values, log=False)


if __name__ == "__main__":
    main()
