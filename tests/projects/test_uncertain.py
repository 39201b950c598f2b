"""``uncertain.py`` of ``projects/active_learning``: texts ranked as tasks."""

import json
import sys
from pathlib import Path

import pytest
import spacy
import typer
from typer.testing import CliRunner

from tests.components.tagger.tagging import randomised

sys.path.append(str(Path(__file__).parents[2] / "projects" / "active_learning" / "scripts"))
from uncertain import rank_texts
from uncertainty import prepared, uncertainty

TEXTS = ["New York sees Mercury .", "the old man", "Mercury", "the boats see New York ."]


def run(*words, code=0):
    app = typer.Typer()
    app.command()(rank_texts)
    result = CliRunner(env={"COLUMNS": "300"}).invoke(app, [str(word) for word in words])
    assert result.exit_code == code, result.output
    return result.output + (str(result.exception) if code else "")


@pytest.fixture(scope="module")
def model(tmp_path_factory):
    folder = tmp_path_factory.mktemp("model")
    randomised(0, target="ent").to_disk(folder)
    return folder


@pytest.fixture
def texts(tmp_path):
    path = tmp_path / "texts.jsonl"
    path.write_text("\n".join(json.dumps({"text": text, "id": text[:3]}) for text in TEXTS * 2))
    return path


def tasks_of(path):
    return [json.loads(line) for line in path.read_text(encoding="utf8").splitlines()]


@pytest.mark.parametrize("by", ["errors", "share"])
def test_the_least_sure_comes_first(model, texts, tmp_path, by):
    output = tmp_path / "tasks.jsonl"
    run(texts, "--model", model, "--output", output, "--by", by)
    tasks = tasks_of(output)
    assert sorted(task["text"] for task in tasks) == sorted(TEXTS)
    scores = [task["meta"]["score"] for task in tasks]
    assert scores == sorted(scores, reverse=True)
    assert len(set(scores)) > 1
    nlp = spacy.load(model)
    names = prepared(nlp)
    for task in tasks:
        assert task["meta"]["score"] == pytest.approx(
            uncertainty(nlp(task["text"]), names, by), abs=1e-4
        )


def test_prodigy_gets_the_answer(model, texts, tmp_path):
    output = tmp_path / "tasks.jsonl"
    run(texts, "--model", model, "--output", output, "--top", 3)
    tasks = tasks_of(output)
    assert len(tasks) == 3
    nlp = spacy.load(model)
    nlp.get_pipe("exact_tagger").entity_alternatives = 0.1
    for task in tasks:
        doc = nlp(task["text"])
        assert [(s["token_start"], s["token_end"] + 1, s["label"]) for s in task["spans"]] == [
            (ent.start, ent.end, ent.label_) for ent in doc.ents
        ]
        assert all(0.0 <= span["prob"] <= 1.0 for span in task["spans"])
        listed = {(e["start"], e["end"], e["label"]) for e in doc._.entity_alternatives}
        own = {(ent.start, ent.end, ent.label_) for ent in doc.ents}
        assert len(task["alternatives"]) == len(listed - own)


def test_label_studio_gets_predictions_and_alternatives(model, texts, tmp_path):
    output = tmp_path / "tasks.json"
    said = run(texts, "--model", model, "--output", output, "--format", "label-studio")
    assert '<Label value="CITY"/>' in said
    tasks = json.loads(output.read_text(encoding="utf8"))
    assert any(len(task["predictions"]) == 2 for task in tasks)
    for task in tasks:
        for prediction in task["predictions"]:
            assert 0.0 <= prediction["score"] <= 1.0
            for result in prediction["result"]:
                value = result["value"]
                assert task["data"]["text"][value["start"] : value["end"]] == value["text"]
                assert result["from_name"] == "label"
