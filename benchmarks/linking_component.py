"""Linking through `graph_entity_linker`, with the weights that it begins with.

    python benchmarks/linking_component.py

AIDA's part testa (mentions without running text) and four sets with text and Wikidata candidates,
each with and without the graph; and a million aliases beside spaCy's table.
"""

from __future__ import annotations

import harness  # isort: skip - first: it sets the threads

import csv
import resource
import tempfile
from collections.abc import Callable, Iterable, Mapping, Sequence
from concurrent.futures import ProcessPoolExecutor
from dataclasses import dataclass
from functools import partial
from multiprocessing import get_context
from pathlib import Path
from time import perf_counter, process_time
from typing import Any

import numpy as np
import spacy
from spacy.kb import InMemoryLookupKB
from spacy.language import Language
from spacy.tokens import Doc, Span
from spacy.vocab import Vocab

from spacy_decoders.components.linker.candidates import FoundCandidates
from spacy_decoders.knowledge.aliases import AliasTable
from spacy_decoders.knowledge.concept_base import ConceptBase, write_concept_base
from spacy_decoders.knowledge.concepts import Concept
from spacy_decoders.knowledge.database import NAME as NAME_OF_FILE
from spacy_decoders.knowledge.database import Database
from spacy_decoders.readers.text_lines import json_objects, text_lines

NAME = "graph_entity_linker"
WIKIDATA = ("kore50", "oke-2015-train", "oke-2016-train", "wiki-fair-v2-no-coref")
NLP = spacy.blank("en")

WEIGHTS = "spacy-decoders.LinkWeights.v1"


# -- texts with gold links


@dataclass(frozen=True, eq=False)
class LinkSet:
    """Documents whose entities have gold identifiers, and the folder of their concepts."""

    name: str
    folder: Path
    docs: list[Doc]


#: First and last token of a mention, its gold identifier ("" without one), its candidates.
Mention = tuple[int, int, str, list[str]]


def link_sets(folder: Path, cache: Path) -> list[LinkSet]:
    """AIDA's part testa, and the four sets with text."""
    cache.mkdir(parents=True, exist_ok=True)
    aida, wiki = folder / "aida-candidates", folder / "wikidata-benchmarks"
    return [
        aida_set(aida, "testa", cache),
        *(wikidata_set(wiki, name, cache) for name in WIKIDATA),
    ]


def aida_set(folder: Path, part: str, cache: Path) -> LinkSet:
    """AIDA-CoNLL with real Wikipedia links among candidates; priors are links received."""
    lines = text_lines(folder / "pages.tsv.gz")
    pages = list(csv.DictReader(lines, delimiter="\t", quoting=csv.QUOTE_NONE))
    ids = [row["page_id"] for row in pages]
    titles = [row["title"].replace("_", " ") for row in pages]
    links = [line.split()[:2] for line in text_lines(folder / "links.tsv.gz")]
    base = _base(cache / "aida", ids, titles, links)
    received = {row["page_id"]: float(row["in_count"] or 0) for row in pages}

    def document(row: dict[str, Any]) -> tuple[Doc, list[Mention]]:
        """Mentions alone: there is no running text."""
        words: list[str] = []
        mentions = []
        for one in row["mentions"]:
            tokens = one["text"].split()
            gold = "" if one["gold"] is None else str(one["gold_id"])
            keys = [str(key) for key in one["candidates"]]
            mentions.append((len(words), len(words) + len(tokens), gold, keys))
            words += [*tokens, ","]
        return Doc(NLP.vocab, words=words), mentions

    rows = (row for _, row in json_objects(folder / f"{part}.jsonl.gz"))
    return _link_set(f"aida {part}", base, map(document, rows), received)


