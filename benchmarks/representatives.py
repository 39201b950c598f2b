"""Distances in a graph of Wikipedia's size, and choosing representatives in it.

    python benchmarks/representatives.py
    python benchmarks/representatives.py --quick       # a graph of a twentieth, few documents

Distances are timed by processor time, all of one thread and of a graph in memory; decoders by
the clock on the wall, as their budgets are.

The graph is drawn from a seed, with as many vertices as the paper's (Blanco, Boldi, Marino 2014)
and about as many edges, a heavy tail and communities, and kept in results/cache. Their table 1 is
repeated on a real graph, that of Wikispeedia.
"""

from __future__ import annotations

import harness  # isort: skip - first: it sets the threads

import math
import statistics
from collections import defaultdict
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from functools import partial
from pathlib import Path
from tempfile import TemporaryDirectory
from time import perf_counter
from typing import Any, Literal
from urllib.parse import unquote

import numpy as np
from numpy.typing import NDArray

from spacy_decoders import Budget
from spacy_decoders.decoders import representatives as core
from spacy_decoders.graph import ConceptGraph
from spacy_decoders.knowledge.concept_base import ConceptBase
from spacy_decoders.readers.text_lines import text_lines

#: Vertices and edges of the paper's graph of Wikipedia.
PAPER = (3_685_351, 36_066_162)
#: Vertices of a small and of a large community, and how steeply popularity falls.
SMALL, LARGE, TAIL = 200, 20_000, 0.7


