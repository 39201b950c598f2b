"""``uncertain.py`` of ``projects/active_learning``: texts ranked as tasks."""

from __future__ import annotations

import json
from importlib import import_module
from pathlib import Path

import pytest
import spacy
import typer
from typer.testing import CliRunner

from tests.components.parser.parsing import NAME as PARSER
from tests.components.parser.parsing import make_nlp
from tests.components.tagger.tagging import randomised

SCRIPTS = Path(__file__).parents[2] / "projects" / "active_learning" / "scripts"

TEXTS = ["New York sees Mercury .", "the old man", "Mercury", "the boats see New York ."]


@pytest.fixture(autouse=True)
def scripts(monkeypatch):
    """Scripts find each other beside themselves."""
    monkeypatch.syspath_prepend(str(SCRIPTS))


def run(*words, code=0):
    app = typer.Typer()
    app.command()(import_module("uncertain").rank_texts)
    result = CliRunner(env={"COLUMNS": "300"}).invoke(app, [str(word) for word in words])
    assert result.exit_code == code, result.output
    return result.output + (str(result.exception) if code else "")


def prepared(*given):
    return import_module("uncertainty").prepared(*given)


def uncertainty(*given):
    return import_module("uncertainty").uncertainty(*given)


@pytest.fixture(scope="module")
def model(tmp_path_factory):
    folder = tmp_path_factory.mktemp("model")
    randomised(0, target="ent").to_disk(folder)
    return folder


@pytest.fixture
def texts(tmp_path):
    path = tmp_path / "texts.jsonl"
    path.write_text("\n".join(json.dumps({"text": text, "id": text[:3]}) for text in TEXTS))
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


def test_expected_errors_are_those_of_the_probabilities(model):
    nlp = spacy.load(model)
    [name] = prepared(nlp)
    doc = nlp(TEXTS[0])
    chances = doc._.probabilities[name]["tokens"]
    expected = sum(1 - p for p in chances)
    assert uncertainty(doc, [name], "errors") == pytest.approx(expected)
    assert uncertainty(doc, [name]) == pytest.approx(expected / len(doc))
    assert uncertainty(doc[1:3], [name]) == pytest.approx(sum(1 - p for p in chances[1:3]) / 2)


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


def test_tags_and_trees(texts, tmp_path):
    output = tmp_path / "tasks.jsonl"
    randomised(1).to_disk(tmp_path / "tagger")
    run(texts, "--model", tmp_path / "tagger", "--output", output)
    nlp = spacy.load(tmp_path / "tagger")
    for task in tasks_of(output):
        assert task["meta"]["task"] == "tags"
        assert [span["label"] for span in task["spans"]] == [t.tag_ for t in nlp(task["text"])]
    make_nlp(6, factors=["arcs"]).to_disk(tmp_path / "parser")
    run(texts, "--model", tmp_path / "parser", "--output", output, "--sentences")
    nlp = spacy.load(tmp_path / "parser")
    assert any(task["relations"] for task in tasks_of(output))
    for task in tasks_of(output):
        assert task["meta"]["task"] == "trees"
        assert all(0.0 <= relation["prob"] <= 1.0 for relation in task["relations"])
    assert prepared(nlp) == [PARSER]


def test_errors_are_messages(model, texts, tmp_path):
    for words, said in (
        (("--by", "luck"), "expected one of share"),
        (("--format", "paper"), "expected one of prodigy"),
        (("--components", "nobody"), "has no probabilities"),
        (("--sentences",), "no sentence boundaries"),
        (("--format", "label-studio", "--task", "trees", "--components", "exact_tagger"), "trees"),
    ):
        assert said in run(texts, "--model", model, *words, code=1)
    assert "there is no folder" in run(
        texts, "--model", model, "--output", tmp_path / "a" / "b", code=1
    )
    spacy.blank("en").to_disk(tmp_path / "blank")
    assert "no component" in run(texts, "--model", tmp_path / "blank", code=1)