def wikidata_set(folder: Path, name: str, cache: Path) -> LinkSet:
    """Text with Wikidata candidates, which have no priors."""
    lines = (line.rstrip("\n").split("\t", 1) for line in text_lines(folder / "names.tsv.gz"))
    titles = dict(lines)
    triples = [line.split() for line in text_lines(folder / "wikidata_graph.tsv.gz")]
    edges = [(head, tail) for head, _, tail in triples]
    rows = [row for _, row in json_objects(folder / f"{name}.jsonl.gz")]
    for row in rows:
        for mention in row["mentions"]:
            titles.update((key, title) for key, title in mention["candidates"])
    ids = sorted({*titles, *(key for edge in edges for key in edge)})
    base = _base(cache / f"wikidata-{name}", ids, [titles.get(key, key) for key in ids], edges)

    def document(row: dict[str, Any]) -> tuple[Doc, list[Mention]]:
        doc = NLP.make_doc(row["text"])
        mentions, end = [], 0
        for one in sorted(row["mentions"], key=lambda one: one["start"]):
            span = doc.char_span(one["start"], one["end"], alignment_mode="expand")
            if span is not None and span.start >= end:
                keys = [key for key, _ in one["candidates"]]
                mentions.append((span.start, span.end, one["gold"], keys))
                end = span.end
        return doc, mentions

    return _link_set(name, base, map(document, rows))


def _link_set(
    name: str,
    base: ConceptBase,
    given: Iterable[tuple[Doc, list[Mention]]],
    received: Mapping[str, float] | None = None,
) -> LinkSet:
    """Set entities with gold identifiers; note candidates in random order, which is no feature."""
    docs = []
    for seed, (doc, mentions) in enumerate(given):
        rng = np.random.default_rng(seed)
        doc.ents = [Span(doc, a, b, label="MENTION", kb_id=gold) for a, b, gold, _ in mentions]
        doc.user_data["candidates"] = {}
        for start, _, _, keys in mentions:
            shuffled = [keys[i] for i in rng.permutation(len(keys))]
            weights = np.array(
                [1.0 if received is None else received[key] + 1.0 for key in shuffled]
            )
            doc.user_data["candidates"][start] = (
                base.ids.find(shuffled).astype(np.int32),
                (weights / max(1.0, weights.sum())).astype(np.float32),
            )
        docs.append(doc)
    return LinkSet(name, base.folder, docs)


def _base(
    folder: Path, ids: Sequence[str], titles: Sequence[str], edges: Iterable[Sequence[str]]
) -> ConceptBase:
    """The concept base of a folder, made now if there is none; edges join identifiers."""
    if not folder.exists():
        links: dict[str, list[str]] = {}
        for a, b in edges:
            links.setdefault(a, []).append(b)
        concepts = [
            Concept(key, title, {title: 1.0}, tuple(links.get(key, ())))
            for key, title in zip(ids, titles, strict=True)
        ]
        write_concept_base(folder, concepts, source="benchmark", searched=False)
    return ConceptBase.open(folder)


# -- linking them


def given(kb: Any, mentions: Sequence[Span]) -> list[FoundCandidates]:
    """Return the candidates that the data set gives for mentions."""
    return [FoundCandidates(*m.doc.user_data["candidates"][m.start]) for m in mentions]


def pipeline(data: LinkSet, **config: Any) -> Language:
    """A pipeline of the linker alone, with the candidates that the set gives."""
    nlp = spacy.blank("en")
    kb = {"@misc": "spacy-decoders.ConceptBase.v1", "path": str(data.folder)}
    linker: Any = nlp.add_pipe(NAME, config={"kb": kb, "max_candidates": 100, **config})
    linker.candidates = given
    return nlp


@dataclass(frozen=True, eq=False)
class Result:
    """Of each gold mention whether it is linked right, what was written, and each document."""

    right: list[bool]
    links: list[dict[str, Any]]
    certified: list[bool]
    seconds: list[float]

    @property
    def accuracy(self) -> float:
        return 100 * float(np.mean(self.right))

    @property
    def error(self) -> float:
        """Standard error of the accuracy, in points, over mentions."""
        return 100 * float(np.std(self.right) / np.sqrt(len(self.right)))

    @property
    def probabilities(self) -> np.ndarray:
        return np.array([(link["prob"] or 0.0) if link["id"] else 0.0 for link in self.links])

    def surest(self, share: float) -> float:
        """Accuracy of the share of mentions that are surest."""
        order = np.argsort(-self.probabilities, kind="stable")
        kept = order[: max(1, int(share * len(order)))]
        return 100 * float(np.mean(np.array(self.right)[kept]))

    def calibration_error(self, bins: int = 15) -> float:
        """By how many points probabilities differ from shares right, in bins of equal size."""
        sure, right = self.probabilities, np.array(self.right, float)
        parts = np.array_split(np.argsort(sure, kind="stable"), bins)
        apart = [len(part) * abs(sure[part].mean() - right[part].mean()) for part in parts]
        return 100 * sum(apart) / len(right)


