"""A small Wikipedia, in both schemas, becomes the concepts, links and aliases that it holds."""

import gzip
import json

import numpy as np
import pytest

from spacy_decoders.knowledge.wikipedia import WikipediaDumps
from tests.campaigns.crashes import content
from tests.campaigns.dumps import ARTICLES, COLUMNS, LINKS, OLD_LINKS, PAGES, REDIRECTS, sql
from tests.knowledge.dumps.test_wikidata import item, statement

EDGES = {("Jaguar", "Jungle"), ("Jungle", "Jaguar"), ("O'Neill", "Mercury_(planet)")}


def table(folder, name, rows, columns=None):
    path = folder / f"{name}.sql.gz"
    path.write_bytes(gzip.compress(sql(name, columns or COLUMNS[name], rows)))
    return path


def new_tables(folder):
    """The small Wikipedia in the new schema, its tables by their names."""
    targets = sorted({(namespace, title) for _, namespace, title in LINKS})
    number = {target: 100 + i for i, target in enumerate(targets)}
    links = [(source, 0, number[tuple(target)]) for source, *target in LINKS]
    rows = {
        "page": PAGES,
        "redirect": REDIRECTS,
        "linktarget": [(number[target], *target) for target in targets],
        "pagelinks": [*links, (10, 0, 99999)],
    }
    return {name: table(folder, name, of_table) for name, of_table in rows.items()}


@pytest.fixture
def dumps(tmp_path):
    rows = {"page": PAGES, "redirect": REDIRECTS}
    tables = {name: table(tmp_path, name, of_table) for name, of_table in rows.items()}
    return {**tables, "pagelinks": table(tmp_path, "pagelinks", LINKS, OLD_LINKS)}


@pytest.fixture
def new_schema(tmp_path):
    return new_tables(tmp_path)


def linked(base):
    graph = base.graph
    return {
        frozenset(base.ids.take(np.array([v, u])))
        for v in range(len(base))
        for u in graph.neighbours(v)
    }


def aliases(base):
    return {(alias, c.id): count for c in base for alias, count in c.aliases.items()}


@pytest.mark.parametrize("schema", ["dumps", "new_schema"])
def test_concepts_links_and_redirects(schema, request, tmp_path):
    base, bad = WikipediaDumps(**request.getfixturevalue(schema)).build(tmp_path / "kb")
    assert sorted(base.ids) == ["Jaguar", "Jungle", "Mercury_(planet)", "O'Neill"]
    assert linked(base) == {frozenset(edge) for edge in EDGES}
    found = aliases(base)
    assert found["mercury", "Mercury_(planet)"] == 2.0  # one, and one link received
    assert found["jaguar", "Jaguar"] == 2.0
    assert ("p. onca", "Jaguar") in found
    assert not [alias for alias, _ in found if alias.startswith("circle")]
    assert not any(bad.values())
    assert base.describe("Mercury_(planet)")["url"] == (
        "https://en.wikipedia.org/wiki/Mercury_(planet)"
    )
    assert base.titles[base.number("Mercury_(planet)")] == "Mercury (planet)"
    assert base.title_words.surprise(["mercury", "jaguar"]).round(2).tolist() == [1.39, 1.39]
    base.verify()


@pytest.fixture
def all_dumps(new_schema, tmp_path):
    path = tmp_path / "articles.xml"
    path.write_text(ARTICLES)
    jaguar, mercury = ({"enwiki": {"title": title}} for title in ("Jaguar", "Mercury (planet)"))
    said, kinds = {"en": {"value": "a big cat"}}, [statement(90), statement(91)]
    items = [
        item("Q1", "", {"P31": [statement(16521)]}, sitelinks=jaguar, descriptions=said),
        item("Q2", "", {"P31": kinds}, sitelinks=mercury, descriptions={}),
        item("Q91", "", {"P279": [statement(92)]}),
        item("Q92", "", {"P279": [statement(2221906)]}),
    ]
    lines = ",\n".join(map(json.dumps, items))
    (tmp_path / "wikidata.json").write_text(f'[\n{lines},\n{{broken "enwiki"\n]\n')
    props = [(11, "wikibase_item", "Q11"), (12, "displaytitle", "Q7"), (13, "wikibase_item", "Q5")]
    return {
        **new_schema,
        "articles": path,
        "wikidata": tmp_path / "wikidata.json",
        "page_props": table(tmp_path, "page_props", props),
    }


def test_articles_and_wikidata(all_dumps, tmp_path):
    base, bad = WikipediaDumps(**all_dumps).build(tmp_path / "kb")
    found = aliases(base)
    assert found["deep forest", "Jungle"] == 1.0
    assert found["the cat", "Jaguar"] == 2.0
    assert ("bright messenger", "Mercury_(planet)") in found  # within a template
    jaguar, jungle, mercury = map(base.describe, ["Jaguar", "Jungle", "Mercury_(planet)"])
    assert jaguar["text"].startswith("A jaguar is a cat.")
    assert (jaguar["description"], jungle["description"]) == (
        "a big cat",
        "See the cat, the cat and Nowhere.",
    )
    assert (jaguar["qid"], jungle["qid"], mercury["qid"]) == ("Q1", "Q11", "Q2")
    assert (jaguar["type"], jungle["type"], mercury["type"]) == ("organism", None, "place")
    # both occur in one article; only "jungle" is a link there
    assert base.link_probability("Jaguar") == 0.0 and base.link_probability("jungle") == 1.0
    assert base.link_probability("the cat") == 1.0 and base.link_probability("P. onca") is None
    assert [base.id(n) for n in base.text.find("hunts", 3)[0].tolist()] == ["Jaguar"]
    (forest,) = base.look_up("Deep Forest")
    assert forest["written"] == 0.0 and base.look_up("deep forest")[0]["written"] == 1.0
    # the capital of a title says nothing
    assert base.look_up("o'neill")[0]["written"] == 0.0
    assert base.look_up("panthera onca")[0]["written"] is None
    assert bad["wikidata"] == 1 and sum(bad.values()) == 1
    assert base.manifest["bad_rows"] == bad


def test_several_processes_come_to_the_same(all_dumps, tmp_path):
    all_dumps["articles"] = [all_dumps["articles"], tmp_path / "more.xml"]
    (tmp_path / "more.xml").write_text(ARTICLES.replace("deep forest", "Green Hell"))
    one, _ = WikipediaDumps(**all_dumps).build(tmp_path / "one")
    WikipediaDumps(**all_dumps, workers=2).build(tmp_path / "two")
    assert content(tmp_path / "one") == content(tmp_path / "two")
    assert one.names(one.number("Jungle"))["Green hell"] == 1.0
