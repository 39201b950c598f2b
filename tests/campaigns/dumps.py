"""Dumps that knowledge bases are built from, damaged: they are read, or refused by their name."""

import bz2
import gzip
import json
import shutil
from collections.abc import Callable, Iterable
from pathlib import Path
from typing import NamedTuple

import numpy as np

from spacy_decoders.errors import DecodersError
from spacy_decoders.knowledge.concepts import Concept
from spacy_decoders.knowledge.contents import write_concept_base
from spacy_decoders.knowledge.dumps.wikidata import WikidataDump
from spacy_decoders.knowledge.sources.concept_files import ConceptFile
from spacy_decoders.knowledge.sources.wordnet import WordNet
from spacy_decoders.knowledge.wikipedia import WikipediaDumps

from ..damage import damaged
from .isolation import Outcomes, run_trials

HERE = Path(__file__).parent
LMF = (HERE / "wordnet.xml").read_text(encoding="utf8")

ITEM = json.loads("""{
"type": "item", "id": "Q1", "labels": {"en": {"value": "Jaguar"}},
"aliases": {"en": [{"value": "big cat"}]}, "descriptions": {"en": {"value": "a cat"}},
"sitelinks": {"enwiki": {}}, "claims": {"P1": [{"rank": "normal", "mainsnak": {"datavalue": {
"type": "wikibase-entityid", "value": {"entity-type": "item", "id": "Q2"}}}}]}}""")
CONCEPTS = """{"id": "c0", "title": "One", "aliases": {"First": 2}, "links": ["c1"], "qid": "Q1"}
{"id": "c1", "title": "Two", "links": ["c0"], "text": "some words", "url": "https://example.org/"}
{"id": "c2", "title": "Three", "aliases": {"Third": 2}, "links": ["c1"], "text": "more words"}
"""
TSV = "id\ttitle\taliases\tlinks\nc1\tOne\ta|b\tc2\nc2\tTwo\t\tc1\n"

#: (id, namespace, title, is_redirect)
PAGES = [
    (10, 0, "Jaguar", 0),
    (11, 0, "Jungle", 0),
    (12, 0, "Mercury_(planet)", 0),
    (13, 0, "Panthera_onca", 1),
    (14, 0, "P._onca", 1),
    (15, 0, "Circle_A", 1),
    (16, 0, "Circle_B", 1),
    (17, 1, "Jaguar", 0),
    (18, 0, "O'Neill", 0),
]
REDIRECTS = [(13, 0, "Jaguar"), (14, 0, "Panthera_onca"), (15, 0, "Circle_B"), (16, 0, "Circle_A")]
#: (from, namespace, title): some lead through redirects, some to nothing
LINKS = [
    (10, 0, "Jungle"),
    (11, 0, "P._onca"),
    (13, 0, "Jaguar"),
    (12, 0, "Nowhere"),
    (12, 1, "Jaguar"),
    (17, 0, "Jaguar"),
    (18, 0, "Circle_A"),
    (18, 0, "Mercury_(planet)"),
    (99, 0, "Jaguar"),
]

ARTICLES = (HERE / "articles.xml").read_text(encoding="utf8")

#: The columns of each table, and of links before they were by the numbers of their targets.
COLUMNS = {
    "page": "page_id page_namespace page_title page_is_redirect",
    "redirect": "rd_from rd_namespace rd_title",
    "linktarget": "lt_id lt_namespace lt_title",
    "pagelinks": "pl_from pl_from_namespace pl_target_id",
    "page_props": "pp_page pp_propname pp_value",
}
OLD_LINKS = "pl_from pl_namespace pl_title"


