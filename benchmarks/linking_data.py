"""Documents of mentions with candidates and gold links, and their concepts as a concept base."""

from __future__ import annotations

import csv
import re
from collections.abc import Iterator
from dataclasses import dataclass
from functools import lru_cache
from itertools import islice
from pathlib import Path

import numpy as np
from wikispeedia import read_wikispeedia

from spacy_decoders.knowledge.aliases import normalise
from spacy_decoders.knowledge.candidates import CandidateTable
from spacy_decoders.knowledge.concept_base import ConceptBase, Contents, write_concept_base
from spacy_decoders.readers.text_lines import json_objects, text_lines

__all__ = ["DataSet", "Document", "aida", "json_rows", "wikidata", "wikispeedia"]


@dataclass(frozen=True, eq=False)
class Document:
    """Mentions of one text.

    Attributes
    ----------
    table
        Candidates of the distinct mentions, in random order: order is no feature.
    gold
        For each mention of the text, repeats included: the unit it belongs to (-1 without
        candidates) and its gold identifier.
    """

    table: CandidateTable
    gold: tuple[tuple[int, str], ...]

    def right(self, choices: np.ndarray) -> list[bool]:
        """Whether each mention's choice, an index into its unit's candidates, is its gold."""
        offsets, ids = self.table.offsets, self.table.ids
        return [unit >= 0 and ids[offsets[unit] + choices[unit]] == key for unit, key in self.gold]

    def gold_choices(self) -> np.ndarray | None:
        """The gold candidates as choices, None where one is missing or two disagree."""
        choices = np.full(len(self.table.mentions), -1)
        for unit, key in self.gold:
            if unit < 0:
                continue
            start, stop = self.table.offsets[unit], self.table.offsets[unit + 1]
            own = list(self.table.ids[start:stop])
            if key not in own or choices[unit] not in (-1, own.index(key)):
                return None
            choices[unit] = own.index(key)
        return choices if (choices >= 0).all() else None


@dataclass(frozen=True, eq=False)
class DataSet:
    """A name, a concept base and its documents; `covered` tells which gold has a link.

    `received` are links from the whole of Wikipedia, where the set knows them.
    """

    name: str
    base: ConceptBase
    documents: list[Document]
    received: dict[str, float] | None = None

    def covered(self, key: str) -> bool:
        concept = self.base.number(key)
        return concept >= 0 and self.base.graph.degree[concept] > 0


def aida(folder: Path, part: str, cache: Path, limit: int | None = None) -> DataSet:
    """AIDA-CoNLL with real Wikipedia links among candidates; popularity is links received."""
    pages = list(_rows(folder / "pages.tsv.gz"))
    links = [line.split()[:2] for line in text_lines(folder / "links.tsv.gz")]
    place = {row["page_id"]: i for i, row in enumerate(pages)}
    edges = [(place[a], place[b]) for a, b in links if a in place and b in place]
    base = _base(
        cache / "aida",
        [row["page_id"] for row in pages],
        [row["title"].replace("_", " ") for row in pages],
        edges,
    )
    received = {row["page_id"]: float(row["in_count"] or 0) for row in pages}
    documents = []
    for row in json_rows(folder / f"{part}.jsonl.gz", limit):
        mentions = [
            (
                m["text"],
                None if m["gold"] is None else str(m["gold_id"]),
                map(str, m["candidates"]),
            )
            for m in row["mentions"]
        ]
        documents.append(_document(base, mentions, received, len(documents)))
    return DataSet(part, base, documents, received)


def wikidata(folder: Path, name: str, cache: Path) -> DataSet:
    """A benchmark with Wikidata candidates; popularity is the number of triples."""
    titles: dict[str, str] = {}
    edges: list[tuple[str, str]] = []
    for line in text_lines(folder / "names.tsv.gz"):
        key, _, title = line.rstrip("\n").partition("\t")
        titles[key] = title
    for line in text_lines(folder / "wikidata_graph.tsv.gz"):
        head, _, tail = line.split()
        edges.append((head, tail))
    rows = list(json_rows(folder / f"{name}.jsonl.gz", None))
    for row in rows:
        for mention in row["mentions"]:
            titles.update((key, title) for key, title in mention["candidates"])
    ids = sorted({*titles, *(key for edge in edges for key in edge)})
    place = {key: i for i, key in enumerate(ids)}
    base = _base(
        cache / f"wikidata-{name}",
        ids,
        [titles.get(key, key) for key in ids],
        [(place[a], place[b]) for a, b in edges],
    )
    degree = dict(zip(ids, base.graph.degree[base.ids.find(ids)].tolist(), strict=True))
    documents = [
        _document(
            base,
            [(_text(row, m), m["gold"], [c[0] for c in m["candidates"]]) for m in row["mentions"]],
            degree,
            number,
        )
        for number, row in enumerate(rows)
    ]
    return DataSet(name, base, documents)


