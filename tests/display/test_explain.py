"""The page says what the Doc holds, the answer first, and needs nothing from outside."""

import re
from xml.etree import ElementTree

import pytest
import spacy

from spacy_decoders import Certificate, ProblemError
from spacy_decoders.display import explain
from tests.components.test_sourcing import saved_and_read


def read(page) -> ElementTree.Element:
    """The elements of a page: what HTML never closes is closed, and the rest must be XML."""
    closed = re.sub(r"<((?:meta|br|input)\b[^>]*)>", r"<\1/>", str(page))
    return ElementTree.fromstring(closed.replace(" open>", ">").replace("&nbsp;", " "))


def every(element, tag, name=None):
    """All elements below of a tag and, if given, a class."""
    below = element.iterfind(f".//{tag}")
    return [of for of in below if name in (None, *of.get("class", "").split())]


def texts(element, tag, name=None):
    """All that is in each such element, in single blanks."""
    return [" ".join(" ".join(of.itertext()).split()) for of in every(element, tag, name)]


def rows(page, heading):
    """What a section of choices shows: place, chosen value, others with their costs."""
    (found,) = [
        s for s in every(page, "section", "choices") if texts(s, "h4")[0].startswith(heading)
    ]
    return [
        (texts(row, "div")[0], texts(row, "span", "chip")) for row in every(found, "div", "row")
    ]


def test_the_answer_comes_first_and_the_proof_last(doc):
    page = read(explain(doc))
    (article,) = every(page, "article")
    assert texts(article, "h2")[0] == "Jaguar slept"
    assert texts(article, "p", "text")[0] == "The <Jaguar> ORG → Jaguar slept in Kent LOC ."
    order = ["Jaguar slept", "ORG → Jaguar", "nsubj", "Jaguar Cars", "How sure is it?"]
    places = [texts(page, "article")[0].index(part) for part in order]
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
    assert not every(page, "section", "choices")[1:]
    assert texts(page, "p", "text")[0].startswith("The <Jaguar> ORG")


def test_certificates_take_one_line_each(doc):
    page = read(explain(doc))
    lines = texts(every(page, "ul", "proofs")[0], "summary")
    assert lines == [
        "parser 1 of 3 proven optimal 1 of 3 the best among the candidates kept "
        "1 of 3 within 1% of the best possible",
        "tagger proven optimal",
    ]
    assert texts(page, "span", "kept") == ["1 of 3 the best among the candidates kept"]
    assert texts(page, "span", "optimal") == ["1 of 3 proven optimal", "proven optimal"]


def test_close_calls_are_marked_and_have_a_legend(doc):
    drawing = every(read(explain(doc)), "svg")[0]
    assert len(every(drawing, "g", "close")) == 1
    assert texts(drawing, "text", "close") == ["det", "another tag costs 0.25 NNP?"]
    assert "a close call" in texts(read(explain(doc)), "p", "legend")[0]
    for token in doc:
        token._.head_margin = token._.tag_margin = 9.0
    page = read(explain(doc))
    assert not every(page, "g", "close") and not every(page, "text", "close")
    assert not every(page, "p", "legend")


def test_the_page_is_whole_and_needs_neither_network_nor_script(doc):
    page = read(explain([doc, doc]))
    for tag in ("script", "link", "img", "iframe"):
        assert not every(page, tag)
    assert "url(" not in texts(page, "style")[0] and "@import" not in str(explain(doc))
    assert {a.get("href") for a in every(page, "a")} == {"#d1", "#d2"}
    assert "<Jaguar>" not in str(explain(doc))
    # what scrolls can be reached and scrolled by keyboard
    scrolling = every(page, "div", "scroll")
    assert scrolling and all(
        part.get("tabindex") == "0" and part.get("aria-label") for part in scrolling
    )
    ids = [e.get("id") for tag in ("article", "h2", "h3") for e in every(page, tag)]
    assert len(set(ids)) == len(set(filter(None, ids))) + (None in ids)


def test_several_documents_have_headings_and_a_list_of_them(doc):
    bare = spacy.blank("en")("Nothing here.")
    page = read(explain([doc, bare]))
    headings = texts(page, "h2")
    assert headings == ["Jaguar slept", "Document 2"]
    assert texts(every(page, "nav")[0], "a") == headings
    assert not every(read(explain(doc)), "nav")


@pytest.mark.parametrize("text", ["", " ", "one", "a b c", "\x00 \x1b[1m"])
def test_bare_documents_are_shown_too(text):
    page = read(explain(spacy.blank("en")(text)))
    assert "No component left a certificate" in texts(page, "body")[0]
    assert (
        text.strip().replace("\x00", "\ufffd").replace("\x1b", "\ufffd") in texts(page, "body")[0]
    )


def test_how_probable_types_are(doc):
    doc.ents[1]._.prob = 0.9
    table = every(read(explain(doc)), "table")[0]
    cells = [texts(row, "td") for row in every(table, "tr")]
    assert cells[1:] == [["<Jaguar>", "ORG", "", "Jaguar", ""], ["Kent", "LOC", "90%", "–", ""]]


def test_documents_that_were_stored_give_the_same_page(doc):
    assert str(explain(saved_and_read(doc, doc.vocab))) == str(explain(doc))


@pytest.mark.parametrize("damage", [{"gap": None}, {"status": "x"}, {"bound": "x"}, None, [], "x"])
def test_damaged_certificates_are_refused(damage):
    doc = spacy.blank("en")("Nothing was decoded here.")
    explain(doc)
    whole = Certificate.from_bound("X", 1.0, 2.0, tolerance=0.0).as_dict()
    certificate = whole | damage if isinstance(damage, dict) else damage
    without = {name: value for name, value in whole.items() if name != "scope"}
    for wrong in (certificate, without):
        doc._.certificates = {"parser": [whole, wrong]}
        with pytest.raises(ProblemError, match=r"^docs: .* document 1 is damaged; annotate"):
            explain(doc)


def test_it_is_shown_in_a_notebook_and_saved(doc, tmp_path):
    explanation = explain(doc, title="Jaguars & co.")
    assert explanation._repr_html_().startswith("<iframe srcdoc=")
    path = explanation.save(tmp_path / "new" / "page.html")
    assert "<title>Jaguars &amp; co.</title>" in path.read_text(encoding="utf8")
    for wrong in (["text"], None, doc[0]):
        with pytest.raises(ProblemError, match="call nlp"):
            explain(wrong)
