"""One bad document costs one document."""

from __future__ import annotations

import json

from spacy_decoders.annotate import Job, annotate

from .jobs import written_ids


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
    places = {error["id"]: (error["file"], error["line"]) for error in errors}
    assert places["b"] == (str(source), 5) and places["c"] == (str(source), 6)
    assert places["in.jsonl:2"] == (str(source), 2)
    reasons = {error["id"]: error["reason"] for error in errors}
    assert reasons["c"] == "ValueError: cannot stand poison"
    assert "not JSON" in reasons["in.jsonl:2"]
    assert "got list" in reasons["in.jsonl:3"]
    assert "no field 'text'; fields: body, id" in reasons["b"]
