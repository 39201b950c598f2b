"""Speed and memory of `graph_entity_linker` and of its alias table; part of `linking.py`."""

from __future__ import annotations

import timing  # isort: skip - first: it sets the threads

import resource
import subprocess
import sys
import tempfile
from pathlib import Path
from time import perf_counter, process_time

import numpy as np
import spacy
from spacy.kb import InMemoryLookupKB
from spacy.tokens import Span
from spacy.vocab import Vocab
from wikipedia_like import PAPER, documents, edges

from spacy_decoders.knowledge.aliases import AliasTable
from spacy_decoders.knowledge.concept_base import Contents, write_concept_base

__all__ = ["alias_table", "demo_speed", "full_size_speed"]


def alias_table(report: timing.Report, count: int) -> None:
    """A million aliases: ours against spaCy's InMemoryLookupKB, each in a process of its own."""
    with tempfile.TemporaryDirectory() as folder:
        rng = np.random.default_rng(0)
        names = [f"alias number {i * 7919 % count}" for i in range(count)]
        aliases = [name for name in names for _ in range(4)]
        AliasTable.build(
            aliases, rng.integers(3 * count, size=4 * count), np.ones(4 * count)
        ).save(Path(folder))
        rows = []
        results = {}
        for name in ("ours", "InMemoryLookupKB"):
            command = [sys.executable, __file__, name, folder, str(count)]
            output = subprocess.run(command, capture_output=True, text=True, check=True).stdout
            memory, opening, one = map(float, output.split())
            results[name] = (memory, opening, one)
            rows.append([name, memory, 1000 * opening, one])
        report.table(
            f"{count:,} aliases of 4 candidates",
            ["table", "resident MB", "ms to open or fill", "microseconds a look-up"],
            rows,
        )
        report.target("1 M aliases: open", 100, 1000 * results["ours"][1], most=True, unit="ms")
        report.target("1 M aliases: a look-up", 3, results["ours"][2], most=True, unit="us")
        report.target("1 M aliases: resident", 100, results["ours"][0], most=True, unit="MB")


def child(name: str, folder: str, count: int) -> None:
    """Print resident megabytes above the start, seconds to open, microseconds a look-up."""
    names = [f"alias number {i}" for i in np.random.default_rng(1).integers(count, size=20_000)]
    if name == "ours":
        small = AliasTable.build(["x"], [0], [1])  # compile
        small.find(["x"])
        small.candidates("x")
        before = _resident()
        start = perf_counter()
        table = AliasTable.open(Path(folder))
        opening = perf_counter() - start
        assert (table.find(names) >= 0).all()
        begin = process_time()
        for alias in names:  # one by one, as spaCy's below
            table.candidates(alias)
        one = (process_time() - begin) / len(names) * 1e6
    else:
        before = _resident()
        start = perf_counter()
        kb = InMemoryLookupKB(Vocab(), entity_vector_length=1)
        entities = [f"Q{i}" for i in range(4 * 1000)]
        kb.set_entities(entities, [1] * len(entities), [[0.0]] * len(entities))
        rng = np.random.default_rng(0)
        for i in range(count):
            chosen = rng.integers(1000, size=1)[0] * 4 + np.arange(4)
            kb.add_alias(f"alias number {i}", [entities[j] for j in chosen], [0.25] * 4)
        opening = perf_counter() - start
        begin = process_time()
        for alias in names:
            kb.get_alias_candidates(alias)
        one = (process_time() - begin) / len(names) * 1e6
    print(_resident() - before, opening, one)


def _resident() -> float:
    pages = int(Path("/proc/self/statm").read_text().split()[1])
    return pages * resource.getpagesize() / 1e6


def demo_speed(report: timing.Report) -> None:
    """A short text through the pipeline with the shipped knowledge base."""
    nlp = spacy.blank("en")
    nlp.add_pipe("graph_entity_linker", config={"mentions": "aliases"})
    text = "Mercury is the planet nearest to the Sun. NASA sent a probe to it from Florida."
    times = timing.interleaved({"demo": lambda: nlp(text)}, 51, clock=process_time)
    report.target("demo text through nlp.pipe", 5.0, 1000 * times["demo"], most=True, unit="ms")


def full_size_speed(report: timing.Report, cache: Path) -> None:
    """Documents of 12 mentions x 96 candidates in a graph of Wikipedia's size, warm."""
    vertices = PAPER[0]
    drawn = documents(vertices, 8, 12, 96)
    pairs = [
        (f"mention{d}x{m}", v)
        for d, document in enumerate(drawn)
        for m, members in enumerate(document)
        for v in members.tolist()
    ]
    folder = cache / "full-size"
    if not folder.exists():
        names = [f"Q{v}" for v in range(vertices)]
        contents = Contents(
            ids=names,
            titles=names,
            descriptions=[""] * vertices,
            aliases=[alias for alias, _ in pairs],
            alias_concepts=np.array([v for _, v in pairs]),
            alias_counts=np.ones(len(pairs)),
            edges=edges(*PAPER),
        )
        write_concept_base(folder, contents, source="benchmark")
    nlp = spacy.blank("en")
    config = {
        "kb": {"@misc": "spacy-decoders.ConceptBase.v1", "path": str(folder)},
        "max_candidates": 96,
    }
    nlp.add_pipe("graph_entity_linker", config=config)
    docs = []
    for d in range(len(drawn)):
        doc = nlp.make_doc(" ".join(f"mention{d}x{m}" for m in range(12)))
        doc.ents = [Span(doc, i, i + 1, label="X") for i in range(len(doc))]
        docs.append(doc)
    list(nlp.pipe(doc.copy() for doc in docs))
    seconds, certified = [], []
    for doc in docs * 3:
        start = process_time()
        (done,) = nlp.pipe([doc.copy()])
        seconds.append(process_time() - start)
        (certificate,) = done._.certificates["graph_entity_linker"]
        certified.append(certificate["status"] == "optimal")
    median = 1000 * float(np.median(seconds))
    report.table(
        f"12 x 96 candidates among {vertices:,} concepts",
        ["ms a document, processor time", "certified %"],
        [[median, 100 * float(np.mean(certified))]],
    )
    report.target("12 x 96 at full size, nlp.pipe", 150, median, most=True, unit="ms")


if __name__ == "__main__":
    child(sys.argv[1], sys.argv[2], int(sys.argv[3]))
