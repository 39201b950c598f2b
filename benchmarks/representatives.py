"""Distances in a graph of Wikipedia's size, and choosing representatives in it.

    python benchmarks/representatives.py               # all but the doubled graph
    python benchmarks/representatives.py --quick       # a graph of a twentieth, few documents
    python benchmarks/representatives.py --decoders    # only choosing, and the real graphs

Distances are timed by processor time, all of one thread and of a graph in memory; decoders by
the clock on the wall, as their budgets are.

The graph is drawn from a seed, with the exact numbers of vertices and edges of the paper
(Blanco, Boldi, Marino 2014), a heavy tail and communities. Building runs in a process of
its own, so that its peak of memory is its own, and is kept in results/cache.
"""

from __future__ import annotations

import timing  # isort: skip - first: it sets the threads

import argparse
import json
import resource
import statistics
import subprocess
import sys
from pathlib import Path
from time import perf_counter, process_time, thread_time
from typing import Any

import numpy as np
from numpy.typing import NDArray
from representatives_tables import DistanceCosts, real_graphs, solved
from wikipedia_like import PAPER, documents, edges

from spacy_decoders.decoders.representatives import RepresentativesProblem
from spacy_decoders.graph import ConceptGraph


def main() -> None:
    """Run what the options say."""
    parser = timing.arguments(__doc__ or "")
    parser.add_argument("--decoders", action="store_true", help="leave the graph's speed out")
    parser.add_argument("--child", nargs="*", help=argparse.SUPPRESS)
    options = parser.parse_args()
    if options.child:
        child(*options.child)
        return
    report = timing.Report("representatives", options.results)
    size = tuple(number // 20 for number in PAPER) if options.quick else PAPER
    folder = options.results / "cache" / f"graph-{size[0]}"
    graph = built(report, folder, size, 256)
    if not options.decoders:
        speed_of_distances(report, graph, options.quick)
    choosing(report, graph, options.quick)
    real_graphs(report, options.data / "linking", options.quick)
    report.close()


# --- the graph ------------------------------------------------------------------


def built(report: timing.Report, folder: Path, size: tuple[int, int], hubs: int) -> ConceptGraph:
    """Build the graph in another process, unless it is there, and open it."""
    facts = folder / "build.json"
    if not facts.exists():
        draw = folder.with_suffix(".npy")
        folder.mkdir(parents=True, exist_ok=True)
        if not draw.exists():
            run_child("draw", draw, *size)
        facts.write_text(json.dumps(run_child("build", draw, folder, hubs)))
        draw.unlink()
    measured = json.loads(facts.read_text())
    ConceptGraph.open(folder)
    opening = []
    for _ in range(9):
        begin = perf_counter()
        graph = ConceptGraph.open(folder)
        opening.append(perf_counter() - begin)
    on_disk = sum(path.stat().st_size for path in folder.glob("*.npy"))
    report.table(
        f"Building: {len(graph):,} vertices, {graph.n_edges:,} edges",
        ["step", "CPU seconds", "peak GB"],
        [
            ["CSR from an edge array", measured["csr"], measured["csr_peak"]],
            [f"hub index, {hubs} hubs", measured["hubs"], measured["hubs_peak"]],
            ["opening by memory map", statistics.median(opening), None],
            ["GB on disk", on_disk / 1e9, None],
        ],
    )
    return graph


def run_child(*arguments: Any) -> dict[str, float]:
    """Run one step in a process of its own; return what it measured."""
    command = [sys.executable, __file__, "--child", *map(str, arguments)]
    finished = subprocess.run(command, check=True, stdout=subprocess.PIPE, text=True)
    return json.loads(finished.stdout.splitlines()[-1])


def child(step: str, path: str, *arguments: str) -> None:
    """Do one step and print what it took as JSON."""
    measured: dict[str, float] = {}
    if step == "draw":
        np.save(path, edges(*map(int, arguments)))
    elif step == "build":
        warm = ConceptGraph.from_edges(np.array([[0, 1]], dtype=np.int32))
        warm.index_hubs(1)
        # mapped: what the caller keeps in memory is not the builder's
        pairs = np.load(path, mmap_mode="r")
        begin = process_time()
        graph = ConceptGraph.from_edges(pairs)
        measured |= {"csr": process_time() - begin, "csr_peak": peak(), "edges": graph.n_edges}
        del pairs
        begin = process_time()
        graph.index_hubs(int(arguments[1]))
        measured |= {"hubs": process_time() - begin, "hubs_peak": peak()}
        graph.save(arguments[0])
    print(json.dumps(measured))


def peak() -> float:
    """Return the most memory that this process has used, in GB."""
    return resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1e6


# --- distances --------------------------------------------------------------------


def speed_of_distances(report: timing.Report, graph: ConceptGraph, quick: bool) -> None:
    """Time distances and hitting distances against searches, and compare the numbers."""
    docs = documents(len(graph), 3 if quick else 4, 12, 96)
    vertices = [np.unique(np.concatenate(document)) for document in docs]
    rows = []
    for document, of_document in zip(docs, vertices, strict=True):
        sample = of_document[:: max(1, len(of_document) // 2)][:2]
        tasks = {
            "full matrix": lambda v=of_document: graph.distances(v),
            "hitting": lambda d=document: graph.hitting(d),
            "scipy BFS": lambda s=sample: scipy_rows(graph, s),
        }
        times = timing.interleaved(tasks, 3, seconds=5.0, clock=thread_time)
        # the searches were timed for a sample of the sources
        share = len(of_document) / len(sample)
        times["scipy BFS"] *= share
        rows.append(times)
        check(graph, of_document, sample)
    median = {name: statistics.median(row[name] for row in rows) for name in rows[0]}
    report.table(
        "A document of 12 sets of 96 (searches: two sources, times the number of sources)",
        ["method", "ms", "times the full matrix"],
        [[name, 1e3 * t, t / median["full matrix"]] for name, t in median.items()],
    )


def check(graph: ConceptGraph, vertices: NDArray[Any], sample: NDArray[Any]) -> None:
    """Compare some rows of the matrix with searches that use no hub; stop at any difference."""
    found = graph.distances(vertices)[np.searchsorted(vertices, sample)]
    from spacy_decoders.graph.distances import distances_among

    some = graph.arrays.inner[graph.rows(sample)]
    inner = graph.arrays.inner[graph.rows(vertices)]
    plain = distances_among(graph.arrays, None, np.concatenate([some, inner]))
    if not np.array_equal(found, plain[: len(sample), len(sample) :]):
        raise AssertionError("wrong distances")


def scipy_rows(graph: ConceptGraph, sample: NDArray[Any]) -> None:
    """Search from a few vertices with scipy."""
    from scipy.sparse import csr_matrix
    from scipy.sparse.csgraph import breadth_first_order

    arrays = graph.arrays
    size = (len(graph), len(graph))
    # one-byte weights: a search does not look at them
    weights = np.broadcast_to(np.ones(1, dtype=np.float64), len(arrays.indices))
    matrix = csr_matrix((weights, arrays.indices, arrays.indptr), size, copy=False)
    for source in arrays.inner[graph.rows(sample)]:
        breadth_first_order(matrix, source, directed=True, return_predecessors=True)


# --- choosing ---------------------------------------------------------------------


def choosing(report: timing.Report, graph: ConceptGraph, quick: bool) -> None:
    """Certify documents of the drawn graph, without and with local costs."""
    random = np.random.default_rng(5)
    docs = documents(len(graph), 8 if quick else 60, 12, 96, seed=2)
    costs = DistanceCosts(without=["PageRank"])
    rows = []
    for name, with_local in (("distances", False), ("distances and local costs", True)):
        taken, certified, gaps = [], 0, []
        for document in docs:
            local = [prior_costs(random, len(s)) for s in document] if with_local else None
            problem = RepresentativesProblem.from_graph(graph, document, local=local)
            begin = perf_counter()
            solution = solved(problem, seconds=20)
            taken.append(perf_counter() - begin)
            certificate = solution.certificate
            certified += certificate.is_optimal
            gaps.append(certificate.gap / max(certificate.score, 1e-9))
            # the spanning tree looks at the whole graph each time
            if not with_local and certificate.is_optimal and len(costs) < 12:
                costs.add(problem, solution)
        median = 1e3 * statistics.median(taken)
        share = 100 * certified / len(docs)
        rows.append([name, len(docs), share, median, 1e3 * max(taken), 100 * max(gaps)])
    report.table(
        "ExactRepresentatives on 12 sets of 96",
        ["objective", "documents", "certified %", "median ms", "slowest ms", "largest gap %"],
        rows,
    )
    costs.table(report, "Distance costs in the drawn graph")


def prior_costs(random: np.random.Generator, size: int) -> NDArray[np.float64]:
    """Return -log p for candidates whose prior p falls with their rank, as 1 / rank."""
    weights = 1 / np.arange(1, size + 1)
    return random.permutation(-np.log(weights / weights.sum()))


if __name__ == "__main__":
    main()
