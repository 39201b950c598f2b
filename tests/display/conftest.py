"""A document with everything that a page can show."""

import pytest
from spacy.tokens import Doc
from spacy.vocab import Vocab

from spacy_decoders import Certificate
from spacy_decoders.components.extensions import install, record_certificates

WORDS = ["The", "<Jaguar>", "slept", "in", "Kent", "."]
TAGS = ["DT", "NNP", "VBD", "IN", "NNP", "."]
HEADS = [1, 2, 2, 4, 2, 2]
DEPS = ["det", "nsubj", "ROOT", "case", "obl", "punct"]


def proven(score=2.0, scope="full"):
    return Certificate.from_bound("X", score, score, tolerance=1e-6, scope=scope)


@pytest.fixture
def doc():
    install()
    doc = Doc(
        Vocab(),
        words=WORDS,
        tags=TAGS,
        heads=HEADS,
        deps=DEPS,
        ents=["O", "B-ORG", "O", "O", "B-LOC", "O"],
    )
    doc.ents[0]._.link = {
        "id": "cat",
        "title": "Jaguar",
        "score": 0.8,
        "margin": 0.5,
        "candidates": [
            {"id": "cat", "title": "Jaguar", "score": 0.8},
            {"id": "car", "title": "Jaguar Cars", "score": 0.2},
        ],
    }
    doc._.parses = [[tree(HEADS, DEPS, 3.0), tree([2, *HEADS[1:]], DEPS, 2.5)]]
    doc._.taggings = [
        tagging("tagger", TAGS, 3.0),
        tagging("tagger", ["DT", "NN", "VBD", "IN", "NNP", "."], 1.0),
        tagging("entities", ["O", "B-ORG", "O", "O", "B-LOC", "O"], 7.0),
        tagging("entities", ["B-PER", "I-PER", "O", "O", "B-LOC", "O"], 6.75),
    ]
    doc._.headlines = [
        {"text": "Jaguar slept", "score": 2.0, "certificate": proven().as_dict()},
        {"text": "Slept in Kent", "score": 1.5, "certificate": proven().as_dict()},
    ]
    for token in doc:
        token._.tag_margin = 0.25 if token.i == 1 else 4.0
    for token, margin in zip(doc, [0.5, 9.0, 9.0, 9.0, 9.0, 9.0], strict=True):
        token._.head_margin = margin
    gap = Certificate.from_bound("X", 99.0, 100.0, tolerance=0.0)
    record_certificates(doc, "parser", [proven(), proven(scope="pruned"), gap])
    record_certificates(doc, "tagger", [proven()])
    return doc


def tree(heads, deps, score):
    return {"tokens": list(range(len(heads))), "heads": heads, "deps": deps, "score": score}


def tagging(component, labels, score):
    span = {"start": 0, "end": len(labels)}
    return {"component": component, **span, "labels": labels, "score": score}
