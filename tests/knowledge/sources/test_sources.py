"""Open data becomes concepts with names, types and links, and bases of real size."""

import gzip
from pathlib import Path

import pytest

from spacy_decoders import ConceptBase, ProblemError
from spacy_decoders.cli.knowledge import (
    build_from_triples,
    build_from_wikispeedia,
    build_from_wordnet,
)
from spacy_decoders.knowledge.sources.triples import Triples
from spacy_decoders.knowledge.sources.wikispeedia import Wikispeedia
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


@pytest.fixture
def wordnet(tmp_path):
    return write(
        tmp_path / "wordnet",
        synsets=[
            ("synset", "lexfile", "members", "wikidata", "gloss"),
            ("1-n", "noun.animal", "python", "", "a large boa"),
            ("2-n", "noun.person", "python|pythoness", "Q42", "a soothsayer"),
            ("broken",),
        ],
        senses=[
            ("lemma", "pos", "sense_key", "synset"),
            ("python", "n", "python%1", "1-n"),
            ("python", "n", "python%2", "2-n"),
        ],
        graph=[("1-n", "hypernym", "2-n"), ("1-n", "hypernym", "1-n")],
        semcor_sense_counts=[("python%1", "4")],
    )


def test_tables_of_a_wordnet(wordnet):
    source = WordNet(wordnet)
    snake, seer = source
    assert (snake.id, snake.title, snake.aliases) == ("1-n", "python", {"python": 5.0})
    assert (snake.links, snake.type, snake.qid) == (("2-n",), "organism", "")
    assert (seer.aliases, seer.type, seer.qid) == ({"python": 1, "pythoness": 1}, "person", "Q42")
    assert seer.description == "a soothsayer" and source.bad.count == 1


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


@pytest.mark.parametrize(
    "text",
    ["", "<a>", "<a/>", *(f'<?xml version="1.0" encoding="{e}"?><a/>' for e in ("UTF-x", "big5"))],
)
def test_a_file_that_is_no_wordnet_is_refused(tmp_path, text):
    (tmp_path / "wn.xml").write_text(text)
    with pytest.raises(ProblemError, match="LMF"):
        list(WordNet(tmp_path / "wn.xml"))
    with pytest.raises(ProblemError, match=r"has no synsets\.tsv"):
        WordNet(tmp_path)
    with pytest.raises(ProblemError, match="does not exist"):
        WordNet(tmp_path / "none")


def test_wikispeedia(tmp_path):
    folder = write(
        tmp_path / "speedia",
        articles=[("# a comment",), ("K%C3%B6ln",), ("Mercury_(planet)",)],
        links=[("K%C3%B6ln", "Mercury_(planet)"), ("one column",)],
        categories=[
            ("Mercury_(planet)", "subject.Science.Physics"),
            ("K%C3%B6ln", "subject.Countries"),
        ],
    )
    source = Wikispeedia(folder)
    city, planet = source
    assert (city.id, city.links, city.type) == ("Köln", ("Mercury_(planet)",), "place")
    assert planet.aliases == {"Mercury (planet)": 2.0, "Mercury": 2.0}
    assert planet.description == "Science: Physics"
    assert planet.url == "https://en.wikipedia.org/wiki/Mercury_(planet)"
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
def test_real_data_make_bases_of_real_size(data: Path, tmp_path):
    folder = data / "linking"
    build_from_wordnet(folder / "wordnet", tmp_path / "wordnet", hubs=0)
    build_from_wikispeedia(folder / "wikispeedia", tmp_path / "wikispeedia", hubs=0)
    triples = [folder / "wikidata-benchmarks" / f"{n}.tsv.gz" for n in ("names", "wikidata_graph")]
    build_from_triples(*triples, tmp_path / "triples", hubs=0)
    wordnet, wikispeedia, items = (
        ConceptBase.open(tmp_path / name) for name in ("wordnet", "wikispeedia", "triples")
    )
    assert len(wordnet) == 107_525 and wordnet.graph.n_edges > 160_000
    assert {one["type"]: round(one["prior"], 3) for one in wordnet.look_up("python")} == {
        "organism": 0.667,
        "person": 0.167,
        "communication": 0.167,
    }
    assert len(wikispeedia) == 4598
    assert {one["id"] for one in wikispeedia.look_up("Mercury")} == {
        "Mercury_(planet)",
        "Mercury_(element)",
    }
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
