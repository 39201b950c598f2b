"""``python -m spacy decoders ...``"""

from __future__ import annotations

import re

import pytest
from spacy.cli._util import app
from typer.testing import CliRunner

import spacy_decoders.cli  # noqa: F401 - registers the commands
from spacy_decoders.cli.demo import TEXT
from tests.components.tagging import SENTENCES, trained


def run(*arguments: str, stdin: str | None = None):
    return CliRunner().invoke(app, ["decoders", *arguments], input=stdin, env={"COLUMNS": "110"})


def words(output: str) -> set[str]:
    return set(re.findall(r"[^\s│]+", output))


def test_demo_tags_its_text_and_certifies_every_sentence():
    done = run("demo")
    assert done.exit_code == 0, done.output
    assert {"Jaguar/NNP", "jaguar/NN", "mercury/NN"} <= words(done.output)
    assert "10 of 10 sentences certified optimal (100%)" in done.output
    assert len(TEXT) > 500


@pytest.mark.parametrize("tokens", [False, True])
def test_demo_takes_text_files_and_standard_input(tmp_path, tokens):
    text = "Paris sleeps. The python in Paris waits."
    (tmp_path / "text.txt").write_text(text, encoding="utf8")
    flags = ["--tokens"] if tokens else []
    outputs = [
        run("demo", *flags, "--text", text),
        run("demo", *flags, "--file", str(tmp_path / "text.txt")),
        run("demo", *flags, "--file", "-", stdin=text),
    ]
    for done in outputs:
        assert done.exit_code == 0, done.output
        assert ("NNP" if tokens else "Paris/NNP") in words(done.output)
        assert "2 of 2 sentences certified optimal" in done.output


def test_demo_takes_any_pipeline_with_an_exact_tagger(tmp_path):
    trained().to_disk(tmp_path)
    done = run("demo", "--pipeline", str(tmp_path), "--text", SENTENCES[0])
    assert done.exit_code == 0, done.output
    assert "old/JJ" in words(done.output)
    assert "1 of 1 sentences" in done.output


def test_demo_refuses_what_it_can_not_read(tmp_path):
    assert run("demo", "--file", str(tmp_path / "none.txt")).exit_code == 2
    assert run("demo", "--text", "a", "--file", "-").exit_code == 2


def test_demo_of_no_text_at_all():
    done = run("demo", "--text", "")
    assert done.exit_code == 0, done.output
    assert "0 of 0 sentences" in done.output


def test_info_names_versions_decoders_and_cache():
    done = run("info")
    assert done.exit_code == 0, done.output
    for expected in ("spacy-decoders", "numba", "spacy-decoders.Viterbi.v1", "CC BY-SA 4.0"):
        assert expected in done.output


def test_warmup_compiles_every_registered_decoder():
    done = run("warmup")
    assert done.exit_code == 0, done.output
    made, wanted = map(int, re.findall(r"(\d+) of (\d+) are compiled", done.output)[0])
    assert made == wanted > 5
