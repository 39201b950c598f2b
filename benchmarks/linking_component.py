"""Linking through `graph_entity_linker`, with the weights that it begins with.

    python benchmarks/linking_component.py

AIDA's part testa (mentions without running text) and four sets with text and Wikidata candidates,
each with and without the graph; and a million aliases beside spaCy's table.
"""

from __future__ import annotations

import harness  # isort: skip - first: it sets the threads

import argparse
import resource
import subprocess
import sys
import tempfile
from pathlib import Path
from time import perf_counter, process_time

import numpy as np
from linking_data import LinkSet, link_sets, linked, pipeline
from spacy.kb import InMemoryLookupKB
from spacy.vocab import Vocab

from spacy_decoders.knowledge.aliases import AliasTable
from spacy_decoders.knowledge.concept_base import write_concept_base
from spacy_decoders.knowledge.concepts import Concept
from spacy_decoders.knowledge.database import NAME as NAME_OF_FILE
from spacy_decoders.knowledge.database import Database

WEIGHTS = "spacy-decoders.LinkWeights.v1"


def given_candidates(report: harness.Report, sets: list[LinkSet]) -> None:
    """Accuracy over all mentions with given candidates, local alone and with the graph."""
    rows = []
    for data in sets:
        both = linked(data, pipeline(data), process_time)
        none = {"@architectures": WEIGHTS, "pairs": 0.0}
        alone = linked(data, pipeline(data, model=none), process_time)
        rows.append(
            [
                data.name,
                len(both.right),
                alone.accuracy,
                both.accuracy,
                both.error,
                both.surest(0.8),
                both.calibration_error(),
                100 * float(np.mean(both.certified)),
                1000 * float(np.median(both.seconds)),
                1000 * float(np.mean(both.seconds)),
            ]
        )
    columns = ["set", "mentions", "local %", "local + graph %", "standard error", "surest 80% %"]
    columns += ["calibration error", "certified %", "ms a document, median", "ms a document, mean"]
    report.table("given candidates, accuracy over all mentions", columns, rows)


def alias_table(report: harness.Report, count: int) -> None:
    """A million aliases: ours against spaCy's InMemoryLookupKB, each in a process of its own."""
    with tempfile.TemporaryDirectory() as folder:
        rng = np.random.default_rng(0)
        names = [f"alias number {i * 7919 % count}" for i in range(count)]
        aliases = [name for name in names for _ in range(4)]
        ids = [str(number) for number in range(count)]
        known: list[dict[str, float]] = [{} for _ in ids]
        for alias, concept in zip(aliases, rng.integers(count, size=4 * count), strict=True):
            known[concept][alias] = known[concept].get(alias, 0.0) + 1.0
        write_concept_base(Path(folder) / "base", map(Concept, ids, ids, known), searched=False)
        rows = []
        for name in ("ours", "InMemoryLookupKB"):
            command = [sys.executable, __file__, "--child", name, folder, str(count)]
            output = subprocess.run(command, capture_output=True, text=True, check=True).stdout
            memory, opening, one = map(float, output.split())
            rows.append([name, memory, 1000 * opening, one])
        report.table(
            f"{count:,} aliases of 4 candidates",
            ["table", "resident MB", "ms to open or fill", "microseconds a look-up"],
            rows,
        )


def child(name: str, folder: str, count: int) -> None:
    """Print resident megabytes above the start, seconds to open, microseconds a look-up."""
    names = [f"alias number {i}" for i in np.random.default_rng(1).integers(count, size=20_000)]
    if name == "ours":
        before = _resident()
        start = perf_counter()
        table = AliasTable(Database(Path(folder) / "base" / NAME_OF_FILE))
        opening = perf_counter() - start
        assert None not in table.find(names[:200])
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


def main() -> None:
    """Run everything."""
    parser = harness.arguments(__doc__ or "")
    parser.add_argument("--child", nargs="*", help=argparse.SUPPRESS)
    options = parser.parse_args()
    if options.child:
        name, folder, count = options.child
        child(name, folder, int(count))
        return
    report = harness.Report("linking-component", options.results)
    sets = link_sets(options.data / "linking", options.results / "cache" / "linking")
    given_candidates(report, sets)
    alias_table(report, 100_000 if options.quick else 1_000_000)
    report.close()


if __name__ == "__main__":
    main()
