"""The page says what the Doc holds, the answer first, and needs nothing from outside."""

from html.parser import HTMLParser

import pytest
import spacy

from spacy_decoders import ProblemError
from spacy_decoders.display import explain
from tests.components.test_sourcing import saved_and_read

VOID = frozenset({"meta", "br", "input"})


class Element:
    """An element of a page with its attributes and what it contains."""

    def __init__(self, tag, attributes):
        self.tag, self.attributes = tag, dict(attributes)
        self.children: list[Element | str] = []

    def __getitem__(self, name):
        return self.attributes.get(name)

    @property
    def text(self):
        """All that is in it, in single blanks."""
        parts = (c if isinstance(c, str) else c.text for c in self.children)
        return " ".join(" ".join(parts).split())

    def all(self, tag, name=None):
        """All elements below of a tag and, if given, a class."""
        found = []
        for child in self.children:
            if isinstance(child, Element):
                classes = (child["class"] or "").split()
                if child.tag == tag and (name is None or name in classes):
                    found.append(child)
                found += child.all(tag, name)
        return found


class _Reader(HTMLParser):
    def __init__(self):
        super().__init__()
        self.open = [Element("page", ())]

    def handle_starttag(self, tag, attrs):
        element = Element(tag, attrs)
        self.open[-1].children.append(element)
        if tag not in VOID:
            self.open.append(element)

    def handle_startendtag(self, tag, attrs):
        self.open[-1].children.append(Element(tag, attrs))

    def handle_endtag(self, tag):
        assert self.open.pop().tag == tag

    def handle_data(self, data):
        self.open[-1].children.append(data)


def read(page) -> Element:
    """The elements of a page, whose markup must close."""
    reader = _Reader()
    reader.feed(str(page))
    assert len(reader.open) == 1
    return reader.open[0]


def rows(page, heading):
    """What a section of choices shows: place, chosen value, others with their costs."""
    (found,) = [
        s for s in page.all("section", "choices") if s.all("h4")[0].text.startswith(heading)
    ]
    return [
        (row.all("div")[0].text, [chip.text for chip in row.all("span", "chip")])
        for row in found.all("div", "row")
    ]


def test_the_answer_comes_first_and_the_proof_last(doc):
    page = read(explain(doc))
    (article,) = page.all("article")
    assert article.all("h2")[0].text == "Jaguar slept"
    assert article.all("p", "text")[0].text == "The <Jaguar> ORG → Jaguar slept in Kent LOC ."
    order = ["Jaguar slept", "ORG → Jaguar", "nsubj", "Jaguar Cars", "How sure is it?"]
    places = [article.text.index(part) for part in order]
    assert places == sorted(places)


def test_choices_are_shown_with_their_costs(doc):
    page = read(explain(doc))
    assert rows(page, "Heads") == [("The", ["<Jaguar> · det", "slept · det +0.5"])]
    assert rows(page, "Tags") == [("<Jaguar>", ["NNP", "NN +2"])]
    # “Kent” and whatever all readings agree on is not listed
    assert rows(page, "Entities") == [
        ("The <Jaguar>", ["no entity", "PER +0.25"]),
        ("<Jaguar>", ["ORG", "no entity +0.25"]),
    ]
    assert rows(page, "Links") == [("<Jaguar>", ["Jaguar", "Jaguar Cars +1.4"])]


def test_alternatives_of_tokens_that_were_merged_since_are_left_out(doc):
    with doc.retokenize() as retokenizer:
        retokenizer.merge(doc[0:2])
    page = read(explain(doc))
    assert not page.all("section", "choices")[1:]
    assert page.all("article")[0].all("p", "text")[0].text.startswith("The <Jaguar> ORG")


def test_certificates_take_one_line_each(doc):
    page = read(explain(doc))
    lines = [item.all("summary")[0].text for item in page.all("ul", "proofs")[0].all("li")]
    assert lines == [
        "parser 1 of 3 proven optimal 1 of 3 the best among the candidates kept "
        "1 of 3 within 1% of the best possible",
        "tagger proven optimal",
    ]
    kept = [badge.text for badge in page.all("span", "kept")]
    assert kept == ["1 of 3 the best among the candidates kept"]
    assert [badge.text for badge in page.all("span", "optimal")] == [
        "1 of 3 proven optimal",
        "proven optimal",
    ]


def test_close_calls_are_marked_and_have_a_legend(doc):
    drawing = read(explain(doc)).all("svg")[0]
    assert len(drawing.all("g", "close")) == 1
    assert [text.text for text in drawing.all("text", "close")] == [
        "det",
        "another tag costs 0.25 NNP?",
    ]
    assert "a close call" in read(explain(doc)).all("p", "legend")[0].text
    for token in doc:
        token._.head_margin = token._.tag_margin = 9.0
    page = read(explain(doc))
    assert not page.all("g", "close") and not page.all("text", "close")
    assert not page.all("p", "legend")


def test_the_page_is_whole_and_needs_neither_network_nor_script(doc):
    page = read(explain([doc, doc]))
    for tag in ("script", "link", "img", "iframe"):
        assert not page.all(tag)
    assert "url(" not in page.all("style")[0].text and "@import" not in str(explain(doc))
    assert {a["href"] for a in page.all("a")} == {"#d1", "#d2"}
    assert "<Jaguar>" not in str(explain(doc))
    # what scrolls can be reached and scrolled by keyboard
    scrolling = page.all("div", "scroll")
    assert scrolling and all(part["tabindex"] == "0" and part["aria-label"] for part in scrolling)
    ids = [e["id"] for tag in ("article", "h2", "h3") for e in page.all(tag)]
    assert len(set(ids)) == len(set(filter(None, ids))) + (None in ids)


def test_several_documents_have_headings_and_a_list_of_them(doc):
    bare = spacy.blank("en")("Nothing here.")
    page = read(explain([doc, bare]))
    headings = [h.text for h in page.all("h2")]
    assert headings == ["Jaguar slept", "Document 2"]
    assert [a.text for a in page.all("nav")[0].all("a")] == headings
    assert not read(explain(doc)).all("nav")


@pytest.mark.parametrize("text", ["", " ", "one", "a b c", "\x00 \x1b[1m"])
def test_bare_documents_are_shown_too(text):
    page = read(explain(spacy.blank("en")(text)))
    assert "No component left a certificate" in page.text
    assert text.strip().replace("\x00", "\ufffd").replace("\x1b", "\ufffd") in page.text


def test_how_probable_types_are(doc):
    doc.ents[1]._.prob = 0.9
    table = read(explain(doc)).all("table")[0]
    cells = [[cell.text for cell in row.all("td")] for row in table.all("tr")]
    assert cells[1:] == [["<Jaguar>", "ORG", "", "Jaguar", ""], ["Kent", "LOC", "90%", "–", ""]]


def test_documents_that_were_stored_give_the_same_page(doc):
    assert str(explain(saved_and_read(doc, doc.vocab))) == str(explain(doc))


def test_it_is_shown_in_a_notebook_and_saved(doc, tmp_path):
    explanation = explain(doc, title="Jaguars & co.")
    assert explanation._repr_html_().startswith("<iframe srcdoc=")
    path = explanation.save(tmp_path / "new" / "page.html")
    assert "<title>Jaguars &amp; co.</title>" in path.read_text(encoding="utf8")
    for wrong in (["text"], None, doc[0]):
        with pytest.raises(ProblemError, match="call nlp"):
            explain(wrong)
