"""A corpus is annotated whole: nothing lost, nothing doubled, whatever fails or is killed."""

import datetime
import errno
import gzip
import json
import os
import signal
import subprocess
import sys
import textwrap
import time
from contextlib import suppress
from pathlib import Path

import pytest
import spacy
from spacy.tokens import Doc, DocBin

from spacy_decoders import ProblemError
from spacy_decoders.annotate import Job, annotate

#: A pipeline package whose component refuses some documents and whose process can be killed.
PACKAGE = """
import os, signal, time
from pathlib import Path
import spacy
from spacy.language import Language


@Language.component("touchy")
def touchy(doc):
    if "poison" in doc.text:
        raise ValueError("cannot stand poison")
    if "deadly" in doc.text:
        os.kill(os.getpid(), signal.SIGKILL)
    if "endless" in doc.text:
        Path(os.environ["STUMBLED"]).touch()
        while True:
            time.sleep(1)
    if "stumble" in doc.text:
        marker = Path(os.environ["STUMBLED"])
        if not marker.exists():
            marker.touch()
            os.kill(os.getpid(), signal.SIGKILL)
    return doc


def load(**overrides):
    nlp = spacy.blank("en")
    nlp.add_pipe("sentencizer")
    nlp.add_pipe("touchy")
    return nlp
"""


@pytest.fixture
def model(tmp_path, monkeypatch):
    """An installed pipeline package, seen by worker processes too."""
    name = f"touchy_{tmp_path.name}".replace("-", "_")
    site = tmp_path / "site"
    (site / name).mkdir(parents=True)
    (site / name / "__init__.py").write_text(textwrap.dedent(PACKAGE))
    meta = site / f"{name}-1.0.dist-info"
    meta.mkdir()
    (meta / "METADATA").write_text(f"Metadata-Version: 2.1\nName: {name}\nVersion: 1.0\n")
    monkeypatch.syspath_prepend(str(site))
    monkeypatch.setenv("PYTHONPATH", str(site))
    monkeypatch.setenv("STUMBLED", str(tmp_path / "stumbled"))
    return name


def write_lines(path, texts):
    rows = [json.dumps({"id": f"d{i}", "text": text}) for i, text in enumerate(texts)]
    path.write_text("\n".join(rows) + "\n", encoding="utf8")
    return path


def written_ids(job):
    rows = []
    for part in sorted(job.output.glob("part-*.jsonl")):
        rows += [json.loads(line)["id"] for line in part.read_text().splitlines()]
    return rows


def test_every_document_once_and_in_order(tmp_path, model):
    source = write_lines(tmp_path / "in.jsonl", [f"Text {i}. More." for i in range(25)])
    job = Job(source, tmp_path / "out", model=model, format="jsonl", shard_size=10)
    summary = annotate(job, progress=False)
    assert (summary.shards, summary.written, summary.failed) == (3, 25, 0)
    assert written_ids(job) == [f"d{i}" for i in range(25)]
    assert (job.output / "errors.jsonl").read_text() == ""
    row = json.loads(job.part(0).read_text().splitlines()[0])
    assert row["tokens"] == ["Text", "0", ".", "More", "."]
    assert row["sentences"] == [[0, 3], [3, 5]]


def test_bad_documents_are_set_apart_with_the_reason(tmp_path, model):
    source = tmp_path / "in.jsonl"
    source.write_text(
        '{"id": "a", "text": "fine"}\nnot json\n[1]\n\n{"id": "b", "body": "x"}\n'
        '{"id": "c", "text": "poison"}\n{"id": "d", "text": "fine too"}\n'
    )
    job = Job(source, tmp_path / "out", model=model, format="jsonl")
    assert annotate(job, progress=False).failed == 5
    assert written_ids(job) == ["a", "d"]
    errors = [json.loads(line) for line in (job.output / "errors.jsonl").read_text().splitlines()]
    reasons = {error["id"]: error["reason"] for error in errors}
    assert reasons["c"] == "ValueError: cannot stand poison"
    assert "not JSON" in reasons["in.jsonl:2"]
    assert "got list" in reasons["in.jsonl:3"]
    assert "no field 'text'; fields: body, id" in reasons["b"]


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
    assert (row["id"], row["text"], row["tags"]) == ("7", record["text"], [""] * 4)

    docs = Job(source, tmp_path / "docs", model=model)
    annotate(docs, progress=False)
    # and once more, from documents to lines
    again = Job(docs.part(0), tmp_path / "again", model=model, format="jsonl")
    annotate(again, progress=False)
    assert json.loads(again.part(0).read_text()) == row


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


