"""``decoders convert`` makes what spaCy's own commands read."""

import gzip
import json

import spacy
from spacy.cli.evaluate import evaluate
from spacy.tokens import DocBin

from .commands import run

ROWS = (
    "1\tKim\tKim\tPROPN\tNNP\t_\t2\tnsubj\t_\t_\n2\twakes\twake\tVERB\tVBZ\t_\t0\troot\t_\t_\n"
    "3\t.\t.\tPUNCT\t.\t_\t2\tpunct\t_\t_\n\n"
)


def test_a_treebank_is_evaluated_by_spacy(tmp_path):
    from spacy_decoders.bundled import FOLDER

    source, output = tmp_path / "dev.conllu.gz", tmp_path / "new" / "dev.spacy"
    source.write_bytes(gzip.compress(ROWS.encode() * 12))
    assert "2 documents in" in run("convert", source, output)
    evaluate(str(FOLDER), output, tmp_path / "scores.json", silent=True)
    scores = json.loads((tmp_path / "scores.json").read_text())
    assert scores["tag_acc"] > 0.9 and scores["dep_las"] > 0.9


def test_contracted_words_are_converted_as_in_the_text(tmp_path):
    source, output = tmp_path / "it.conllu", tmp_path / "it.spacy"
    source.write_text("1-2\tNella" + 8 * "\t_" + "\n" + ROWS.replace("Kim", "In", 1))
    run("convert", source, output, "--merge-subtokens")
    (doc,) = DocBin().from_disk(output).get_docs(spacy.blank("it").vocab)
    assert doc.text.strip() == "Nella ."


def test_what_can_not_be_converted_is_said(tmp_path):
    (tmp_path / "empty.conllu").write_text("\n")
    assert "no sentence" in run("convert", tmp_path / "empty.conllu", tmp_path / "a.spacy", code=1)
    assert ".spacy" in run("convert", tmp_path / "empty.conllu", tmp_path / "a.json", code=1)
    (tmp_path / "bad.spacy").write_text("?")
    assert "bad.spacy" in run("convert", tmp_path / "bad.spacy", tmp_path / "a.spacy", code=1)
    (tmp_path / "a.tsv").write_text("Kim\tNNP\n\n")
    assert "--columns" in run("convert", tmp_path / "a.tsv", tmp_path / "a.spacy", code=1)
    (tmp_path / "lines.jsonl").write_text("{}\n")
    said = run("convert", tmp_path / "lines.jsonl", tmp_path / "a.spacy", code=1)
    assert "LinkedCorpus.v1" in said and "spacy convert" not in said
