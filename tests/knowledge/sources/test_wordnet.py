"""A wordnet becomes concepts with names, types and links."""

import gzip

import pytest

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
