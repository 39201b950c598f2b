"""Linking through `graph_entity_linker`, with the weights that it begins with.

    python benchmarks/linking_component.py

AIDA's part testa (mentions without running text) and four sets with text and Wikidata candidates,
each with and without the graph; then raw text, where mentions are found by alias and nothing is an
answer; the paper's texts (Blanco, Boldi, Marino 2014); and a million aliases beside spaCy's table.
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
import spacy
from linking_data import NAME, LinkSet, iitb, link_sets, linked, pipeline
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
    report.table(
        "given candidates, accuracy over all mentions",
        [
            "set",
            "mentions",
            "local %",
            "local + graph %",
            "standard error",
            "surest 80% %",
            "calibration error",
            "certified %",
            "ms a document, median",
            "ms a document, mean",
        ],
        rows,
    )


def raw_text(report: harness.Report, sets: list[LinkSet]) -> None:
    """Mentions found by alias, spans and identifiers compared with the gold ones: InKB micro F.

    A gold mention is reachable if some known alias stands exactly there, and means what is gold.
    """
    rows = []
    for data in sets:
        if data.name.startswith("aida"):
            continue
        # no answer but the most frequent candidate: what a linker by prior alone does
        prior = {"@architectures": WEIGHTS, "pairs": 0.0, "none": -30.0, "words": 0.0, "case": 0.0}
        found = []
        for model in ({"@architectures": WEIGHTS}, prior):
            nlp = pipeline(data, mentions="aliases", model=model)
            linker = nlp.get_pipe(NAME)
            linker.candidates = spacy.registry.misc.get("spacy-decoders.AliasCandidates.v1")()
            right = guessed = gold = reachable = 0
            for doc in data.docs:
                bare = linker(spacy.tokens.Doc(nlp.vocab, words=[t.text for t in doc]))
                known = {(e.start, e.end): e.kb_id_ for e in doc.ents if e.kb_id_}
                links = [e for e in bare.ents if e.kb_id_]
                gold, guessed = gold + len(known), guessed + len(links)
                right += sum(known.get((e.start, e.end)) == e.kb_id_ for e in links)
                aliases = linker.kb.base.aliases
                for (start, end), identity in known.items():
                    concepts, _ = aliases.candidates(bare[start:end].text)
                    reachable += linker.kb.base.number(identity) in concepts
            p, r = right / max(1, guessed), right / max(1, gold)
            found += [100 * p, 100 * r, 200 * p * r / max(1e-9, p + r)]
        within = reachable / max(1, gold)
        rows.append([data.name, 100 * within, *found, found[1] / max(1e-9, within)])
    report.table(
        "raw text, mentions by the titles of the candidates: precision, recall, F",
        ["set", "reachable %", "ours P", "R", "F", "by frequency P", "R", "F", "of reachable %"],
        rows,
    )


def paper_texts(report: harness.Report, data: LinkSet) -> None:
    """The paper's texts, as far as a complete graph of links covers them: that of Wikispeedia."""
    rows = []
    # as in the paper, each mention means something
    for name, weights in (("local", {"pairs": 0.0}), ("local + graph", {})):
        model = {"@architectures": WEIGHTS, "none": -30.0, **weights}
        # candidates that were found by a word share it with others: titles tell nothing
        pairs = {"@misc": "spacy-decoders.SharedNeighbours.v1", "residual": 0.0}
        nlp = pipeline(data, model=model, pairs=pairs, max_candidates=30)
        linker = nlp.get_pipe(NAME)
        linker.candidates = spacy.registry.misc.get("spacy-decoders.TextCandidates.v1")()
        found = linked(data, nlp, process_time)
        known = [
            any(one["id"] == ent.kb_id_ for one in link["candidates"])
            for ent, link in zip(
                (ent for doc in data.docs for ent in doc.ents), found.links, strict=True
            )
        ]
        reached = found.accuracy / max(1e-9, float(np.mean(known)))
        rows.append([name, len(found.right), found.accuracy, found.error, reached])
    report.table(
        "IITB, mentions of articles of Wikispeedia, candidates by the words of the mention",
        ["by", "mentions", "accuracy %", "standard error", "of those among the shown %"],
        rows,
    )


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
    cache = options.results / "cache" / "linking"
    cache.mkdir(parents=True, exist_ok=True)
    sets = link_sets(options.data / "linking", cache)
    given_candidates(report, sets)
    raw_text(report, sets)
    paper_texts(report, iitb(options.data / "linking", cache))
    alias_table(report, 100_000 if options.quick else 1_000_000)
    report.close()


if __name__ == "__main__":
    main()