def linked(data: LinkSet, nlp: Language, clock: Callable[[], float]) -> Result:
    """Link the documents of a set, one by one."""
    right, links, certified, seconds = [], [], [], []
    for doc in data.docs:
        bare = doc.copy()
        bare.user_data = doc.user_data
        bare.set_ents([Span(bare, e.start, e.end, label=e.label) for e in doc.ents])
        bare, taken = harness.timed(partial(nlp.get_pipe(NAME), bare), clock)
        seconds.append(taken)
        certified += [c["status"] == "optimal" for c in bare._.certificates.get(NAME, ())]
        for gold, ent in zip(doc.ents, bare.ents, strict=True):
            if gold.kb_id_:
                right.append(ent.kb_id_ == gold.kb_id_)
                links.append(ent._.link)
    return Result(right, links, certified, seconds)


# -- what is measured


def given_candidates(report: harness.Report, sets: list[LinkSet]) -> None:
    """Accuracy over all mentions with given candidates, local alone and with the graph."""
    rows = []
    for data in sets:
        both = linked(data, pipeline(data), process_time)
        none = {"@architectures": WEIGHTS, "pairs": 0.0}
        alone = linked(data, pipeline(data, model=none), process_time)
        certified, times = 100 * float(np.mean(both.certified)), 1000 * np.array(both.seconds)
        cells = [both.accuracy, both.error, both.surest(0.8), both.calibration_error(), certified]
        means = [float(np.median(times)), float(np.mean(times))]
        rows.append([data.name, len(both.right), alone.accuracy, *cells, *means])
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
        for name, measured in (("ours", by_ours), ("InMemoryLookupKB", by_spacy)):
            # a process of its own
            with ProcessPoolExecutor(1, get_context("spawn")) as pool:
                rows.append([name, *pool.submit(measured, folder, count).result()])
        report.table(
            f"{count:,} aliases of 4 candidates",
            ["table", "resident MB", "ms to open or fill", "microseconds a look-up"],
            rows,
        )


def by_ours(folder: str, count: int) -> list[float]:
    """Our table, which is opened."""
    return looked_up(
        lambda: AliasTable(Database(Path(folder) / "base" / NAME_OF_FILE)).candidates, count
    )


def by_spacy(folder: str, count: int) -> list[float]:
    """spaCy's table, which is filled."""

    def filled() -> Callable[[str], Any]:
        kb = InMemoryLookupKB(Vocab(), entity_vector_length=1)
        entities = [f"Q{i}" for i in range(4 * 1000)]
        kb.set_entities(entities, [1] * len(entities), [[0.0]] * len(entities))
        rng = np.random.default_rng(0)
        for i in range(count):
            chosen = rng.integers(1000, size=1)[0] * 4 + np.arange(4)
            kb.add_alias(f"alias number {i}", [entities[j] for j in chosen], [0.25] * 4)
        return kb.get_alias_candidates

    return looked_up(filled, count)


def looked_up(ready: Callable[[], Callable[[str], Any]], count: int) -> list[float]:
    """Resident megabytes above the start, milliseconds to open, microseconds a look-up."""
    names = [f"alias number {i}" for i in np.random.default_rng(1).integers(count, size=20_000)]
    before = _resident()
    look_up, opening = harness.timed(ready, perf_counter)
    _, all_of_them = harness.timed(lambda: [look_up(alias) for alias in names])
    return [_resident() - before, 1e3 * opening, 1e6 * all_of_them / len(names)]


def _resident() -> float:
    pages = int(Path("/proc/self/statm").read_text().split()[1])
    return pages * resource.getpagesize() / 1e6


def main() -> None:
    """Run everything."""
    options = harness.arguments(__doc__ or "").parse_args()
    report = harness.Report("linking-component", options.results)
    sets = link_sets(options.data / "linking", options.results / "cache" / "linking")
    given_candidates(report, sets)
    alias_table(report, 100_000 if options.quick else 1_000_000)


if __name__ == "__main__":
    main()
