"""Reading what Prodigy and Label Studio export."""

from __future__ import annotations

import json

import pytest
import spacy

from spacy_decoders import ProblemError
from spacy_decoders.readers.annotations import AnnotationCorpus
from spacy_decoders.readers.corpora import gold_corpus
from spacy_decoders.registry.readers import annotation_corpus


@pytest.fixture
def nlp():
    return spacy.blank("en")


def write(folder, tasks, name="tasks.jsonl"):
    path = folder / name
    lines = [json.dumps(task) for task in tasks]
    path.write_text("\n".join(lines) if name.endswith("jsonl") else json.dumps(tasks))
    return path


def entities(example):
    return [(ent.text, ent.label_) for ent in example.reference.ents]


def test_prodigy_entities(nlp, tmp_path):
    span = {"start": 0, "end": 8, "label": "CITY"}
    tasks = [
        {"text": "New York shines", "spans": [span], "answer": "accept"},
        {"text": "New York is rejected", "spans": [span], "answer": "reject"},
        {"text": "skipped", "answer": "ignore"},
        {"text": "nothing here", "spans": []},
    ]
    found = list(AnnotationCorpus(write(tmp_path, tasks))(nlp))
    assert [entities(example) for example in found] == [[("New York", "CITY")], []]
    assert all(not token.ent_iob for token in found[0].predicted)
    assert found[0].get_aligned_ner() == ["B-CITY", "L-CITY", "O"]
    assert len(list(annotation_corpus(write(tmp_path, tasks), limit=1)(nlp))) == 1


def test_a_bare_text_is_not_annotated(nlp, tmp_path):
    tasks = [{"text": "New York", "meta": {"source": 1}}, {"text": "seen", "answer": "accept"}]
    bare, seen = AnnotationCorpus(write(tmp_path, tasks))(nlp)
    assert not bare.reference.has_annotation("ENT_IOB")
    assert seen.get_aligned_ner() == ["O"]


def test_prodigy_tokens_tags_and_trees(nlp, tmp_path):
    tokens = [
        {"text": "can't", "start": 0, "end": 5, "id": 0},
        {"text": "be", "start": 6, "end": 8, "id": 1},
    ]
    tags = {
        "text": "can't be",
        "tokens": tokens,
        "spans": [{"start": 0, "end": 5, "label": "MD"}, {"start": 6, "end": 8, "label": "VB"}],
        "meta": {"task": "tags"},
    }
    trees = {
        "text": "can't be",
        "tokens": tokens,
        "relations": [{"head": 1, "child": 0, "label": "aux"}],
    }
    first, second = AnnotationCorpus(write(tmp_path, [tags, trees]))(nlp)
    assert [(t.text, t.tag_) for t in first.reference] == [("can't", "MD"), ("be", "VB")]
    assert not first.reference.has_annotation("ENT_IOB")
    assert [(t.head.i, t.dep_) for t in second.reference] == [(1, "aux"), (1, "ROOT")]


def test_label_studio(nlp, tmp_path):
    def result(start, end, label, control="label"):
        value = {"start": start, "end": end, "labels": [label]}
        return {"from_name": control, "to_name": "text", "type": "labels", "value": value}

    tasks = [
        {
            "data": {"text": "New York shines"},
            "annotations": [
                {"result": [result(0, 3, "OLD")], "updated_at": "2020-01-01"},
                {"result": [result(0, 8, "CITY")], "updated_at": "2021-01-01"},
                {"result": [], "was_cancelled": True, "updated_at": "2022-01-01"},
            ],
        },
        {"data": {"text": "not annotated"}, "predictions": []},
        {"data": {"text": "can"}, "annotations": [{"result": [result(0, 3, "MD", "tag")]}]},
    ]
    for name in ("tasks.json", "tasks.jsonl"):
        first, second = gold_corpus(write(tmp_path, tasks, name))(nlp)
        assert entities(first) == [("New York", "CITY")]
        assert second.reference[0].tag_ == "MD"


@pytest.mark.parametrize(
    "task",
    [
        {"texts": "no text"},
        {"text": "a", "spans": {"start": 0}},
        {"text": "a", "spans": [{"start": 0}]},
        {"text": "a", "spans": [{"start": 5, "end": 9, "label": "X"}]},
        {"text": "a b", "tokens": [{"text": "a", "end": 1}]},
        {"text": "a b", "tokens": [1]},
        {"text": "a", "relations": [{"head": 7, "child": 0, "label": "x"}]},
        {"text": "a", "relations": [{"head": 0, "child": 7, "label": "x"}]},
        {"text": "a", "meta": 3},
        {"data": {}, "annotations": [{"result": []}]},
    ],
)
def test_what_is_no_task_is_named(nlp, tmp_path, task):
    with pytest.raises(ProblemError, match=r"tasks.jsonl, line 1: no task of Prodigy"):
        list(AnnotationCorpus(write(tmp_path, [task]))(nlp))


@pytest.mark.parametrize(
    ("name", "content", "said"),
    [
        ("list.json", '{"a": 1}', "list of tasks"),
        ("list.json", "[1]", "list of tasks"),
        ("broken.json", "[", "no JSON"),
        ("table.xls", "", r"table\.xls is no"),
        (".", None, "there is no"),
    ],
)
def test_files_of_other_kinds(nlp, tmp_path, name, content, said):
    path = tmp_path / name
    if content is None:
        path = path / "missing.spacy"
    else:
        path.write_text(content)
    with pytest.raises(ProblemError, match=said):
        list(gold_corpus(path)(nlp))


def test_files_are_read_by_their_names(nlp, tmp_path):
    (tmp_path / "a.conllu").write_text(
        "1\tHe\the\tPRON\tPRP\t_\t2\tnsubj\t_\t_\n2\tgoes\tgo\tVERB\tVBZ\t_\t0\troot\t_\t_\n\n"
    )
    [example] = gold_corpus(tmp_path / "a.conllu")(nlp)
    assert [token.tag_ for token in example.reference] == ["PRP", "VBZ"]
    (tmp_path / "a.tsv").write_text("Rome\tB-LOC\n")
    (tmp_path / "a.iob2").write_text("1\tRome\tB-LOC\t-\t-\n")
    for name, columns in (("a.tsv", ["form", "ent"]), ("a.iob2", ())):
        [example] = gold_corpus(tmp_path / name, columns=columns)(nlp)
        assert entities(example) == [("Rome", "LOC")]
