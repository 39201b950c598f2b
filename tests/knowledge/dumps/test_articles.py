"""Anchors and openings come out of wikitext; a broken file ends the reading, not the build."""

from pathlib import Path

import pytest

from spacy_decoders.knowledge.dumps.articles import Article, ArticleDump, page_title

PAGE = """<page><title>{title}</title><ns>{ns}</ns><id>1</id>{redirect}
<revision><id>2</id><text>{text}</text></revision></page>"""


def dump(path, *pages, end="</mediawiki>"):
    namespace = 'xmlns="http://www.mediawiki.org/xml/export-0.10/"'
    body = "".join(
        PAGE.format(**{"ns": 0, "redirect": "", "text": "", **fields}) for fields in pages
    )
    path.write_text(f"<mediawiki {namespace}>{body}{end}", encoding="utf8")
    return path


def test_anchors_openings_and_redirects(tmp_path):
    wikitext = (
        "{{Infobox|a=[[Hidden]]}} The '''jaguar''' is a [[big cat]] of the [[amazon "
        "rainforest#Fauna|''rain''forest]].&lt;ref&gt;x&lt;/ref&gt; [[File:X.jpg]] [[#Habitat]]"
    )
    path = dump(
        tmp_path / "dump.xml",
        {"title": "Jaguar", "text": wikitext},
        {"title": "Panthera onca", "redirect": '<redirect title="Jaguar" />'},
        {"title": "Talk:Jaguar", "ns": 1, "text": "[[x]]"},
    )
    jaguar, other = list(ArticleDump(path))
    assert jaguar.title == "Jaguar"
    assert jaguar.text.startswith("The jaguar is a big cat of the rainforest.")
    assert ("Big_cat", "big cat") in jaguar.anchors
    assert ("Amazon_rainforest", "rainforest") in jaguar.anchors
    assert not [anchor for anchor in jaguar.anchors if "File" in anchor[0]]
    assert other == Article("Panthera_onca", "Jaguar", "", ())


def test_a_broken_end_costs_the_end(tmp_path):
    source = ArticleDump(dump(tmp_path / "dump.xml", {"title": "A"}, end="<page><title>B</ti"))
    assert [article.title for article in source] == ["A"]
    assert source.bad.count == 1


@pytest.mark.parametrize(
    "text, title", [("x", "X"), ("éclair", "Éclair"), ("a_b  c", "A_b_c"), ("#x", ""), ("", "")]
)
def test_titles_are_written_as_in_the_sql_dumps(text, title):
    assert page_title(text) == title


@pytest.mark.data
def test_a_real_dump(data: Path):
    name = "gensim-enwiki-pages-articles1-shortened.xml.bz2"
    source = ArticleDump(data / "linking" / "dump-samples" / name)
    seen = []
    for article in source:
        seen.append(article)
        if len(seen) == 12:
            break
    assert seen[0].redirect == "Computer_accessibility"
    anarchism = next(article for article in seen if article.title == "Anarchism")
    assert len(anarchism.anchors) > 100
    assert "political philosophy" in anarchism.text
