"""A corpus is annotated whole: nothing lost, nothing doubled, whatever fails or is killed."""

import gzip
import json
import os
import textwrap
from pathlib import Path

import pytest
import spacy
from spacy.tokens import Doc, DocBin

from spacy_decoders import ProblemError
from spacy_decoders.corpus import Job, annotate

#: A pipeline package whose component refuses some documents and whose process can be killed.
PACKAGE = """
import os, signal
from pathlib import Path
import spacy
from spacy.language import Language


@Language.component("touchy")
def touchy(doc):
    if "poison" in doc.text:
        raise ValueError("cannot stand poison")
    if "deadly" in doc.text:
        os.kill(os.getpid(), signal.SIGKILL)
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


def test_a_stopped_job_is_resumed(tmp_path, model):
    source = write_lines(tmp_path / "in.jsonl", [f"Text {i}" for i in range(30)])
    job = Job(source, tmp_path / "out", model=model, format="jsonl", shard_size=10)
    annotate(job, progress=False)
    # as if it had been killed while the second shard was written
    job.part(1).rename(job.output / ".part-00001.jsonl.half")
    before = job.part(0).stat().st_mtime_ns
    summary = annotate(job, progress=False)
    assert (summary.resumed, summary.written) == (2, 30)
    assert job.part(0).stat().st_mtime_ns == before
    assert sorted(written_ids(job)) == sorted(f"d{i}" for i in range(30))


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
