"""Damaged files are read as far as they say something, or refused by their name."""

import gzip
import json
import warnings

import numpy as np
import pytest
import spacy
from spacy.tokens import DocBin

from spacy_decoders import ProblemError
from spacy_decoders.annotate.records import input_files, read, runs
from spacy_decoders.models.clusters.sources import WordClusters
from spacy_decoders.registry.readers import (
    column_corpus,
    conllu_corpus,
    headline_corpus,
    linked_corpus,
)

from ..damage import damaged
from .files import COLUMNS, CONLLU, CONLLX

TRIALS = 30
NLP = spacy.blank("en")

LINKED = {
    "text": "The jaguar hunts in the jungle.",
    "mentions": [{"start": 4, "end": 10, "label": "ANIMAL", "id": "Q1"}],
}
HEADLINE = {"text": "Binary search halves a sorted array.", "title": "Binary search"}


def docbin() -> bytes:
    return DocBin(docs=[NLP("The jaguar hunts."), NLP("In Rome.")]).to_bytes()


def records(path):
    """Read what is to be annotated; a bad record is told apart, and others go on."""
    vocab = NLP.vocab
    found = [
        record
        for run in runs(input_files(path), 2)
        for extent in run
        for record in read(extent, vocab, "text")
    ]
    for record in found:
        if record.problem:
            raise ProblemError(f"{record.id}: {record.problem}")


def corpus(reader, **options):
    return lambda path: list(reader(path, **options)(NLP))


FORMATS = {
    "conllu": ("a.conllu", CONLLU.encode(), corpus(conllu_corpus)),
    "gzipped conllu": ("a.conllu.gz", gzip.compress(CONLLU.encode()), corpus(conllu_corpus)),
    "conllx": ("a.conll", CONLLX.encode(), corpus(conllu_corpus, format="conllx")),
    "columns": ("a.tsv", COLUMNS.encode(), corpus(column_corpus, columns=["form", "tag", "ent"])),
    "linked": ("a.jsonl", (json.dumps(LINKED) + "\n").encode() * 2, corpus(linked_corpus)),
    "linked docbin": ("a.spacy", docbin(), corpus(linked_corpus)),
    "headlines": ("a.jsonl", (json.dumps(HEADLINE) + "\n").encode() * 2, corpus(headline_corpus)),
    "clusters": (
        "paths",
        b"0010\tthe\t120\n0011\ta\t77\n110\trome\t3\n111\tparis\t4\n",
        lambda path: WordClusters(path=path).read(),
    ),
    "texts to annotate": ("a.txt", b"One text.\nTwo texts.\n", records),
    "records": ("a.jsonl", b'{"text": "One."}\n{"text": "Two."}\n', records),
    "docbin to annotate": ("a.spacy", docbin(), records),
}


@pytest.mark.parametrize("format", FORMATS)
def test_nothing_but_a_clear_refusal(tmp_path, format):
    name, content, read_file = FORMATS[format]
    rng = np.random.default_rng(sum(map(ord, format)))
    (tmp_path / name).write_bytes(content)
    read_file(tmp_path / name)
    refused = 0
    for trial in range(TRIALS):
        path = tmp_path / str(trial) / name
        path.parent.mkdir()
        path.write_bytes(damaged(content, rng))
        try:
            with warnings.catch_warnings():
                warnings.simplefilter("ignore")
                read_file(path)
        except ValueError as error:
            assert name in str(error), error
            refused += 1
    assert refused or format == "texts to annotate"
    written = {path.name for path in tmp_path.rglob("*") if path.is_file()}
    assert written == {name}
