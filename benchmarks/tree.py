"""The tree decoders' dynamic programs against other people's, by sentence length.

::

    python benchmarks/tree.py [--quick] [--peers PYTHON]

Scores are random: peers are measured on the same arrays, and must find trees of the same score.
Batches are measured on the scores of the parser that ships with the package, on held-out English
sentences: certified, with a single root, by ours; without either by `ufal.chu_liu_edmonds`.
A document is these sentences end to end, whose boundaries are decided together with the trees.
Branch and bound is measured in `tree_branch_and_bound.py`, on real scores.
"""

from __future__ import annotations

import sys
from collections.abc import Callable
from functools import partial
from pathlib import Path
from time import thread_time
from typing import Any

import timing  # isort: skip - before numpy

import numpy as np
import plots
import tree_scores
from tree_peers import networkx_arborescence, supar_seconds, ufal_heads

from spacy_decoders.decoders.tree import (
    BlockScores,
    ChuLiuEdmonds,
    Eisner,
    SecondOrder,
    TreeProblem,
    decode_document,
    max_marginals,
    reduced_costs,
    score_tree,
)
from spacy_decoders.decoders.tree.kernels import chu_liu_edmonds, eisner

#: What is not ours.
PEERS = ("ufal.chu_liu_edmonds", "networkx", "supar, Eisner", "supar, MST")
LENGTHS = [10, 25, 50, 100]
#: A task is repeated inside one measurement until it takes about so long.
LEAST_SECONDS = 5e-3
#: Tokens of the documents.
DOCUMENTS = [1_250, 2_500, 5_000, 10_000, 20_000]
#: What a head in another sentence scores below the best in a token's own, and the log-odds of a
#: boundary: where there is one, where there is none, and their standard deviation.
ELSEWHERE, BEGINS, GOES_ON, DOUBT = 4.0, 3.0, -5.0, 1.5


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


def microseconds(
    tasks: dict[str, tuple[Callable[[Any], object], list[Any]]], repeats: int
) -> dict[str, float]:
    """Return the median microseconds a sentence of each task."""

    def over_all(task: Callable[[Any], object], items: list[Any]) -> None:
        for item in items:
            task(item)

    taken = timing.interleaved(
        {name: partial(over_all, *given) for name, given in tasks.items()},
        repeats,
        seconds=4.0,
        least=LEAST_SECONDS,
        clock=thread_time,
    )
    return {name: 1e6 * taken[name] / len(items) for name, (_, items) in tasks.items()}


def measure(n: int, count: int, repeats: int) -> dict[str, float]:
    """Time everything on sentences of one length."""
    sample = Sample(n, count)
    tasks: dict[str, tuple[Callable[[Any], object], list[Any]]] = {
        "Eisner, kernel": (lambda p: eisner.decode(p.arcs, True, p.gaps), sample.projective),
        "Eisner": (Eisner().decode, sample.projective),
        "Eisner, max-marginals": (max_marginals, sample.projective),
        "ChuLiuEdmonds, kernel": (
            lambda p: chu_liu_edmonds.decode(p.arcs, False, False),
            sample.many_roots,
        ),
        "ChuLiuEdmonds, many roots": (ChuLiuEdmonds().decode, sample.many_roots),
        "ChuLiuEdmonds, single root": (ChuLiuEdmonds().decode, sample.free),
        "reduced costs": (reduced_costs, sample.free),
        "SecondOrder": (SecondOrder().decode, sample.second),
        "SecondOrder, outermost": (SecondOrder("outermost").decode, sample.second),
        "SecondOrder, max-marginals": (SecondOrder().max_marginals, sample.second),
        "ufal.chu_liu_edmonds": (ufal_heads, sample.turned),
    }
    if n <= 25:
        tasks["networkx"] = (networkx_arborescence, sample.arcs[:1])
    return microseconds(tasks, repeats)


def batches(data: Path, repeats: int) -> dict[str, float]:
    """Time the decoding of trained arcs in batches, in microseconds a sentence."""
    arcs = [
        np.asarray(one.scores.arcs, dtype="d") for one in tree_scores.load("ewt", data).held_out
    ]
    turned = [np.ascontiguousarray(one.T) for one in arcs]
    tasks: dict[str, Callable[[], object]] = {
        "ufal.chu_liu_edmonds, one by one": lambda: [ufal_heads(one) for one in turned],
    }
    for decoder in (Eisner(), ChuLiuEdmonds()):
        if not all(one.certificate.is_optimal for one in decoder.decode_batch(arcs)):
            raise SystemExit(f"{decoder}: not all trees are certified")
        name = type(decoder).__name__

        def arrays(decoder: Any = decoder) -> object:
            return decoder.decode_batch(arcs)

        def objects(decoder: Any = decoder) -> object:
            return [one.certificate for one in decoder.decode_batch(arcs)]

        tasks |= {f"{name}, arrays": arrays, f"{name}, certificates": objects}
    taken = timing.interleaved(tasks, repeats, seconds=4.0, clock=thread_time)
    return {name: taken[name] / len(arcs) * 1e6 for name in tasks}


