"""``python -m spacy decoders demo``."""

import re
from io import BytesIO, StringIO, TextIOWrapper
from pathlib import Path

import pytest
import spacy
from rich.console import Console
from spacy.tokens import Doc
from typer import BadParameter

from spacy_decoders import Certificate
from spacy_decoders.cli.demo import certificate_table, demo, tree_of
from spacy_decoders.components import extensions

from .commands import run


def words(output: str) -> set[str]:
    return set(re.findall(r"[^\s│]+", output))


def test_demo_shows_all_that_was_decoded():
    said = run("demo")
    assert {"Mercury/NNP", "jaguar/NN"} <= words(said)
    for shown in ("Jaguar Cars", "Freddie Mercury", "nsubj", "headline: proven optimal among its"):
        assert shown in said, shown
    assert "within" not in said
    # of an entity, its link, and a head
    assert re.search(r"Zanzibar +LOC +\d+% +Zanzibar +\d+%", said)
    assert re.search(r"nsubj \d+%", said)
    for component in ("parser", "tagger", "entities", "linker", "headline"):
        assert re.search(rf"{component} .*\(\d+%\)", said), component
    page = Path("demo.html").read_text(encoding="utf8")
    # of each document the answer first, then the proof
    (article,) = [part for part in page.split("<article") if "<td>Zanzibar</td><td>LOC" in part]
    assert article.index("<td>Zanzibar</td><td>LOC") < article.index("proven optimal")


def test_demo_takes_text_files_and_standard_input(tmp_path):
    text = "Paris sleeps. The python in Paris waits.\n\nA second paragraph."
    (tmp_path / "text.txt").write_text(text, encoding="utf8")
    for arguments, stdin in (
        (("--text", text), None),
        (("--file", str(tmp_path / "text.txt")), None),
        (("--file", "-"), text),
    ):
        assert {"Paris/NNP", "paragraph/NN"} <= words(run("demo", *arguments, stdin=stdin))


@pytest.mark.parametrize(
    "stdout", [None, TextIOWrapper(BytesIO(), "ascii")], ids=["closed", "ASCII"]
)
def test_demo_where_output_is_closed_or_ascii(stdout, monkeypatch, tmp_path):
    monkeypatch.setattr("sys.stdout", stdout)
    demo(text="Zoë sleeps.", page=tmp_path / "page.html")
    assert "Zoë" in (tmp_path / "page.html").read_text(encoding="utf8")


def test_demo_where_input_is_closed(monkeypatch):
    monkeypatch.setattr("sys.stdin", None)
    with pytest.raises(BadParameter, match="there is no text"):
        demo(file=Path("-"))


def test_texts_do_not_steer_the_terminal():
    said = run(
        "demo", "--text", "Mary \x1b[2J saw Paris \x1b]0;me\a \x9b2J, [/b] and [bold]Rome[/b]."
    )
    assert not {"\x1b", "\a", "\x9b"} & {*said}
    assert "\ufffd[2J" in said


def test_a_deep_tree_is_shown():
    extensions.install()
    heads = [max(0, i - 1) for i in range(2000)]
    doc = Doc(spacy.blank("en").vocab, ["a"] * 2000, heads=heads, deps=["dep"] * 2000)
    tree = tree_of(doc[:])
    for _ in heads[1:]:
        (tree,) = tree.children
    assert str(tree.label) == "a dep" and not tree.children


def test_the_best_of_kept_candidates_is_not_proven_optimal():
    doc = Doc(spacy.blank("en").vocab, words=["a"])
    full = Certificate.from_bound("X", 2.0, 2.0, tolerance=1e-6)
    kept = Certificate.from_bound("X", 2.0, 2.0, tolerance=1e-6, scope="pruned")
    extensions.install()
    extensions.record_certificates(doc, "parser", [full, kept, kept, full, full])
    console = Console(width=110, file=StringIO())
    console.print(certificate_table([doc]))
    row = next(line for line in console.file.getvalue().splitlines() if "parser" in line)
    assert [cell.strip() for cell in row.strip("│").split("│")] == [
        "parser", "X", "5", "3 (60%)", "2 the best among the candidates kept",
    ]  # fmt: skip
