"""Every kind of input is read and written; what is no text is told with its place."""

import datetime
import gzip
import json

import pytest
import spacy
from spacy.tokens import Doc, DocBin, Span

from spacy_decoders import Certificate
from spacy_decoders.annotate import Job, annotate
from spacy_decoders.components import extensions

from .jobs import errors_of, written_ids


def test_all_other_fields_of_a_record_are_kept(tmp_path, model):
    record = {
        "id": 7,
        "text": "One. Two.",
        "source": {"url": "https://example.org", "pages": [1, 2]},
        "tags": ["gold", "tags"],
        "record": None,
        "fields": "too",
    }
    source = tmp_path / "in.jsonl"
    source.write_text(json.dumps(record) + "\n", encoding="utf8")
    kept = {name: record[name] for name in ("source", "record", "fields")}
    kept["input_tags"] = record["tags"]

    lines = Job(source, tmp_path / "lines", model=model, format="jsonl")
    annotate(lines, progress=False)
    row = json.loads(lines.part(0).read_text())
    assert {name: row[name] for name in kept} == kept
    assert (row["id"], row["text"], row["tags"]) == (7, record["text"], [""] * 4)
    assert (row["tokens"], row["sentences"]) == (["One", ".", "Two", "."], [[0, 2], [2, 4]])

    docs = Job(source, tmp_path / "docs", model=model)
    annotate(docs, progress=False)
    # and once more, from documents to lines
    again = Job(docs.part(0), tmp_path / "again", model=model, format="jsonl")
    annotate(again, progress=False)
    assert json.loads(again.part(0).read_text()) == row


def test_bad_records_are_set_apart_with_their_place_and_the_reason(tmp_path, model):
    folder = tmp_path / "in"
    folder.mkdir()
    a, b = folder / "a.jsonl", folder / "b.txt"
    a.write_bytes(
        b'\xef\xbb\xbf{"id": "marked", "text": "marked"}\n{"text": "caf\xe9"}\n'
        b'{"text": "\\ud800"}\n{"text": "fine", "note": "\\ud800"}\n' + b"[" * 100_000 + b"\n"
        b'{"text": "fine", "count": 1' + b"0" * 30 + b"}\n\n[1]\n"
        b'{"id": "b", "body": "x"}\n{"id": "c", "text": "poison"}\n{"id": "d", "text": "too"}\n'
        b'{"id": NaN, "text": 5}\n{"id": "\\ud800", "\\udfff": 1}\n'
        b'{"id": 1e999, "text": "three"}\n'
    )
    b.write_bytes(b"One line.\nAnother caf\xe9.")
    job = Job(folder, tmp_path / "out", model=model, format="jsonl")
    assert annotate(job, progress=False).failed == 12
    assert annotate(job, progress=False).resumed
    assert written_ids(job) == ["marked", "d", "a.jsonl:14"]
    errors = {error["id"]: error for error in errors_of(job)}
    assert [errors[name]["line"] for name in ("a.jsonl:2", "b", "c")] == [2, 9, 10]
    assert {error["file"] for error in errors.values()} == {str(a), str(b)}
    for name, reason in {
        "a.jsonl:2": f"{a}, line 2: byte 14 is 0xe9, which is no UTF-8",
        "a.jsonl:3": "field 'text' can't be written",
        "a.jsonl:4": "field 'note' can't be written",
        "a.jsonl:5": "not JSON",
        "a.jsonl:6": "field 'count' can't be written",
        "a.jsonl:7": "an empty line",
        "a.jsonl:8": "got list",
        "a.jsonl:12": "field 'text' holds 5",
        "a.jsonl:13": r"no field 'text'; fields: id, \udfff",
        "b": "no field 'text'; fields: body, id",
        "c": "ValueError: cannot stand poison",
        "b.txt": f"{b}, line 2: byte 12 is 0xe9",
    }.items():
        assert reason in errors[name]["reason"], name


