"""The paper's table 1 on two real graphs: WordNet with SemCor, and Wikispeedia.

For each decoder the distance cost, in per cent of the certified optimum, and the value, the
share of mentions whose candidate is right, for both connections of the candidate sets. Sets
are shuffled and ties broken at random: the order of candidates is no information here.
"""

from __future__ import annotations

import json
import math
import statistics
from collections import defaultdict
from collections.abc import Collection, Sequence
from dataclasses import dataclass
from itertools import islice
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Literal

from timing import Report  # isort: skip - before numpy

import numpy as np
from linking_data import read_wikispeedia
from numpy.typing import NDArray

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
from spacy_decoders.graph import ConceptGraph
from spacy_decoders.knowledge.concept_base import ConceptBase
from spacy_decoders.readers.text_lines import json_objects, text_lines

__all__ = ["DistanceCosts", "real_graphs", "solved"]

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


@dataclass(frozen=True)
class Document:
    """Candidate sets and, for each, the right vertex."""

    sets: list[NDArray[np.int64]]
    gold: list[int]


def real_graphs(report: Report, data: Path, quick: bool) -> None:
    """Print table 1 for both graphs, where the data is there."""
    for name, reader in (("wordnet", semcor), ("wikispeedia", wikispeedia)):
        folder = data / name
        if not folder.is_dir():
            print(f"\n{name}: no data at {folder.name}; left out")
            continue
        graph, documents = reader(folder, 20 if quick else 120)
        sizes = [len(members) for document in documents for members in document.sets]
        report.facts[name] = {
            "vertices": len(graph),
            "edges": graph.n_edges,
            "documents": len(documents),
            "sets": statistics.mean(len(document.sets) for document in documents),
            "candidates": statistics.mean(sizes),
        }
        print(f"\n{name}: {json.dumps(report.facts[name])}")
        for connection in ("maximal", "minimal"):
            compare(report, name, graph, documents, connection)


def compare(
    report: Report,
    name: str,
    graph: ConceptGraph,
    documents: list[Document],
    connection: Literal["maximal", "minimal"],
) -> None:
    """Decode all documents with all decoders under one connection."""
    costs = DistanceCosts()
    for seed, document in enumerate(documents):
        problem = RepresentativesProblem.from_graph(graph, document.sets, connection)
        gold = [
            int(np.flatnonzero(members == right)[0])
            for members, right in zip(document.sets, document.gold, strict=True)
        ]
        costs.add(problem, solved(problem, seconds=5, seed=seed), gold, seed=seed)
    costs.table(report, f"{name}, {connection} connection")


def semcor(folder: Path, count: int) -> tuple[ConceptGraph, list[Document]]:
    """Read WordNet's graph and, of SemCor's texts, stretches of 14 different nouns."""
    ends = [line.rstrip("\n").split("\t")[0:3:2] for line in text_lines(folder / "graph.tsv.gz")]
    names, edges = np.unique(ends, return_inverse=True)
    graph = ConceptGraph.from_edges(edges.reshape(-1, 2), largest_component=True)
    number = {str(names[v]): v for v in graph.vertices.tolist()}
    senses: dict[str, list[int]] = defaultdict(list)
    synset_of: dict[str, int] = {}
    for line in islice(text_lines(folder / "senses.tsv.gz"), 1, None):
        lemma, part, key, synset = line.rstrip("\n").split("\t")
        if part == "n" and synset in number:
            senses[lemma.lower()].append(number[synset])
            synset_of[key] = number[synset]
    random = np.random.default_rng(0)
    documents = []
    for _, text in json_objects(folder / "semcor.jsonl.gz"):
        nouns: dict[str, int] = {}
        for mention in text["mentions"]:
            lemma = mention["lemma"].lower()
            gold = [synset_of[key] for key in mention["gold"] if key in synset_of]
            if gold and gold[0] in senses[lemma]:
                nouns.setdefault(lemma, gold[0])
        chosen = list(nouns.items())[:14]
        if len(chosen) == 14:
            sets = [random.permutation(np.unique(senses[lemma])) for lemma, _ in chosen]
            documents.append(Document(sets, [gold for _, gold in chosen]))
    return graph, documents[:count]


def wikispeedia(folder: Path, count: int) -> tuple[ConceptGraph, list[Document]]:
    """Read the link graph; documents are articles that are taken out of it.

    The mentions of an article are 12 of its links. The candidates of each are the 84 best
    pages by BM25 for the words of the link's title, a page's text being its title, the
    titles of its links and its categories.
    """
    given = read_wikispeedia(folder)
    pairs = np.array([link for link in given.links if link[0] != link[1]])
    out: list[list[int]] = [[] for _ in given.titles]
    for source, target in pairs.tolist():
        out[source].append(target)
    random = np.random.default_rng(0)
    able = [u for u, targets in enumerate(out) if len(set(targets)) >= 12]
    held = random.choice(able, min(count, len(able)), replace=False).tolist()
    kept = ~np.isin(pairs, held).any(axis=1)
    graph = ConceptGraph.from_edges(pairs[kept], largest_component=True)
    pages = graph.vertices.tolist()
    inside = set(pages)
    titles = [title.replace("_", " ") for title in given.titles]

    def text(page: int) -> str:
        last = [category.split(".")[-1].replace("_", " ") for category in given.categories[page]]
        linked = [titles[target] for target in out[page] if target in inside]
        return " ".join([titles[page], *last, *linked])

    documents = []
    with TemporaryDirectory() as place:
        # found by its text alone: the title is the page's number
        rows = ({"id": str(page), "title": f"_{page}", "text": text(page)} for page in pages)
        base = ConceptBase.build(rows, Path(place) / "base")
        for article in held:
            sets, gold = [], []
            for target in random.permutation(sorted({v for v in out[article] if v in inside})):
                numbers, _ = base.text.find(titles[target], 84)
                found = np.array([int(base.id(number)) for number in numbers.tolist()], int)
                if target in found and len(found) > 1 and len(sets) < 12:
                    sets.append(random.permutation(found))
                    gold.append(int(target))
            if len(sets) > 1:
                documents.append(Document(sets, gold))
    return graph, documents