def wikispeedia(folder: Path, cache: Path, documents: int, limit: int) -> DataSet:
    """Articles whose links are to be found again from one word of each linked title.

    Candidates and local scores come from the full-text index over titles. The article itself
    is no candidate: it would lead straight to its links.
    """
    given = read_wikispeedia(folder)
    articles, edges = given.titles, given.links
    shown = [title.replace("_", " ") for title in articles]
    base = _base(cache / "wikispeedia", articles, shown, edges, texts=shown)
    out = {
        articles[place]: [articles[target] for target in targets]
        for place, targets in enumerate(given.targets())
    }
    rng = np.random.default_rng(0)
    chosen: list[Document] = []
    for source in rng.permutation(sorted(key for key, linked in out.items() if len(linked) >= 12)):
        targets = rng.permutation(sorted(set(out[source]) - {source}))[:12]
        mentions = []
        scores: dict[tuple[int, str], float] = {}
        for target in targets:
            words = re.findall(r"\w{3,}", target.replace("_", " ")) or [target]
            word = str(rng.choice(words))
            concepts, found = base.text.find(word, limit)
            keys = [base.id(int(concept)) for concept in concepts]
            scores.update(
                ((len(mentions), key), float(score))
                for key, score in zip(keys, found, strict=True)
            )
            mentions.append((word, str(target), [key for key in keys if key != source]))
        chosen.append(_document(base, mentions, scores, len(chosen), by_mention=True))
        if len(chosen) == documents:
            break
    return DataSet("wikispeedia", base, chosen)


def _document(base, mentions, popularity, seed: int, *, by_mention: bool = False) -> Document:
    """Lay out the candidates of distinct mentions, shuffled."""
    rng = np.random.default_rng(seed)
    units: dict[str, int] = {}
    names: list[str] = []
    sets: list[list[str]] = []
    values: list[list[float]] = []
    gold = []
    for number, (text, key, candidates) in enumerate(mentions):
        known = [str(c) for c in candidates]
        name = f"{number}:{text}" if by_mention else normalise(text)
        if name not in units and known:
            units[name] = len(sets)
            names.append(normalise(text))
            known = [known[i] for i in rng.permutation(len(known))]
            sets.append(known)
            values.append([popularity[(number, k) if by_mention else k] for k in known])
        if key is not None:
            gold.append((units.get(name, -1), key))
    ids = [key for members in sets for key in members]
    concepts = base.ids.find(ids)
    table = CandidateTable(
        mentions=names,
        offsets=np.cumsum([0, *(len(members) for members in sets)]).astype(np.int64),
        ids=ids,
        titles=[base.titles[int(c)] for c in concepts],
        priors=np.ones(len(ids)),
        popularity=np.array([v for members in values for v in members], float),
        vectors=np.zeros((len(ids), 0), np.float32),
        concepts=concepts,
        base=base,
    )
    return Document(table, tuple(gold))


@lru_cache(maxsize=8)
def _open(folder: Path) -> ConceptBase:
    return ConceptBase.open(folder)


def _base(folder: Path, ids, titles, edges, texts=()) -> ConceptBase:
    if not folder.exists():
        contents = Contents(
            ids=ids,
            titles=titles,
            descriptions=[""] * len(ids),
            aliases=titles,
            alias_concepts=np.arange(len(ids)),
            alias_counts=np.ones(len(ids)),
            edges=np.array(edges, np.int64).reshape(-1, 2),
            texts=texts,
        )
        write_concept_base(folder, contents, source="benchmark")
    return _open(folder)


def _text(row: dict, mention: dict) -> str:
    return row["text"][mention["start"] : mention["end"]]


def _rows(path: Path) -> Iterator[dict[str, str]]:
    return csv.DictReader(text_lines(path), delimiter="\t", quoting=csv.QUOTE_NONE)


def json_rows(path: Path, limit: int | None = None) -> Iterator[dict]:
    return (row for _, row in islice(json_objects(path), limit))
