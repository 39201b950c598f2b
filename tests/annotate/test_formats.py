"""What is written of each document reads back."""

import datetime
import json

import pytest
import spacy
from spacy.tokens import Doc, DocBin

from spacy_decoders.annotate import Job, annotate


def test_fields_of_parquet_are_kept(tmp_path, model):
    pytest.importorskip("pyarrow")
    import pyarrow
    import pyarrow.parquet

    day = datetime.date(2024, 2, 29)
    pyarrow.parquet.write_table(
        pyarrow.table({"body": ["Text."], "id": [None], "day": [day], "raw": [b"\xff"]}),
        tmp_path / "in.parquet",
    )
    job = Job(
        tmp_path / "in.parquet", tmp_path / "out", model, format="parquet", text_field="body"
    )
    annotate(job, progress=False)
    (row,) = pyarrow.parquet.read_table(job.part(0)).to_pylist()
    assert (row["id"], row["text"]) == ("in.parquet:1", "Text.")
    assert json.loads(row["fields"]) == {"day": "2024-02-29", "raw": "/w=="}


def test_lemmas_and_morphology_are_written(tmp_path, model):
    vocab = spacy.blank("en").vocab
    doc = Doc(vocab, words=["Cats"], lemmas=["cat"], morphs=["Number=Plur"], pos=["NOUN"])
    DocBin(docs=[doc]).to_disk(tmp_path / "in.spacy")
    for format in ("jsonl", "parquet"):
        if format == "parquet":
            pytest.importorskip("pyarrow")
        job = Job(tmp_path / "in.spacy", tmp_path / format, model=model, format=format)
        annotate(job, progress=False)
        if format == "parquet":
            import pyarrow.parquet

            (row,) = pyarrow.parquet.read_table(job.part(0)).to_pylist()
        else:
            row = json.loads(job.part(0).read_text())
        assert (row["lemmas"], row["morphs"]) == (["cat"], ["Number=Plur"])
