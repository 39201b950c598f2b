"""Benchmarks of linking as documents of spaCy, with given candidates, for the component."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
import spacy
from linking_data import DataSet, aida, json_rows, wikidata, wikispeedia
from spacy.language import Language
from spacy.tokens import Doc, Span

from spacy_decoders.components.linker.candidates import FoundCandidates

__all__ = [
    "NAME",
    "WIKIDATA",
    "Given",
    "LinkSet",
    "Result",
    "iitb",
    "link_sets",
    "linked",
    "pipeline",
]

NAME = "graph_entity_linker"
WIKIDATA = ("kore50", "oke-2015-train", "oke-2016-train", "wiki-fair-v2-no-coref")


@dataclass(frozen=True)
class Given:
    """Finds the candidates that the data set gives for a mention."""

    def __call__(self, kb: Any, mentions: Sequence[Span]) -> list[FoundCandidates]:
        return [
            FoundCandidates(*mention.doc.user_data["candidates"][mention.start])
            for mention in mentions
        ]


@dataclass(frozen=True, eq=False)
class LinkSet:
    """Documents whose entities have gold identifiers, and the folder of their concepts."""

    name: str
    folder: Path
    docs: list[Doc]
    covered: list[list[bool]]


def link_sets(folder: Path, cache: Path, parts: Sequence[str] = ("testa",)) -> list[LinkSet]:
    """AIDA's parts, and the four sets with text."""
    nlp = spacy.blank("en")
    found = []
    for part in parts:
        data = aida(folder / "aida-candidates", part, cache)
        received = data.received
        rows = json_rows(folder / "aida-candidates" / f"{part}.jsonl.gz")
        docs = []
        for number, row in enumerate(rows):
            words: list[str] = []
            mentions = []
            for one in row["mentions"]:
                tokens = one["text"].split()
                gold = "" if one["gold"] is None else str(one["gold_id"])
                keys = [str(key) for key in one["candidates"]]
                mentions.append((len(words), len(words) + len(tokens), gold, keys))
                words += [*tokens, ","]
            doc = Doc(nlp.vocab, words=words)
            docs.append(_with_mentions(doc, mentions, data, received, number))
        found.append(_link_set(f"aida {part}", data, docs))
    for name in WIKIDATA:
        data = wikidata(folder / "wikidata-benchmarks", name, cache)
        docs = []
        rows = json_rows(folder / "wikidata-benchmarks" / f"{name}.jsonl.gz")
        for number, row in enumerate(rows):
            doc = nlp.make_doc(row["text"])
            mentions, end = [], 0
            for one in sorted(row["mentions"], key=lambda one: one["start"]):
                span = doc.char_span(one["start"], one["end"], alignment_mode="expand")
                if span is not None and span.start >= end:
                    keys = [key for key, _ in one["candidates"]]
                    mentions.append((span.start, span.end, one["gold"], keys))
                    end = span.end
            docs.append(_with_mentions(doc, mentions, data, None, number))
        found.append(_link_set(name, data, docs))
    return found


def iitb(folder: Path, cache: Path) -> LinkSet:
    """The paper's own texts, of which only mentions of articles of Wikispeedia are left."""
    base = wikispeedia(folder / "wikispeedia", cache, 1, 2).base
    titles = {
        str(title).replace("_", " ").lower(): title for title in map(base.id, range(len(base)))
    }
    nlp = spacy.blank("en")
    docs = []
    for row in json_rows(folder / "iitb" / "dev.jsonl.gz"):
        doc = nlp.make_doc(row["text"])
        spans = []
        for one in row["mentions"]:
            gold = titles.get((one["gold"] or "").replace("_", " ").lower())
            span = doc.char_span(one["start"], one["end"], alignment_mode="expand")
            if gold is not None and span is not None:
                spans.append(Span(doc, span.start, span.end, label="MENTION", kb_id=gold))
        doc.ents = spacy.util.filter_spans(spans)
        docs.append(doc)
    return LinkSet("iitb", base.folder, docs, [[True] * len(doc.ents) for doc in docs])


def _with_mentions(doc, mentions, data: DataSet, received, seed: int) -> Doc:
    """Set entities with gold identifiers, and note their candidates in random order."""
    rng = np.random.default_rng(seed)
    doc.ents = [Span(doc, a, b, label="MENTION", kb_id=gold) for a, b, gold, _ in mentions]
    doc.user_data["candidates"] = {}
    for start, _, _, keys in mentions:
        shuffled = [keys[i] for i in rng.permutation(len(keys))]
        weights = np.array([1.0 if received is None else received[key] + 1.0 for key in shuffled])
        doc.user_data["candidates"][start] = (
            data.base.ids.find(shuffled).astype(np.int32),
            (weights / max(1.0, weights.sum())).astype(np.float32),
        )
    return doc


def _link_set(name: str, data: DataSet, docs: list[Doc]) -> LinkSet:
    covered = [[data.covered(ent.kb_id_) for ent in doc.ents] for doc in docs]
    return LinkSet(name, data.base.folder, docs, covered)


def pipeline(data: LinkSet, **config: Any) -> Language:
    """A pipeline of the linker alone, with the candidates that the set gives."""
    nlp = spacy.blank("en")
    kb = {"@misc": "spacy-decoders.ConceptBase.v1", "path": str(data.folder)}
    linker = nlp.add_pipe(NAME, config={"kb": kb, "max_candidates": 100, **config})
    linker.candidates = Given()
    return nlp


@dataclass(frozen=True, eq=False)
class Result:
    """Of each gold mention whether it is linked right, what was written, and each document."""

    right: list[bool]
    links: list[dict]
    certified: list[bool]
    seconds: list[float]

    @property
    def accuracy(self) -> float:
        return 100 * float(np.mean(self.right))

    def surest(self, share: float, by: str = "prob") -> float:
        """Accuracy of the share of mentions that are surest."""
        sure = [(link[by] or 0.0) if link["id"] else 0.0 for link in self.links]
        order = np.argsort(-np.array(sure), kind="stable")
        kept = order[: max(1, int(share * len(order)))]
        return 100 * float(np.mean(np.array(self.right)[kept]))

    def calibration_error(self, bins: int = 15) -> float:
        """By how many points probabilities differ from shares right, in bins of equal size."""
        sure = np.array([(link["prob"] or 0.0) if link["id"] else 0.0 for link in self.links])
        right = np.array(self.right, float)
        parts = np.array_split(np.argsort(sure, kind="stable"), bins)
        apart = [len(part) * abs(sure[part].mean() - right[part].mean()) for part in parts]
        return 100 * sum(apart) / len(right)


def linked(data: LinkSet, nlp: Language, clock) -> Result:
    """Link the documents of a set, one by one."""
    right, links, certified, seconds = [], [], [], []
    for doc in data.docs:
        bare = doc.copy()
        bare.user_data = doc.user_data
        bare.set_ents([Span(bare, e.start, e.end, label=e.label) for e in doc.ents])
        start = clock()
        bare = nlp.get_pipe(NAME)(bare)
        seconds.append(clock() - start)
        certified += [c["status"] == "optimal" for c in bare._.certificates.get(NAME, ())]
        for gold, ent in zip(doc.ents, bare.ents, strict=True):
            if gold.kb_id_:
                right.append(ent.kb_id_ == gold.kb_id_)
                links.append(ent._.link)
    return Result(right, links, certified, seconds)
