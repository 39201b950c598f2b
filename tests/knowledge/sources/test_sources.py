"""Open data becomes concepts with names, types and links, and bases of real size."""

import gzip
from pathlib import Path

import pytest

from spacy_decoders import ConceptBase
from spacy_decoders.cli.knowledge import build_from_triples
from spacy_decoders.knowledge.sources.triples import Triples
from spacy_decoders.knowledge.sources.wordnet import WordNet

LMF = """<?xml version="1.0" encoding="UTF-8"?>
<LexicalResource xmlns:dc="https://globalwordnet.github.io/schemas/dc/"><Lexicon id="oewn">
<LexicalEntry id="e1"><Lemma writtenForm="python" partOfSpeech="n"/>
  <Sense id="s1" synset="snake"><SenseRelation relType="other" target="s2"/></Sense></LexicalEntry>
<LexicalEntry id="e2"><Lemma writtenForm="Python" partOfSpeech="n"/>
  <Sense id="s2" synset="language"><Count>7</Count></Sense></LexicalEntry>
<Synset id="snake" ili="i1" lexfile="noun.animal"><Definition>a large boa</Definition></Synset>
<Synset id="language" ili="i2" lexfile="noun.communication" dc:subject="Q28865">
  <Definition>a programming language</Definition>
  <SynsetRelation relType="hypernym" target="elsewhere"/></Synset>
<Synset ili="i3"/></Lexicon></LexicalResource>"""


def write(folder, **tables):
    folder.mkdir(exist_ok=True)
    for name, rows in tables.items():
        text = "".join("\t".join(row) + "\n" for row in rows)
        (folder / f"{name}.tsv.gz").write_bytes(gzip.compress(text.encode()))
    return folder


@pytest.mark.parametrize("name", ["wn.xml", "wn.xml.gz"])
def test_lmf_of_a_wordnet(tmp_path, name):
    path = tmp_path / name
    path.write_bytes(gzip.compress(LMF.encode()) if name.endswith("gz") else LMF.encode())
    source = WordNet(path)
    snake, language = source
    assert (snake.aliases, snake.links, snake.type) == ({"python": 1.0}, ("language",), "organism")
    assert (language.aliases, language.type, language.qid) == (
        {"Python": 8.0},
        "communication",
        "Q28865",
    )
    assert source.bad.count == 1


def test_triples_have_types_by_class_and_by_property(tmp_path):
    folder = write(
        tmp_path / "triples",
        names=[("Q1", "Ada"), ("Q1", "Ada Lovelace"), ("Q2", "London"), ("Q3", "Felix")],
        triples=[
            ("Q1", "P19", "Q2"),
            ("Q3", "P31", "Q30"),
            ("Q30", "P279", "Q31"),
            ("Q31", "P279", "Q16521"),
            ("Q3", "P19", "Q2"),  # what its class says counts, not that persons are born
            ("Q1", "P18", "a file"),
        ],
    )
    source = Triples(folder / "names.tsv.gz", folder / "triples.tsv.gz")
    concepts = {concept.id: concept for concept in source}
    assert {name: c.type for name, c in concepts.items()} == {
        "Q1": "person",
        "Q2": "place",
        "Q3": "organism",
        "Q30": "",
        "Q31": "",
        "Q16521": "",
    }
    assert concepts["Q1"].aliases == {"Ada": 2.0, "Ada Lovelace": 2.0}
    assert concepts["Q30"].title == "Q30" and not concepts["Q30"].aliases
    assert concepts["Q3"].links == ("Q30", "Q2") and source.bad.count == 1


@pytest.mark.data
def test_real_data_make_a_base_of_real_size(data: Path, tmp_path):
    folder = data / "linking" / "wikidata-benchmarks"
    triples = [folder / f"{name}.tsv.gz" for name in ("names", "wikidata_graph")]
    build_from_triples(*triples, tmp_path / "triples", hubs=0)
    items = ConceptBase.open(tmp_path / "triples")
    assert items.look_up("Paris")[0] | {"prior": 0} == {
        "id": "Q90",
        "title": "Paris",
        "description": "",
        "type": "place",
        "qid": "Q90",
        "url": "https://www.wikidata.org/wiki/Q90",
        "prior": 0,
        "written": 1.0,
    }
