"""``python -m spacy decoders annotate``."""

import json

import spacy

from .commands import run


def test_a_corpus_is_annotated_and_resumed(tmp_path):
    nlp = spacy.blank("en")
    nlp.add_pipe("graph_entity_linker", config={"mentions": "aliases"})
    nlp.to_disk(tmp_path / "model")
    corpus = tmp_path / "in.jsonl"
    corpus.write_text(
        '{"id": "a", "text": "The jaguar left the jungle."}\n{"id": "b"}\n'
        '{"id": "c", "text": "Python and Java."}\n'
    )
    words = ("annotate", corpus, tmp_path / "out", "--model", tmp_path / "model")
    said = run(*words, "--format", "jsonl", "--shard-size", 2, code=1)
    assert "2 documents in 2 files" in said
    assert "100.0% proven optimal" in said
    assert "1 failed" in said
    rows = [
        json.loads(line)
        for part in sorted((tmp_path / "out").glob("part-*.jsonl"))
        for line in part.read_text().splitlines()
    ]
    assert [row["id"] for row in rows] == ["a", "c"]
    assert [ent["kb_id"] for ent in rows[0]["ents"]] == ["jaguar", "jungle"]
    assert "There from an earlier run: 2 files." in run(
        *words, "--format", "jsonl", "--shard-size", 2, code=1
    )