def test_text_that_is_none_is_named_with_its_place(tmp_path, model):
    folder = tmp_path / "in"
    folder.mkdir()
    (folder / "a.jsonl").write_bytes(
        b'\xef\xbb\xbf{"text": "marked"}\n{"text": "caf\xe9"}\n{"text": "\\ud800"}\n'
        b'{"text": "fine", "note": "\\ud800"}\n' + b"[" * 100_000 + b"\n"
        b'{"text": "fine", "count": 1' + b"0" * 30 + b"}\n"
    )
    (folder / "b.txt").write_bytes(b"One line.\nAnother caf\xe9.")
    job = Job(folder, tmp_path / "out", model=model, format="jsonl")
    summary = annotate(job, progress=False)
    assert (summary.written, summary.failed) == (1, 6)
    errors = [json.loads(line) for line in (job.output / "errors.jsonl").read_text().splitlines()]
    reasons = {error["id"]: error["reason"] for error in errors}
    a, b = folder / "a.jsonl", folder / "b.txt"
    assert reasons["a.jsonl:2"].startswith(f"{a}, line 2: byte 14 is 0xe9, which is no UTF-8")
    assert "field 'text' can't be written" in reasons["a.jsonl:3"]
    assert "field 'note' can't be written" in reasons["a.jsonl:4"]
    assert "not JSON" in reasons["a.jsonl:5"]
    assert "field 'count' can't be written" in reasons["a.jsonl:6"]
    assert reasons["b.txt"].startswith(f"{b}, line 2: byte 12 is 0xe9")


@pytest.mark.skipif(not Path("/dev/full").exists(), reason="needs a device that is always full")
@pytest.mark.parametrize("format", ["spacy", "jsonl", "parquet"])
@pytest.mark.parametrize("name", ["part-00000", "00000.json", "errors.jsonl"])
def test_a_full_disk_is_named_with_the_file(tmp_path, model, monkeypatch, format, name):
    if format == "parquet":
        pytest.importorskip("pyarrow")
    source = write_lines(tmp_path / "in.jsonl", ["One.", "poison"])
    job = Job(source, tmp_path / "out", model=model, format=format)
    replaced = Path.with_name

    def with_name(path, other):
        found = replaced(path, other)
        if path.name.startswith(name):
            found.symlink_to("/dev/full")
        return found

    with monkeypatch.context() as patched:
        patched.setattr(Path, "with_name", with_name)
        with pytest.raises(OSError, match=f"No space left on device.*out.*{name}") as caught:
            annotate(job, progress=False)
    assert caught.value.errno == errno.ENOSPC
    assert not list(job.output.rglob(".*"))
    # with room again, the same call goes on
    summary = annotate(job, progress=False)
    assert (summary.written, summary.failed) == (1, 1)


@pytest.mark.skipif(os.name == "nt", reason="SIGKILL means something else there")
def test_processes_end_with_one_that_is_killed(tmp_path, model):
    source = write_lines(tmp_path / "in.jsonl", ["endless", "endless"])
    code = f"""
from pathlib import Path
from spacy_decoders.annotate import Job, annotate

if __name__ == "__main__":
    job = Job(Path({str(source)!r}), Path({str(tmp_path / "out")!r}), {model!r}, shard_size=1)
    annotate(job, workers=2, progress=False)
"""
    (tmp_path / "run.py").write_text(code, encoding="utf8")
    command = [sys.executable, tmp_path / "run.py"]
    with subprocess.Popen(command, stdout=subprocess.PIPE, start_new_session=True) as process:
        try:
            while not Path(os.environ["STUMBLED"]).exists():
                assert process.poll() is None
                time.sleep(0.1)
            process.kill()
            # the output ends when nobody is left who could write there
            process.communicate(timeout=300)
        finally:
            with suppress(ProcessLookupError):
                os.killpg(process.pid, signal.SIGKILL)