class Document:
    """Trained arcs of sentences end to end, with boundaries that are not certain."""

    def __init__(self, sentences: list[Any], tokens: int) -> None:
        ends = np.cumsum([len(arcs) - 1 for arcs in sentences])
        self.sentences = sentences[: int(np.searchsorted(ends, tokens)) + 1]
        self.starts = np.concatenate([[0], ends[: len(self.sentences)]])
        n = self.n = int(self.starts[-1])
        self.boundaries = GOES_ON + DOUBT * np.random.default_rng(0).normal(size=n)
        self.boundaries[self.starts[:-1]] += BEGINS - GOES_ON
        best = [arcs[1:, 1:].max(axis=0) for arcs in self.sentences]
        self.elsewhere = np.concatenate(best) - ELSEWHERE

    def block(self, begin: int, end: int) -> BlockScores:
        """The scores of some consecutive tokens."""
        arcs = np.full((end - begin + 1,) * 2, -np.inf)
        arcs[:, 1:] = self.elsewhere[begin:end]
        first = int(np.searchsorted(self.starts, begin, side="right")) - 1
        last = int(np.searchsorted(self.starts, end))
        for s in range(first, last):
            start = int(self.starts[s])
            low, high = max(start, begin), min(int(self.starts[s + 1]), end)
            own, here = (
                slice(low - start + 1, high - start + 1),
                slice(low - begin + 1, high - begin + 1),
            )
            arcs[here, here] = self.sentences[s][own, own]
            arcs[0, here] = self.sentences[s][0, own]
        problem = TreeProblem(arcs, boundaries=self.boundaries[begin:end])
        outside = self.elsewhere[begin:end]
        none = np.full(end - begin, -np.inf)
        return BlockScores(
            problem, outside if begin > 0 else none, outside if end < self.n else none
        )


def documents(data: Path, repeats: int) -> list[tuple[int, float, str]]:
    """Return the tokens, microseconds a token and status of documents, shorter and longer."""
    sentences = [
        np.asarray(one.scores.arcs, dtype="d") for one in tree_scores.load("ewt", data).held_out
    ]
    rows = []
    for tokens in DOCUMENTS:
        document = Document(sentences, tokens)

        def decoded(document: Document = document) -> Any:
            return decode_document(document.block, document.boundaries, Eisner())

        status = decoded().certificate.status
        taken = timing.interleaved(
            {"it": decoded}, min(repeats, 3), seconds=4.0, clock=thread_time
        )
        rows.append((document.n, taken["it"] / document.n * 1e6, status))
    return rows


def same_trees(count: int) -> int:
    """Check every peer's tree against ours; return how many were compared."""
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
    parser = timing.arguments(__doc__)
    parser.add_argument(
        "--peers", default=sys.executable, help="an interpreter with torch and supar"
    )
    options = parser.parse_args()
    count, repeats = (10, 5) if options.quick else (40, 15)
    report = timing.Report("tree", options.results)
    report.facts["trees equal to ufal's"] = same_trees(count)
    rows = {n: measure(n, count, repeats) for n in LENGTHS}
    supar = supar_seconds(options.peers, LENGTHS[:2] if options.quick else LENGTHS)
    for name, label in (("eisner", "supar, Eisner"), ("mst", "supar, MST")):
        for n, seconds in supar.get(name, {}).items():
            rows[int(n)][label] = seconds * 1e6
    names = list(dict.fromkeys(name for row in rows.values() for name in row))
    report.table(
        "Microseconds a sentence (processor time, batches of one)",
        ["decoder", *(f"n = {n}" for n in LENGTHS)],
        [[name, *(rows[n].get(name) for n in LENGTHS)] for name in names],
    )
    of_batches = batches(options.data, repeats)
    report.table(
        "Trained arcs, all sentences in one batch: microseconds a sentence",
        ["decoder", "microseconds"],
        [[name, value] for name, value in of_batches.items()],
    )
    for name, wanted in (("Eisner", 3.0), ("ChuLiuEdmonds", 6.0)):
        ratio = of_batches["ufal.chu_liu_edmonds, one by one"] / of_batches[f"{name}, arrays"]
        report.target(f"{name} on trained arcs, in batches, against ufal's", wanted, ratio)
    of_documents = documents(options.data, repeats)
    report.table(
        "Trees and boundaries of one document: microseconds a token",
        ["tokens", "microseconds", "certificate"],
        [list(row) for row in of_documents],
    )
    growth = of_documents[-1][1] / of_documents[0][1]
    report.target(
        "A document of 20,000 tokens, time a token against 1,250", 1.25, growth, most=True
    )
    at = rows[25]
    report.target("Eisner, n = 25", 15.0, at["Eisner"], most=True, unit="µs")
    peer = at.get("supar, Eisner")
    report.target("Eisner against supar's, n = 25", 300.0, peer / at["Eisner"] if peer else None)
    for n in (25, 100):
        ratio = rows[n]["ufal.chu_liu_edmonds"] / rows[n]["ChuLiuEdmonds, many roots"]
        report.target(f"ChuLiuEdmonds against ufal's, n = {n}", 2.0, ratio)
    ratio = at["SecondOrder"] / at["Eisner"]
    report.target("SecondOrder in units of Eisner, n = 25", 15.0, ratio, most=True)
    plots.curves(
        report.path(".png"),
        "Decoding one sentence",
        "tokens",
        "microseconds",
        {
            name: (
                [n for n in LENGTHS if name in rows[n]],
                [rows[n][name] for n in LENGTHS if name in rows[n]],
            )
            for name in names
        },
        peers=PEERS,
    )
    report.close()


if __name__ == "__main__":
    main()