def sql(name: str, columns: str, rows: Iterable[tuple[int | str, ...]]) -> bytes:
    """A dump of one table."""

    def literal(value: int | str) -> str:
        return "'" + value.replace("'", "\\'") + "'" if isinstance(value, str) else str(value)

    tuples = ",".join(f"({','.join(map(literal, row))})" for row in rows)
    body = "".join(f"  `{column}` int(8) NOT NULL,\n" for column in columns.split())
    text = f"CREATE TABLE `{name}` (\n{body}  KEY `x` (`x`)\n) ENGINE=InnoDB;\n"
    return f"{text}INSERT INTO `{name}` VALUES {tuples};\n".encode()


class Format(NamedTuple):
    """Whole files by name, and what reads the concepts of a folder with them."""

    files: dict[str, bytes]
    read: Callable[[Path], Iterable[Concept]]


def wikipedia(folder: Path) -> list[Concept]:
    """Build a base of a small Wikipedia, and give its concepts."""
    dumps = {name: folder / f"{name}.sql" for name in ("page", "redirect", "pagelinks")}
    dumps["articles"] = folder / "articles.xml"
    base, _ = WikipediaDumps(**dumps).build(folder / "kb")
    return list(base)


def formats() -> dict[str, Format]:
    """Whole files of every format."""
    lines = CONCEPTS.encode()
    wikidata = f"[\n{json.dumps(ITEM)},\n{json.dumps({**ITEM, 'id': 'Q2'})}\n]".encode()
    dumps = {
        "page.sql": sql("page", COLUMNS["page"], PAGES),
        "redirect.sql": sql("redirect", COLUMNS["redirect"], REDIRECTS),
        "pagelinks.sql": sql("pagelinks", OLD_LINKS, LINKS),
        "articles.xml": ARTICLES.encode(),
    }
    return {
        "json lines": Format({"c.jsonl": lines}, lambda at: ConceptFile(at / "c.jsonl")),
        "json lines, gzip": Format(
            {"c.jsonl.gz": gzip.compress(lines)}, lambda at: ConceptFile(at / "c.jsonl.gz")
        ),
        "tsv": Format({"c.tsv": TSV.encode()}, lambda at: ConceptFile(at / "c.tsv")),
        "tsv, bzip2": Format(
            {"c.tsv.bz2": bz2.compress(TSV.encode())}, lambda at: ConceptFile(at / "c.tsv.bz2")
        ),
        "wordnet, LMF": Format({"wn.xml": LMF.encode()}, lambda at: WordNet(at / "wn.xml")),
        "wordnet, LMF, gzip": Format(
            {"wn.xml.gz": gzip.compress(LMF.encode())}, lambda at: WordNet(at / "wn.xml.gz")
        ),
        "wikidata": Format({"w.json": wikidata}, lambda at: WikidataDump(at / "w.json")),
        "wikidata, gzip": Format(
            {"w.json.gz": gzip.compress(wikidata)}, lambda at: WikidataDump(at / "w.json.gz")
        ),
        "wikipedia": Format(dumps, wikipedia),
    }


def dump_trial(format: str, folder: Path) -> Callable[[int], str]:
    """Make what damages one file of a format and builds a base of what can be read."""
    whole, read = formats()[format]

    def trial(seed: int) -> str:
        rng = np.random.default_rng(seed)
        shutil.rmtree(folder, ignore_errors=True)
        folder.mkdir()
        changed = sorted(whole)[rng.integers(len(whole))]
        for name, content in whole.items():
            (folder / name).write_bytes(damaged(content, rng) if name == changed else content)
        try:
            concepts = read(folder)
            if format != "wikipedia":
                write_concept_base(folder / "kb", concepts)
        except DecodersError as error:
            said = str(error)
            assert changed in said or "no concept in it" in said, said
            assert not (folder / "kb").exists(), "a base was left behind"
            raise
        written = {path.name for path in folder.iterdir()}
        assert written <= {*whole, "kb"}, written
        return "read"

    return trial


def check_dump(format: str, folder: Path, trials: int) -> Outcomes:
    """Run so many trials of a format."""
    trial = dump_trial(format, folder / "dump")
    return run_trials(trial, range(trials), allowed=(DecodersError,))