def main() -> None:
    """Run what the options say."""
    options = harness.arguments(__doc__ or "").parse_args()
    report = harness.Report("representatives", options.results)
    size = tuple(number // 20 for number in PAPER) if options.quick else PAPER
    folder = options.results / "cache" / f"graph-{size[0]}"
    graph = built(report, folder, size, 256)
    speed_of_distances(report, graph, options.quick)
    choosing(report, graph, options.quick)
    real_graph(report, options.data / "linking" / "wikispeedia", options.quick)


# --- the graph ------------------------------------------------------------------


def built(report: harness.Report, folder: Path, size: tuple[int, int], hubs: int) -> ConceptGraph:
    """Build the graph, unless it is there, and open it."""
    if not folder.exists():
        ConceptGraph.from_edges(np.array([[0, 1]], dtype=np.int32)).index_hubs(1)  # compiles
        pairs = edges(*size)
        graph, building = harness.timed(lambda: ConceptGraph.from_edges(pairs))
        _, indexing = harness.timed(lambda: graph.index_hubs(hubs))
        rows = [["CSR from an edge array", building], [f"index of {hubs} hubs", indexing]]
        title = f"Building: {len(graph):,} vertices, {graph.n_edges:,} edges"
        report.table(title, ["step", "CPU seconds"], rows)
        folder.parent.mkdir(parents=True, exist_ok=True)
        graph.save(folder)
    return ConceptGraph.open(folder)


def edges(vertices: int, count: int) -> NDArray[np.int32]:
    """About `count` edges of a connected graph; some come twice.

    One end of each is drawn by popularity, a power law; the other likewise, or from the small or
    the large community of the first. A tree over the ranks of popularity connects everything.
    """
    random = np.random.default_rng(0)
    ranked = random.permutation(vertices).astype(np.int32)
    ranks = np.arange(1, vertices)
    above = (ranks * random.random(vertices - 1) ** 2).astype(np.int64)
    ends, others = (ranked[popular(random, vertices, count - vertices)] for _ in range(2))
    kind = random.random(len(ends))
    for size, low, high in ((SMALL, 0.0, 0.35), (LARGE, 0.35, 0.6)):
        inside = (low <= kind) & (kind < high)
        near = ends[inside] // size * size + random.integers(size, size=int(inside.sum()))
        others[inside] = np.minimum(near, vertices - 1)
    return np.concatenate([np.stack([ranked[ranks], ranked[above]]), [ends, others]], axis=1).T


def documents(
    vertices: int, count: int, sets: int, size: int, seed: int = 1
) -> list[list[NDArray[np.int64]]]:
    """Documents: lists of sets of different candidates.

    Each document has a topic, a large community; two candidates of each set come from its
    small communities, a fifth of the others are popular, and the rest is anything.
    """
    random = np.random.default_rng(seed)
    ranked = np.random.default_rng(0).permutation(vertices)
    out = []
    for _ in range(count):
        topic = int(random.integers(max(1, vertices // LARGE))) * LARGE
        near = topic + random.integers(0, min(LARGE, vertices - topic), 4) // SMALL * SMALL
        document = []
        for _ in range(sets):
            own = (random.choice(near, 2) + random.integers(0, SMALL, 2)) % vertices
            famous = ranked[popular(random, vertices, size // 5)]
            rest = random.integers(0, vertices, 2 * size)
            members, first = np.unique(np.concatenate([own, famous, rest]), return_index=True)
            document.append(random.permutation(members[np.argsort(first)[:size]]))
        out.append(document)
    return out


def popular(random: np.random.Generator, vertices: int, count: int) -> NDArray[np.int64]:
    """Draw ranks of popularity: rank r with probability in proportion to r ** -TAIL."""
    return (vertices * random.random(count) ** (1 / (1 - TAIL))).astype(np.int64)


# --- distances --------------------------------------------------------------------


def speed_of_distances(report: harness.Report, graph: ConceptGraph, quick: bool) -> None:
    """Time distances against searches."""
    docs = documents(len(graph), 3 if quick else 4, 12, 96)
    vertices = [np.unique(np.concatenate(document)) for document in docs]
    rows = []
    for of_document in vertices:
        sample = of_document[:: max(1, len(of_document) // 2)][:2]
        tasks = {
            "full matrix": lambda v=of_document: graph.distances(v),
            "scipy BFS": lambda s=sample: scipy_rows(graph, s),
        }
        times = harness.interleaved(tasks, 3, seconds=5.0)
        # the searches were timed for a sample of the sources
        share = len(of_document) / len(sample)
        times["scipy BFS"] *= share
        rows.append(times)
    median = {name: statistics.median(row[name] for row in rows) for name in rows[0]}
    report.table(
        "A document of 12 sets of 96 (searches: two sources, times the number of sources)",
        ["method", "ms", "times the full matrix"],
        [[name, 1e3 * t, t / median["full matrix"]] for name, t in median.items()],
    )


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


def choosing(report: harness.Report, graph: ConceptGraph, quick: bool) -> None:
    """Certify documents of the drawn graph."""
    taken, certificates = [], []
    for document in documents(len(graph), 8 if quick else 60, 12, 96, seed=2):
        problem = core.RepresentativesProblem.from_graph(graph, document)
        found, seconds = harness.timed(partial(solved, problem, seconds=20), perf_counter)
        certificates.append(found.certificate)
        taken.append(1e3 * seconds)
    gaps = [100 * of.gap / max(of.score, 1e-9) for of in certificates]
    share = 100 * statistics.mean(of.is_optimal for of in certificates)
    report.table(
        "ExactRepresentatives on 12 sets of 96",
        ["documents", "certified %", "median ms", "slowest ms", "largest gap %"],
        [[len(taken), share, statistics.median(taken), max(taken), max(gaps)]],
    )


# --- the paper's table 1 on a real graph -------------------------------------------
#
# For each decoder the distance cost, in per cent of the certified optimum, and the value, the
# share of mentions whose candidate is right, for both connections of the candidate sets. Sets
# are shuffled and ties broken at random: the order of candidates is no information here.

EXACT = "ExactRepresentatives"


def solved(
    problem: core.RepresentativesProblem, *, seconds: float, seed: int = 0
) -> core.RepresentativesSolution:
    """Solve a problem exactly, but for its margins."""
    decoder = core.ExactRepresentatives(exact_margins=False, seed=seed)
    return decoder.decode(problem, budget=Budget(seconds=seconds))


def spread(numbers: Sequence[float]) -> tuple[float | None, float | None]:
    """Return the mean and its standard error."""
    if not numbers:
        return None, None
    error = statistics.stdev(numbers) / math.sqrt(len(numbers)) if len(numbers) > 1 else 0.0
    return statistics.mean(numbers), error


@dataclass(frozen=True)
class Document:
    """Candidate sets and, for each, the right vertex."""

    sets: list[NDArray[np.int64]]
    gold: list[int]


def real_graph(report: harness.Report, folder: Path, quick: bool) -> None:
    """Print table 1, where the data is there."""
    if not folder.is_dir():
        print(f"\nno data at {folder.name}; table 1 is left out")
        return
    graph, documents = wikispeedia(folder, 20 if quick else 120)
    report.facts["wikispeedia"] = {
        "vertices": len(graph),
        "edges": graph.n_edges,
        "documents": len(documents),
        "sets": statistics.mean(len(document.sets) for document in documents),
        "candidates": statistics.mean(len(s) for document in documents for s in document.sets),
    }
    for connection in ("maximal", "minimal"):
        compare(report, graph, documents, connection)


def compare(
    report: harness.Report,
    graph: ConceptGraph,
    documents: list[Document],
    connection: Literal["maximal", "minimal"],
) -> None:
    """Decode all documents with all decoders under one connection.

    Costs are in per cent of the optimum; the value is the share of right choices.
    """
    ratios: dict[str, list[float]] = defaultdict(list)
    values: dict[str, list[float]] = defaultdict(list)
    certified = []
    for seed, document in enumerate(documents):
        problem = core.RepresentativesProblem.from_graph(graph, document.sets, connection)
        gold = [
            int(np.flatnonzero(members == right)[0])
            for members, right in zip(document.sets, document.gold, strict=True)
        ]
        exact = solved(problem, seconds=5, seed=seed)
        found = {EXACT: exact}
        for kind in (
            core.SpanningTree, core.HittingDistance, core.Greedy, core.LocalSearch, core.Degree,
            core.PageRank,
        ):  # fmt: skip
            decoder = kind(seed=seed)
            found[kind.__name__] = decoder.decode(problem, budget=Budget(seconds=5))
        for name, solution in found.items():
            ratios[name].append(100 * solution.distance_cost / exact.distance_cost)
            values[name].append(float(np.mean(solution.choices == np.asarray(gold))))
        apart = problem.sum_among(problem.offsets[:-1] + np.array(gold))[0]
        ratios["Ground truth"].append(100 * 2 * apart / exact.distance_cost)
        certified.append(exact.certificate.is_optimal)
    share = f"{100 * statistics.mean(certified):.1f}% certified"
    report.table(
        f"wikispeedia, {connection} connection: {len(certified)} documents, {share}",
        ["decoder", "distance-cost ratio", "± s.e.", "value", "± s.e."],
        [[name, *spread(of), *spread(values[name])] for name, of in ratios.items()],
    )


def table_rows(path: Path) -> Iterator[list[str]]:
    """Read the rows of a table of Wikispeedia, but for its comments."""
    yield from (line.rstrip("\n").split("\t") for line in text_lines(path) if line[0] not in "#\n")


def wikispeedia(folder: Path, count: int) -> tuple[ConceptGraph, list[Document]]:
    """Read the link graph; documents are articles that are taken out of it.

    The mentions of an article are 12 of its links. The candidates of each are the 84 best
    pages by BM25 for the words of the link's title, a page's text being its title, the
    titles of its links and its categories.
    """
    names = [name for (name,) in table_rows(folder / "articles.tsv")]
    number = {name: place for place, name in enumerate(names)}
    titles = [unquote(name).replace("_", " ") for name in names]
    out: list[list[int]] = [[] for _ in names]
    for source, target in table_rows(folder / "links.tsv"):
        out[number[source]].append(number[target])
    subjects: list[list[str]] = [[] for _ in names]
    for name, path in table_rows(folder / "categories.tsv"):
        subjects[number[name]].append(path.removeprefix("subject.").replace("_", " "))
    pairs = np.array([(u, v) for u, targets in enumerate(out) for v in targets if u != v])
    random = np.random.default_rng(0)
    able = [u for u, targets in enumerate(out) if len(set(targets)) >= 12]
    held = random.choice(able, min(count, len(able)), replace=False).tolist()
    kept = ~np.isin(pairs, held).any(axis=1)
    graph = ConceptGraph.from_edges(pairs[kept], largest_component=True)
    pages = graph.vertices.tolist()
    inside = set(pages)

    def text(page: int) -> str:
        linked = [titles[target] for target in out[page] if target in inside]
        return " ".join([titles[page], *subjects[page], *linked])

    documents = []
    with TemporaryDirectory() as place:
        # found by its text alone: no article has a word like the title
        rows = ({"id": str(page), "title": f"page{page}x", "text": text(page)} for page in pages)
        base = ConceptBase.build(rows, Path(place) / "base")
        assert base.text is not None
        for article in held:
            sets: list[Any] = []
            gold = []
            for target in random.permutation(sorted({v for v in out[article] if v in inside})):
                numbers, _ = base.text.find(titles[target], 84)
                found = np.array([int(base.id(number)) for number in numbers.tolist()], int)
                if target in found and len(found) > 1 and len(sets) < 12:
                    sets.append(random.permutation(found))
                    gold.append(int(target))
            if len(sets) > 1:
                documents.append(Document(sets, gold))
    return graph, documents


if __name__ == "__main__":
    main()