def test_a_stopped_job_is_resumed(tmp_path, model):
    source = write_lines(tmp_path / "in.jsonl", [f"Text {i}" for i in range(30)])
    job = Job(source, tmp_path / "out", model=model, format="jsonl", shard_size=10)
    annotate(job, progress=False)
    # as if it had been killed while the second shard was written
    job.part(1).rename(job.output / f".{job.part(1).name}.half")
    before = job.part(0).stat().st_mtime_ns
    summary = annotate(job, progress=False)
    assert (summary.resumed, summary.written) == (2, 30)
    assert job.part(0).stat().st_mtime_ns == before
    assert sorted(written_ids(job)) == sorted(f"d{i}" for i in range(30))
    assert not list(job.output.rglob(".*"))


def test_an_output_of_other_settings_is_not_mixed_with(tmp_path, model):
    source = write_lines(tmp_path / "in.jsonl", ["Text"])
    annotate(Job(source, tmp_path / "out", model=model), progress=False)
    with pytest.raises(ProblemError, match="begun with another shard_size"):
        annotate(Job(source, tmp_path / "out", model=model, shard_size=7), progress=False)


def test_all_kinds_of_input_and_output(tmp_path, model):
    pytest.importorskip("pyarrow")
    import pyarrow
    import pyarrow.parquet

    folder = tmp_path / "in"
    folder.mkdir()
    (folder / "a.txt").write_text("One text file.")
    with gzip.open(folder / "b.jsonl.gz", "wt") as lines:
        lines.write('{"id": "zipped", "text": "From gzip."}\n')
    pyarrow.parquet.write_table(
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
        pyarrow.parquet.read_table(part) for part in sorted(job.output.glob("part-*.parquet"))
    )
    assert table["text"].to_pylist() == [
        "One text file.",
        "From gzip.",
        "From parquet.",
        "From DocBin ",
    ]
    assert json.loads(table["ents"].to_pylist()[3])[0]["label"] == "PER"


def test_a_docbin_of_results_reads_back(tmp_path, model):
    source = write_lines(tmp_path / "in.jsonl", ["One. Two.", "Three."])
    job = Job(source, tmp_path / "out", model=model)
    annotate(job, progress=False)
    docs = list(DocBin().from_disk(job.part(0)).get_docs(spacy.blank("en").vocab))
    assert [doc.user_data["id"] for doc in docs] == ["d0", "d1"]
    assert len(list(docs[0].sents)) == 2


def test_processes_survive_a_document_that_kills_them(tmp_path, model):
    texts = [f"Text {i}" for i in range(8)]
    texts[3], texts[6] = "deadly", "stumble"
    source = write_lines(tmp_path / "in.jsonl", texts)
    job = Job(source, tmp_path / "out", model=model, format="jsonl", shard_size=2)
    summary = annotate(job, workers=2, progress=False)
    # the shard of the deadly one is reported and left for the next run; the others are whole
    assert written_ids(job) == ["d0", "d1", "d4", "d5", "d6", "d7"]
    assert summary.failed == 1
    assert "died" in (job.output / "errors.jsonl").read_text()


def test_a_cluster_that_loses_a_worker_loses_no_document(tmp_path, model):
    distributed = pytest.importorskip("distributed")
    texts = [f"Text {i}" for i in range(40)]
    texts[17], texts[5] = "stumble", "poison"
    source = write_lines(tmp_path / "in.jsonl", texts)
    job = Job(source, tmp_path / "out", model=model, format="jsonl", shard_size=4)
    with distributed.LocalCluster(
        n_workers=2, threads_per_worker=1, processes=True, dashboard_address=None
    ) as cluster:
        summary = annotate(job, scheduler=cluster.scheduler_address, progress=False)
    assert Path(os.environ["STUMBLED"]).exists(), "no worker was killed"
    assert (summary.written, summary.failed) == (39, 1)
    assert written_ids(job) == [f"d{i}" for i in range(40) if i != 5]


@pytest.mark.parametrize(
    "settings, message",
    [({"format": "csv"}, "format"), ({"shard_size": 0}, "shard_size")],
)
def test_settings_are_checked(tmp_path, settings, message):
    with pytest.raises(ProblemError, match=message):
        Job(tmp_path, tmp_path / "out", **settings)


def test_an_input_with_nothing_to_read(tmp_path):
    with pytest.raises(ProblemError, match="does not exist"):
        annotate(Job(tmp_path / "none", tmp_path / "out"))
    (tmp_path / "empty").mkdir()
    with pytest.raises(ProblemError, match="nothing to read"):
        annotate(Job(tmp_path / "empty", tmp_path / "out"))
