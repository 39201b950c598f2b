"""Anchors and openings come out of wikitext; what is broken costs a page, or is refused."""

from pathlib import Path

import pytest

from spacy_decoders import ProblemError
from spacy_decoders.knowledge.concepts import BadRows
from spacy_decoders.knowledge.dumps import articles as reading
from spacy_decoders.knowledge.dumps.articles import articles, page_title
from tests.readers.files import written

PAGE = """<page><title>{title}</title><ns>{ns}</ns><id>1</id>{redirect}
<revision><id>2</id><text>{text}</text></revision></page>"""


def dump(path, *pages, end="</mediawiki>"):
    namespace = 'xmlns="http://www.mediawiki.org/xml/export-0.10/"'
    body = "\n".join(
        PAGE.format(**{"ns": 0, "redirect": "", "text": "", **fields}) for fields in pages
    )
    return written(path.parent, path.name, f"<mediawiki {namespace}>\n{body}\n{end}")


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
    bad = BadRows()
    (jaguar,) = articles(path, bad)
    assert jaguar.title == "Jaguar"
    assert jaguar.text.startswith("The jaguar is a big cat of the rainforest.")
    assert ("Big_cat", "big cat") in jaguar.anchors
    assert ("Amazon_rainforest", "rainforest") in jaguar.anchors
    assert not [anchor for anchor in jaguar.anchors if "File" in anchor[0]]
    assert ("Hidden", "Hidden") in jaguar.hidden_anchors and not bad.count


@pytest.mark.parametrize(
    "broken, reason",
    [
        ("<page><title>B</title></pag></page>", "mismatched"),
        ("<page><title>B</ti", "no end"),
        ("<page>\n" + "x" * 1000 + "\n" + "y" * 9000 + "\nz", "no end"),
    ],
)
def test_a_broken_page_costs_that_page(tmp_path, monkeypatch, broken, reason):
    monkeypatch.setattr(reading, "_LONGEST", 5000)
    path, bad = tmp_path / "dump.xml", BadRows()
    last = PAGE.format(title="C", ns=0, redirect="", text="c")
    dump(path, {"title": "A"}, end=f"{broken}\n{last}\n</mediawiki>")
    assert [article.title for article in articles(path, bad)] == ["A", "C"]
    assert bad.count == 1 and reason in bad.examples[0]
    dump(path, {"title": "A"}, end=broken)
    assert [article.title for article in articles(path, bad)] == ["A"] and bad.count == 2


@pytest.mark.parametrize("name", ["a.xml.gz", "a.xml.bz2"])
def test_a_truncated_download_says_so(tmp_path, name):
    path = dump(tmp_path / name, *({"title": f"Title {i * 7919}"} for i in range(3000)))
    assert len(list(articles(path, BadRows()))) == 3000
    path.write_bytes(path.read_bytes()[:-2000])
    with pytest.raises(ProblemError, match=f"{name} is damaged or ends too early"):
        list(articles(path, BadRows()))


@pytest.mark.parametrize(
    "text, title", [("x", "X"), ("éclair", "Éclair"), ("a_b  c", "A_b_c"), ("#x", ""), ("", "")]
)
def test_titles_are_written_as_in_the_sql_dumps(text, title):
    assert page_title(text) == title


@pytest.mark.data
def test_a_real_dump(data: Path):
    name = "gensim-enwiki-pages-articles1-shortened.xml.bz2"
    found = articles(data / "linking" / "dump-samples" / name, BadRows())
    anarchism = next(article for article in found if article.title == "Anarchism")
    assert len(anarchism.anchors) > 100
    assert "political philosophy" in anarchism.text
