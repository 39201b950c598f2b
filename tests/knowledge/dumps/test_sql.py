"""SQL dumps are read whole, whatever their titles hold and wherever a chunk ends."""

from pathlib import Path

import numpy as np
import pytest

from spacy_decoders import ProblemError
from spacy_decoders.knowledge.dumps import sql
from tests.readers.files import written

HEAD = """-- MySQL dump
DROP TABLE IF EXISTS `page`;
CREATE TABLE `page` (
  `page_id` int(8) unsigned NOT NULL AUTO_INCREMENT,
  `page_namespace` int(11) NOT NULL DEFAULT 0,
  `page_title` varbinary(255) NOT NULL DEFAULT '',
  `page_random` double unsigned NOT NULL,
  `page_latest` int(8) DEFAULT NULL,
  PRIMARY KEY (`page_id`),
  KEY `page_random` (`page_random`)
) ENGINE=InnoDB DEFAULT CHARSET=binary;
"""


def literal(text, quote="\\'"):
    return "'" + text.replace("\\", "\\\\").replace("'", quote).replace('"', '\\"') + "'"


def dump(path, statements):
    body = HEAD + "".join(statements) + "/*!40000 ALTER TABLE `page` ENABLE KEYS */;\n"
    return written(path.parent, path.name, body)


def rows_of(table, *names, text=None):
    numbers, texts = [], []
    for chunk in table.chunks(names, [text] if text else []):
        numbers += chunk.numbers.tolist()
        for lines in chunk.texts:
            texts += lines.tobytes().decode().split("\n")[:-1]
    return numbers, texts


TITLES = [
    "Plain",
    "It's",
    "''",
    "It\\'s",
    'Say_"x"',
    "a),(b",
    "back\\slash",
    "Köln",
    "VALUES_(1,2);",
    "",
    "INSERT",
]


@pytest.mark.parametrize("rows", [1, 5, 1 << 20])
@pytest.mark.parametrize("between", [",", ",\n"])
@pytest.mark.parametrize("quote", ["\\'", "''"])
@pytest.mark.parametrize("name", ["page.sql", "page.sql.gz", "page.sql.bz2"])
def test_every_row_wherever_a_chunk_ends(tmp_path, monkeypatch, rows, between, quote, name):
    monkeypatch.setattr(sql, "_ROWS", rows)
    expected, statements = [], []
    for statement in range(4):
        tuples = []
        for i, title in enumerate(TITLES):
            number = statement * 100 + i
            latest = "NULL" if i == 3 else str(number)
            tuples.append(f"({number},-{i},{literal(title, quote)},0.{i}5e-07,{latest})")
            expected.append(([number, -i, -1 if i == 3 else number], title))
        statements.append(f"INSERT INTO `page` VALUES {between.join(tuples)};\n")
    table = sql.SqlTable(dump(tmp_path / name, statements))
    numbers, texts = rows_of(table, "page_id", "page_namespace", "page_latest", text="page_title")
    assert numbers == [row for row, _ in expected]
    assert texts == [title for _, title in expected]
    assert table.bad == 0


@pytest.mark.parametrize("rows", ["(1, 0, 'A'), (2, 0, 'B');", "(1,0,'A')\n,(2,0,'B')"])
def test_blanks_between_values_and_rows(tmp_path, rows):
    path = tmp_path / "page.sql"
    columns = "  `page_id` int,\n  `page_namespace` int,\n  `page_title` blob"
    path.write_text(f"CREATE TABLE `page` (\n{columns}\n);\nINSERT INTO `page` VALUES {rows}\n")
    table = sql.SqlTable(path)
    assert rows_of(table, "page_id", text="page_title") == ([[1], [2]], ["A", "B"])
    assert table.bad == 0


@pytest.mark.parametrize("rows", [1, 2, 1 << 20])
def test_broken_tuples_are_counted_and_left_out(tmp_path, monkeypatch, rows):
    monkeypatch.setattr(sql, "_ROWS", rows)
    statement = (
        "INSERT INTO `page` VALUES (1,0,'ok',0.1,1),(2,0,'short'),(3,0,'long',1,2,3),"
        "(4,0,'fine',0.1,4);\nINSERT INTO `page` VALUES (5,0,'more',0.1,5);\n"
    )
    table = sql.SqlTable(dump(tmp_path / "page.sql", [statement]))
    numbers, texts = rows_of(table, "page_id", text="page_title")
    assert [row[0] for row in numbers] == [1, 4, 5]
    assert texts == ["ok", "fine", "more"]
    assert table.bad == 2


def test_a_truncated_download_says_so(tmp_path):
    rows = ",".join(f"({i},0,'title {i * 7919}',0.5,1)" for i in range(30_000))
    path = dump(tmp_path / "page.sql.gz", [f"INSERT INTO `page` VALUES {rows};\n"])
    path.write_bytes(path.read_bytes()[:-5000])
    with pytest.raises(ProblemError, match="ends too early"):
        rows_of(sql.SqlTable(path), "page_id")


@pytest.mark.data
def test_a_real_dump(data: Path):
    table = sql.SqlTable(data / "linking" / "dump-samples" / "wikibrain-pagelinks.sql")
    numbers, texts = rows_of(table, "pl_from", "pl_namespace", text="pl_title")
    assert table.bad == 0
    assert len(numbers) == len(texts) > 500
    assert numbers[0] == [1, 0]
    assert texts[0] == "1320"
    assert np.array(numbers)[:, 0].min() >= 0


def test_several_texts_of_a_row(tmp_path):
    rows = "(1,2,'x',0.5,4),(1,'a','y',0.5,NULL),(3,NULL,'',0.5,4)"
    path = dump(tmp_path / "page.sql", [f"INSERT INTO `page` VALUES {rows};\n"])
    (chunk,) = sql.SqlTable(path).chunks(["page_id"], ["page_title", "page_namespace"])
    assert [lines.tobytes() for lines in chunk.texts] == [b"x\ny\n\n", b"\na\n\n"]
    assert chunk.numbers[:, 0].tolist() == [1, 1, 3]
