"""Small files that stand for a great deal are refused before they take the memory for it."""

import gzip
import json
import resource
import zlib
from pathlib import Path

import pytest
import spacy
import srsly

from spacy_decoders import ProblemError
from spacy_decoders.annotate.records import read, runs
from spacy_decoders.knowledge.dumps import sql
from spacy_decoders.knowledge.dumps.wikidata import WikidataDump
from spacy_decoders.knowledge.sources import wordnet
from spacy_decoders.knowledge.sources.concept_files import ConceptFile
from spacy_decoders.readers import docbins, text_lines
from spacy_decoders.registry.readers import conllu_corpus, linked_corpus

NLP = spacy.blank("en")
#: What reading may take beyond what the process had, in bytes: far less than the files hold.
MOST = 150 << 20


@pytest.fixture
def little_memory(monkeypatch):
    """Allocations fail that would take what a bomb holds, and lines end sooner."""
    taken = int(Path("/proc/self/statm").read_text().split()[0]) * resource.getpagesize()
    before = resource.getrlimit(resource.RLIMIT_AS)
    resource.setrlimit(resource.RLIMIT_AS, (taken + MOST, before[1]))
    monkeypatch.setattr(text_lines, "LONGEST_LINE", 4 << 20)
    yield
    resource.setrlimit(resource.RLIMIT_AS, before)


def gzipped(path, megabytes, *, begin=b"", unit=b" "):
    """A file of so many megabytes without a newline, a thousandth of the size on disk."""
    member = gzip.compress(unit * (1 << 20), 1)
    path.write_bytes(gzip.compress(begin) + member * megabytes)
    return path


def sparse(path, gigabytes):
    """A file that claims to be huge, without a newline, and takes no room on disk."""
    with path.open("wb") as stream:
        stream.truncate(gigabytes << 30)
    return path


SQL = b"CREATE TABLE `page` (\n  `page_id` int(8) NOT NULL\n);\nINSERT INTO `page` VALUES (1),('"
#: Files of one long line behind their beginnings: its number, and what reads them.
LONG_LINES = {
    "a.conllu.gz": (b"", 1, lambda path: conllu_corpus(path)(NLP)),
    "a.jsonl.gz": (b'{"text": "', 1, lambda path: linked_corpus(path)(NLP)),
    "c.jsonl.gz": (b"", 1, ConceptFile),
    "c.tsv.gz": (b"id\ttitle\n", 2, ConceptFile),
    "w.json.gz": (b"[\n", 2, WikidataDump),
    "page.sql.gz": (SQL, 4, lambda path: sql.SqlTable(path).chunks(["page_id"])),
}


@pytest.mark.usefixtures("little_memory")
@pytest.mark.parametrize("name", LONG_LINES)
def test_long_lines_are_refused_by_their_place(tmp_path, name):
    begin, line, read_file = LONG_LINES[name]
    path = gzipped(tmp_path / name, 600, begin=begin, unit=b"x" if begin is SQL else b" ")
    with pytest.raises(ProblemError, match=rf"{name}, line {line}: it has more than 4 MB"):
        list(read_file(path))


@pytest.mark.usefixtures("little_memory")
def test_long_lines_that_take_no_room_are_refused(tmp_path):
    with pytest.raises(ProblemError, match="line 1"):
        list(linked_corpus(sparse(tmp_path / "b.jsonl", 3))(NLP))


@pytest.mark.usefixtures("little_memory")
def test_long_lines_cost_one_document_of_those_to_annotate(tmp_path):
    path = tmp_path / "a.jsonl"
    with path.open("wb") as stream:
        stream.write(b'{"text": "One."}\n')
        stream.seek(20 << 20, 1)
        stream.write(b'\n{"text": "Three."}\n')
    with path.open("rb") as plain, gzip.open(f"{path}.gz", "wb", 1) as zipped:
        while block := plain.read(1 << 20):
            zipped.write(block)
    for file in (path, tmp_path / "a.jsonl.gz"):
        extents = [extent for (extent,) in runs([file], 2)]
        assert [(extent.start, extent.stop) for extent in extents] == [(0, 2), (2, 3)]
        found = [record for of in extents for record in read(of, NLP.vocab, "text")]
        assert [record.text for record in found] == ["One.", None, "Three."]
        assert "64 MB" in found[1].problem and found[1].line == 2
    sparse(tmp_path / "b.txt", 2)
    ((extent,),) = runs([tmp_path / "b.txt"], 10)
    (record,) = read(extent, NLP.vocab, "text")
    assert "64 MB" in record.problem


def test_entities_of_xml_do_not_explode(tmp_path):
    entities = "".join(f'<!ENTITY e{i} "{f"&e{i - 1};" * 10}">' for i in range(1, 12))
    text = f'<?xml version="1.0"?><!DOCTYPE x [<!ENTITY e0 "lol">{entities}]><x>&e11;</x>'
    (tmp_path / "wn.xml").write_text(text)
    with pytest.raises(ProblemError, match=r"wn\.xml is no whole LMF file"):
        list(wordnet.WordNet(tmp_path / "wn.xml"))
    outside = (
        '<!DOCTYPE x [<!ENTITY e SYSTEM "file:///etc/passwd">]><x><Synset id="s">&e;</Synset></x>'
    )
    (tmp_path / "wn.xml").write_text(outside)
    with pytest.raises(ProblemError, match="undefined entity"):
        list(wordnet.WordNet(tmp_path / "wn.xml"))


def test_docbins_of_nothing_but_zeros(tmp_path, monkeypatch):
    monkeypatch.setattr(docbins, "LEAST_REFUSED", 1 << 20)
    path = tmp_path / "a.spacy"
    path.write_bytes(zlib.compress(srsly.msgpack_dumps({"tokens": bytes(1 << 24)}), 9))
    with pytest.raises(ProblemError, match=r"a\.spacy is not .* more than \d MB of memory"):
        docbins.read_docbin(path)


@pytest.mark.parametrize("depth", [2000, 200_000])
def test_deep_json(tmp_path, depth):
    deep = "[" * depth + "]" * depth
    rows = [{"id": "c1", "title": "One"}, {"id": "c2", "title": "Two"}]
    lines = [json.dumps(rows[0]), '{"id": ' + deep + "}", deep, json.dumps(rows[1])]
    (tmp_path / "c.jsonl").write_text("\n".join(lines))
    concepts = ConceptFile(tmp_path / "c.jsonl")
    assert [concept.id for concept in concepts] == ["c1", "c2"] and concepts.bad.count == 2
    (tmp_path / "w.json").write_text(f"[\n{deep},\n]")
    dump = WikidataDump(tmp_path / "w.json")
    assert not list(dump) and dump.bad.count == 1
    (tmp_path / "a.jsonl").write_text(f'{{"text": "One."}}\n{{"text": {deep}}}\n')
    ((extent,),) = runs([tmp_path / "a.jsonl"], 10)
    first, second = read(extent, NLP.vocab, "text")
    assert first.text == "One." and second.problem
    (tmp_path / "a.jsonl").write_text(f'{{"text": "One.", "mentions": []}}\n{{"text": {deep}}}\n')
    with pytest.raises(ProblemError, match=r"a\.jsonl, line 2"):
        list(linked_corpus(tmp_path / "a.jsonl")(NLP))
