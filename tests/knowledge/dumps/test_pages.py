"""Units of a dump have each page once, wherever the dump is cut and however it is compressed."""

import bz2
import gzip

import pytest

from spacy_decoders.knowledge.dumps import pages as reading
from spacy_decoders.knowledge.dumps.pages import Unit, pages, units

COUNT = 300


def xml(i):
    text = f"text &lt;b&gt; &amp;amp; {i} " + "xyz " * (i % 37)
    return (
        f"  <page>\n    <title>Title &quot;{i}&quot;</title>\n    <ns>0</ns>\n    <revision>\n"
        f'<text bytes="9" xml:space="preserve">{text}</text>\n    </revision>\n  </page>\n'
    ).encode()


@pytest.fixture(params=["plain", "gz", "bz2", "multistream", "blocks"])
def dump(request, tmp_path):
    bodies = [xml(i) for i in range(COUNT)]
    whole = b"<mediawiki>\n" + b"".join(bodies) + b"</mediawiki>\n"
    if request.param == "plain":
        path, content = tmp_path / "a.xml", whole
    elif request.param == "gz":
        path, content = tmp_path / "a.xml.gz", gzip.compress(whole)
    elif request.param == "bz2":
        path, content = tmp_path / "a.xml.bz2", bz2.compress(whole)
    elif request.param == "multistream":
        path = tmp_path / "a.xml.bz2"
        parts = [b"".join(bodies[i : i + 10]) for i in range(0, COUNT, 10)]
        content = b"".join(map(bz2.compress, [b"<mediawiki>\n", *parts, b"</mediawiki>\n"]))
    else:  # streams that end anywhere, within pages and tags
        path = tmp_path / "a.xml.bz2"
        content = b"".join(bz2.compress(whole[i : i + 101]) for i in range(0, len(whole), 101))
    path.write_bytes(content)
    return path


@pytest.mark.parametrize("block", [50, 1 << 20])
@pytest.mark.parametrize("size", [97, 1500, 1 << 30])
def test_every_page_once(dump, size, block, monkeypatch):
    monkeypatch.setattr(reading, "_BLOCK", block)
    cut = units(dump, size)
    found = [page for unit in cut for page in pages(unit)]
    assert [page.title for page in found] == [f'Title "{i}"' for i in range(COUNT)]
    assert found[5].source == b"text <b> &amp; 5 " + b"xyz " * 5
    assert found[5].namespace == "0" and found[5].redirect is None
    if size == 1500 and dump.suffix == ".xml":
        assert len(cut) > 5


def test_streams_can_be_entered(dump):
    streams = dump.read_bytes().count(b"BZh91AY&SY")
    assert (len(units(dump, 97)) > 5) == (streams > 5 or dump.suffix == ".xml")


@pytest.mark.parametrize(
    "content, reason",
    [
        (b"<page><ns>0</ns></page>", "no title"),
        (b"<page><title>\xff</title><ns>0</ns></page>", "codec"),
        (b"<page><title>A</title><ns>0</ns><text>x</page>", "not found"),
        (b"<page><title>A</title>", "no end"),
    ],
)
def test_what_is_broken_is_said(tmp_path, content, reason):
    path = tmp_path / "a.xml"
    path.write_bytes(xml(0) + content + (xml(1) if b"</page>" in content else b""))
    found = list(pages(Unit(path)))
    (bad,) = [page for page in found if isinstance(page, str)]
    assert reason in bad
    assert len(found) == 2 + (b"</page>" in content)


def test_a_page_without_an_end_does_not_fill_the_memory(tmp_path, monkeypatch):
    monkeypatch.setattr(reading, "_LONGEST", 10_000)
    monkeypatch.setattr(reading, "_BLOCK", 1000)
    path = tmp_path / "a.xml"
    path.write_bytes(xml(0) + b"<page><title>A" + b"x" * 50_000 + xml(1))
    found = list(pages(Unit(path)))
    assert isinstance(found[1], str) and "has no end" in found[1]
    assert [page.title for page in (found[0], found[2])] == ['Title "0"', 'Title "1"']


@pytest.mark.parametrize("name", ["a.xml.gz", "a.xml.bz2"])
def test_a_damaged_end_costs_the_end(tmp_path, name):
    whole = b"".join(xml(i) for i in range(COUNT)) * 40
    pack = gzip.compress if name.endswith("gz") else bz2.compress
    (tmp_path / name).write_bytes(pack(whole)[:-2000])
    found = list(pages(Unit(tmp_path / name)))
    assert isinstance(found[-1], str) and not any(isinstance(page, str) for page in found[:-1])