def test_all_kinds_of_input_and_output(tmp_path, model):
    pyarrow = pytest.importorskip("pyarrow")
    parquet = pytest.importorskip("pyarrow.parquet")
    folder = tmp_path / "in"
    folder.mkdir()
    (folder / "a.txt").write_text("One text file.")
    with gzip.open(folder / "b.JSONL.GZ", "wt") as lines:
        lines.write('{"id": "zipped", "text": "From gzip."}\n')
    parquet.write_table(
        pyarrow.table({"id": ["p1", "p2"], "text": ["From parquet.", None]}), folder / "c.parquet"
    )
    doc = Doc(spacy.blank("en").vocab, words=["From", "DocBin"], ents=["B-PER", "O"])
    DocBin(docs=[doc], store_user_data=True).to_disk(folder / "d.spacy")
    (folder / "e.spacy").write_bytes(b"not a DocBin")
    (folder / "ignored.csv").write_text("x")
    job = Job(folder, tmp_path / "out", model=model, format="parquet", shard_size=3)
    summary = annotate(job, progress=False)
    assert (summary.written, summary.failed) == (4, 2)
    table = pyarrow.concat_tables(
        parquet.read_table(part) for part in sorted(job.output.glob("part-*.parquet"))
    )
    assert table["text"].to_pylist() == [
        "One text file.",
        "From gzip.",
        "From parquet.",
        "From DocBin ",
    ]
    assert json.loads(table["ents"].to_pylist()[3])[0]["label"] == "PER"


def test_fields_of_parquet_are_kept(tmp_path, model):
    pyarrow = pytest.importorskip("pyarrow")
    parquet = pytest.importorskip("pyarrow.parquet")
    day = datetime.date(2024, 2, 29)
    parquet.write_table(
        pyarrow.table({"body": ["Text."], "id": [None], "day": [day], "raw": [b"\xff"]}),
        tmp_path / "in.parquet",
    )
    job = Job(
        tmp_path / "in.parquet", tmp_path / "out", model, format="parquet", text_field="body"
    )
    annotate(job, progress=False)
    (row,) = parquet.read_table(job.part(0)).to_pylist()
    assert (row["id"], row["text"]) == ("in.parquet:1", "Text.")
    assert json.loads(row["fields"]) == {"day": "2024-02-29", "raw": "/w=="}


def test_what_is_known_of_tokens_and_spans_is_written(tmp_path, model):
    vocab = spacy.blank("en").vocab
    doc = Doc(vocab, words=["Cats"], lemmas=["cat"], morphs=["Number=Plur"], pos=["NOUN"])
    doc.spans["concepts"] = [Span(doc, 0, 1, "CONCEPT", kb_id="cat")]
    DocBin(docs=[doc]).to_disk(tmp_path / "in.spacy")
    parquet = pytest.importorskip("pyarrow.parquet")
    for format, read in (
        ("jsonl", lambda part: [json.loads(part.read_text())]),
        ("parquet", lambda part: parquet.read_table(part).to_pylist()),
    ):
        job = Job(tmp_path / "in.spacy", tmp_path / format, model=model, format=format)
        annotate(job, progress=False)
        (row,) = read(job.part(0))
        spans = json.loads(row["spans"]) if format == "parquet" else row["spans"]
        (span,) = spans["concepts"]
        assert (span["start"], span["end"], span["kb_id"], span["link"]) == (0, 4, "cat", {})
        assert (row["lemmas"], row["morphs"]) == (["cat"], ["Number=Plur"])


@pytest.mark.parametrize("format", ["spacy", "jsonl", "parquet"])
def test_foreign_values_of_our_attributes_cost_no_document(tmp_path, model, format):
    if format == "parquet":
        pytest.importorskip("pyarrow")
    extensions.install()
    ours = Certificate("Viterbi", "optimal").as_dict()
    foreign = ["mine", None, ["x"], {"x": 5}, {"x": "y", "o": [ours]}, {"x": [{"status": 1}, 2]}]
    vocab, docs = spacy.blank("en").vocab, []
    for value in foreign:
        docs.append(Doc(vocab, words=["Cats"], ents=["B-PET"]))
        for owner in (docs[-1], docs[-1].ents[0]):
            for name in ("certificates", "conflicts", "headline", "headlines", "link"):
                if owner._.has(name):
                    owner._.set(name, value)
    DocBin(docs=docs, store_user_data=True).to_disk(tmp_path / "in.spacy")
    summary = annotate(Job(tmp_path / "in.spacy", tmp_path / "out", model, format), progress=False)
    assert (summary.written, summary.failed, summary.certified) == (len(foreign), 0, 1)
