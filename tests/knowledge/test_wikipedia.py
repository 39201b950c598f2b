"""A small Wikipedia, in both schemas, becomes the concepts, links and aliases that it holds."""

import gzip

import numpy as np
import pytest

from spacy_decoders import ProblemError
from spacy_decoders.knowledge import wikipedia
from spacy_decoders.knowledge.wikipedia import WikipediaDumps

#: (id, namespace, title, is_redirect)
PAGES = [
    (10, 0, "Jaguar", 0),
    (11, 0, "Jungle", 0),
    (12, 0, "Mercury_(planet)", 0),
    (13, 0, "Panthera_onca", 1),
    (14, 0, "P._onca", 1),
    (15, 0, "Circle_A", 1),
    (16, 0, "Circle_B", 1),
    (17, 1, "Jaguar", 0),
    (18, 0, "O'Neill", 0),
]
REDIRECTS = [(13, 0, "Jaguar"), (14, 0, "Panthera_onca"), (15, 0, "Circle_B"), (16, 0, "Circle_A")]
#: (from, namespace, title): some lead through redirects, some to nothing
LINKS = [
    (10, 0, "Jungle"),
    (11, 0, "P._onca"),
    (13, 0, "Jaguar"),
    (12, 0, "Nowhere"),
    (12, 1, "Jaguar"),
    (17, 0, "Jaguar"),
    (18, 0, "Circle_A"),
    (18, 0, "Mercury_(planet)"),
    (99, 0, "Jaguar"),
]
EDGES = {("Jaguar", "Jungle"), ("Jungle", "Jaguar"), ("O'Neill", "Mercury_(planet)")}

ARTICLES = """<mediawiki xmlns="http://www.mediawiki.org/xml/export-0.11/">
<page><title>Jaguar</title><ns>0</ns><revision><text>A '''jaguar''' is a cat. It hunts in the
[[jungle|deep forest]] and the [[jungle]].</text></revision></page>
<page><title>Jungle</title><ns>0</ns><revision><text>See [[P. onca|the cat]], [[P. onca|the cat]]
and [[Nowhere]].</text></revision></page></mediawiki>"""


def table(path, name, columns, rows):
    def literal(value):
        return "'" + value.replace("'", "\\'") + "'" if isinstance(value, str) else str(value)

    tuples = ",".join(f"({','.join(map(literal, row))})" for row in rows)
    body = "".join(f"  `{column}` int(8) NOT NULL,\n" for column in columns)
    text = f"CREATE TABLE `{name}` (\n{body}  KEY `x` (`x`)\n) ENGINE=InnoDB;\n"
    text += f"INSERT INTO `{name}` VALUES {tuples};\n"
    path.write_bytes(gzip.compress(text.encode()))
    return path


@pytest.fixture
def dumps(tmp_path):
    page = ["page_id", "page_namespace", "page_title", "page_is_redirect"]
    return {
        "page": table(tmp_path / "page.sql.gz", "page", page, PAGES),
        "redirect": table(
            tmp_path / "redirect.sql.gz",
            "redirect",
            ["rd_from", "rd_namespace", "rd_title"],
            REDIRECTS,
        ),
        "pagelinks": table(
            tmp_path / "pagelinks.sql.gz",
            "pagelinks",
            ["pl_from", "pl_namespace", "pl_title"],
            LINKS,
        ),
        "stages": tmp_path / "stages",
    }


@pytest.fixture
def new_schema(dumps, tmp_path):
    targets = sorted({(namespace, title) for _, namespace, title in LINKS})
    number = {target: 100 + i for i, target in enumerate(targets)}
    dumps["linktarget"] = table(
        tmp_path / "linktarget.sql.gz",
        "linktarget",
        ["lt_id", "lt_namespace", "lt_title"],
        [(number[target], *target) for target in targets],
    )
    dumps["pagelinks"] = table(
        tmp_path / "new.sql.gz",
        "pagelinks",
        ["pl_from", "pl_from_namespace", "pl_target_id"],
        [*((source, 0, number[tuple(target)]) for source, *target in LINKS), (10, 0, 99999)],
    )
    return dumps


def linked(contents):
    return {(contents.ids[a], contents.ids[b]) for a, b in contents.edges.tolist()}


def aliases(contents):
    named = zip(contents.aliases, contents.alias_concepts, contents.alias_counts, strict=True)
    return {(alias, contents.ids[concept]): count for alias, concept, count in named}


@pytest.mark.parametrize("schema", ["dumps", "new_schema"])
def test_concepts_links_and_redirects(schema, request):
    contents, bad = WikipediaDumps(**request.getfixturevalue(schema)).contents()
    assert list(contents.ids) == ["Jaguar", "Jungle", "Mercury_(planet)", "O'Neill"]
    assert linked(contents) == EDGES
    found = aliases(contents)
    assert found["Mercury", "Mercury_(planet)"] == 2.0  # one, and one link received
    assert ("P. onca", "Jaguar") in found
    assert not [alias for alias, _ in found if alias.startswith("Circle")]
    assert not any(bad.values())


def test_anchors_count_as_uses(dumps, tmp_path):
    path = tmp_path / "articles.xml"
    path.write_text(ARTICLES)
    contents, _ = WikipediaDumps(**dumps, articles=path).contents()
    found = aliases(contents)
    assert found["deep forest", "Jungle"] == 1.0
    assert found["the cat", "Jaguar"] == 2.0
    assert contents.texts[0].startswith("A jaguar is a cat.")
    assert contents.descriptions[0] == "A jaguar is a cat."


def test_a_stopped_build_goes_on_where_it_was(dumps, monkeypatch):
    WikipediaDumps(**dumps).contents()

    def refuse(*_, **__):
        raise AssertionError("read again what was read already")

    monkeypatch.setattr(wikipedia.SqlTable, "chunks", refuse)
    contents, _ = WikipediaDumps(**dumps).contents()
    assert linked(contents) == EDGES


def test_the_new_schema_needs_its_targets(new_schema):
    del new_schema["linktarget"]
    with pytest.raises(ProblemError, match="give the linktarget dump"):
        WikipediaDumps(**new_schema).contents()


def test_a_wikipedia_without_links(dumps, tmp_path):
    dumps["pagelinks"] = table(
        tmp_path / "empty.sql.gz", "pagelinks", ["pl_from", "pl_namespace", "pl_title"], []
    )
    contents, _ = WikipediaDumps(**dumps).contents()
    np.testing.assert_array_equal(contents.edges, np.empty((0, 2)))
