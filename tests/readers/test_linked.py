"""Linked entities become Examples whose predicted documents lack the identifiers."""

import json

import pytest
import spacy
from spacy.tokens import DocBin

from spacy_decoders import ProblemError
from spacy_decoders.readers.linked import LinkedCorpus

TEXT = "Mercury orbits the Sun."


def mention(words: str, gold: str | None, **more: str) -> dict[str, object]:
    start = TEXT.index(words)
    return {"start": start, "end": start + len(words), "gold": gold, **more}


@pytest.fixture
def corpus(tmp_path):
    mentions = [
        mention("Mercury", "planet", label="LOC"),
        mention("Mercury orbits", "wrong"),  # overlaps what stands before it
        mention("Su", None),  # ends within a word
    ]
    path = tmp_path / "train.jsonl"
    path.write_text(json.dumps({"text": TEXT, "mentions": mentions}) + "\n\n")
    return path


def links(doc):
    return [(ent.text, ent.label_, ent.kb_id_) for ent in doc.ents]


def test_entities_are_given_and_identifiers_are_not(corpus):
    nlp = spacy.blank("en")
    (example,) = LinkedCorpus(corpus)(nlp)
    DocBin(docs=[example.reference]).to_disk(corpus.with_suffix(".spacy"))
    for path in (corpus, corpus.with_suffix(".spacy")):
        (example,) = LinkedCorpus(path)(nlp)
        assert links(example.reference) == [("Mercury", "LOC", "planet"), ("Sun", "MENTION", "")]
        assert links(example.predicted) == [("Mercury", "LOC", ""), ("Sun", "MENTION", "")]


@pytest.mark.parametrize(
    "name, content, message",
    [
        ("x.csv", "", "expected .spacy or .jsonl"),
        ("x.jsonl", "{}", "x.jsonl, line 1: expected an object with text and mentions"),
        ("x.jsonl", '{"text": "a", "mentions": [{"start": 0, "end": 9}]}', "not within the text"),
        ("x.jsonl", "\n[]", "x.jsonl, line 2: expected a JSON object, got list"),
        ("x.jsonl", "not json", "x.jsonl, line 1: no JSON"),
    ],
)
def test_a_corpus_that_is_none(tmp_path, name, content, message):
    (tmp_path / name).write_text(content)
    with pytest.raises(ProblemError, match=message):
        list(LinkedCorpus(tmp_path / name)(spacy.blank("en")))
    with pytest.raises(ProblemError, match="is no file"):
        list(LinkedCorpus(tmp_path / "none.jsonl")(spacy.blank("en")))
