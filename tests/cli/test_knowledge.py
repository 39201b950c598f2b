"""``python -m spacy decoders kb ...``."""

import pytest

from .commands import run


@pytest.fixture
def source(tmp_path):
    path = tmp_path / "concepts.tsv"
    path.write_text(
        "id\ttitle\taliases\tlinks\tdescription\n"
        "cat\tJaguar\tJaguar=3\tjungle;nowhere\ta cat\n"
        "car\tJaguar Cars\tJaguar=1\t\ta maker of cars\n"
        "jungle\tJungle\tthe jungle;the wild\t\ta forest [/b]\x1b[2J\n"
        "broken row\n"
    )
    return path


def test_a_knowledge_base_is_built_shown_and_searched(source, tmp_path):
    folder = tmp_path / "kb"
    said = run("kb", "build", source, folder)
    assert "3 concepts, 1 link, 5 aliases" in said
    assert "left out: 1 link to unknown concepts, such as of 'cat' to 'nowhere'" in said
    assert "1 alias with 'the' in front, such as 'the wild'; add them without it" in said
    assert "left out: 1 row that" in said
    assert "concepts.tsv:5: 1 columns" in said
    assert "will be replaced" in run("kb", "build", source, folder)
    assert "unchanged since" in run("kb", "info", folder, "--verify")
    assert "441" in run("kb", "info")  # of the base that is shipped
    found = run("kb", "look-up", "JAGUAR", "--kb", folder)
    assert found.index("Jaguar ") < found.index("Jaguar Cars")
    assert "0.750" in found
    assert "a forest [/b]\ufffd[2J" in run("kb", "look-up", "forest", "--kb", folder, "--words")
    assert "Nothing is known as 'xyzzy'" in run("kb", "look-up", "xyzzy", "--kb", folder, code=1)
    said = run("kb", "look-up", "xyzzy", "--kb", folder, "--words", code=1)
    assert "Nothing shares a word with 'xyzzy'" in said


def test_the_folder_of_the_process_can_be_replaced(source, tmp_path, monkeypatch):
    folder = tmp_path / "kb"
    folder.mkdir()
    monkeypatch.chdir(folder)
    assert "3 concepts" in run("kb", "build", source, ".")


def test_columns_that_are_not_read_are_named(tmp_path):
    path = tmp_path / "concepts.tsv"
    path.write_text("id\ttitle\talias\tcolour\ncat\tJaguar\tJag\tyellow\n")
    said = run("kb", "build", path, tmp_path / "kb")
    assert "ignored: 'alias', 'colour'; the columns are id, " in said
    path.write_text("id\ttitle\talias\ncat\tJaguar\n")
    said = run("kb", "build", path, tmp_path / "kb", code=1)
    assert "concepts.tsv:2: 2 columns" in said and "there is no concept in it" in said
    path.write_text("id\ttitle\tid\ncat\tJaguar\tdog\n")
    assert "has the column 'id' more than once" in run(
        "kb", "build", path, tmp_path / "kb", code=1
    )
    lines = tmp_path / "concepts.jsonl"
    lines.write_text(
        '{"id": "cat", "link": ["dog"]}\n{"id": "dog", "aliases": {"Rex": "many"}}\n'
        '{"id": "why", "aliases": {"Y": -3}}\n'
    )
    said = run("kb", "build", lines, tmp_path / "kb2")
    assert "ignored: 'link'; the columns are id, title, aliases, links, " in said
    assert "aliases: Rex: Input should be a valid number" in said
    assert "aliases: Y: the count of an alias must be above 0, and at most 1e15; got -3" in said
