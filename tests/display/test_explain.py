"""The explanation shows what the Doc holds, escapes it, and needs nothing from outside."""

import shutil
import subprocess
from html.parser import HTMLParser

import pytest
import spacy
from spacy.tokens import Doc

from spacy_decoders import Certificate, ProblemError
from spacy_decoders.components.extensions import record_certificates
from spacy_decoders.display import explain
from spacy_decoders.display.arcs import TreeDrawing
from spacy_decoders.display.lattice import Lattice
from spacy_decoders.display.words import in_words

OPTIMAL = Certificate.from_bound("X", 2.0, 2.0, tolerance=1e-6)


class Elements(HTMLParser):
    """Collects the elements and complains about markup that does not close."""

    VOID = frozenset({"meta", "br"})

    def __init__(self, page):
        super().__init__()
        self.open, self.seen = [], []
        self.feed(page)
        assert not self.open

    def handle_starttag(self, tag, attrs):
        self.seen.append((tag, dict(attrs)))
        if tag not in self.VOID:
            self.open.append(tag)

    def handle_startendtag(self, tag, attrs):
        self.seen.append((tag, dict(attrs)))

    def handle_endtag(self, tag):
        assert self.open.pop() == tag


@pytest.fixture
def doc():
    doc = Doc(
        spacy.blank("en").vocab,
        words=["The", "<Jaguar>", "slept", "."],
        tags=["DT", "NNP", "VBD", "."],
        heads=[1, 2, 2, 2],
        deps=["det", "nsubj", "ROOT", "punct"],
        ents=["O", "B-ORG", "O", "O"],
    )
    doc.ents[0]._.link = {
        "id": "cat",
        "title": "Jaguar",
        "score": 1.0,
        "margin": 0.5,
        "candidates": [
            {"id": "cat", "title": "Jaguar", "score": 1.0},
            {"id": "car", "title": "Jaguar Cars", "score": 0.5},
        ],
    }
    doc._.parses = [
        [
            {"tokens": [0, 1, 2, 3], "heads": [1, 2, 2, 2], "deps": [""] * 4, "score": 3.0},
            {"tokens": [0, 1, 2, 3], "heads": [2, 2, 2, 2], "deps": [""] * 4, "score": 2.5},
        ]
    ]
    doc._.taggings = [
        {
            "component": "tagger",
            "start": 0,
            "end": 4,
            "labels": ["DT", "NNP", "VBD", "."],
            "score": 3.0,
        },
        {
            "component": "tagger",
            "start": 0,
            "end": 4,
            "labels": ["DT", "NN", "VBD", "."],
            "score": 1.0,
        },
    ]
    doc._.headlines = [
        {"text": "Jaguar slept", "score": 2.0, "tokens": [1, 2], "certificate": OPTIMAL.as_dict()}
    ]
    for token in doc:
        token._.tag_margin = 0.25
        token._.head_margin = 0.5
    gap = Certificate.from_bound("X", 99.0, 100.0, tolerance=0.0)
    record_certificates(doc, "parser", [OPTIMAL, gap])
    return doc


def test_everything_on_the_doc_is_shown(doc):
    page = str(explain(doc))
    for shown in (
        "1 of 2 proven optimal",
        "within 1% of the best possible",
        "Jaguar Cars",
        "0.5 worse than the best",
        "0.5 worse",
        "under “slept” instead of “&lt;Jaguar&gt;”",
        "2 worse than the best",
        "Jaguar slept",
        "nsubj",
    ):
        assert shown in page, shown


def test_the_page_is_whole_and_needs_no_network(doc):
    elements = Elements(str(explain([doc, doc]))).seen
    assert not [tag for tag, _ in elements if tag in ("script", "link", "img", "iframe")]
    assert not [a for _, a in elements if "http" in str(a.get("src", "")) + str(a.get("href", ""))]
    assert "<Jaguar>" not in str(explain(doc))
    # what scrolls can be reached and scrolled by keyboard
    scrolling = [a for tag, a in elements if a.get("class") == "scroll"]
    assert scrolling
    assert all(a.get("tabindex") == "0" and a.get("aria-label") for a in scrolling)


@pytest.mark.parametrize("text", ["", " ", "one", "a b c"])
def test_bare_documents_are_shown_too(text):
    page = str(explain(spacy.blank("en")(text)))
    Elements(page)
    assert "No component left a certificate" in page


def test_it_is_shown_in_a_notebook_and_saved(doc, tmp_path):
    explanation = explain(doc, title="Jaguars & co.")
    assert explanation._repr_html_().startswith("<iframe srcdoc=")
    path = explanation.save(tmp_path / "page.html")
    assert "<title>Jaguars &amp; co.</title>" in path.read_text(encoding="utf8")


def test_a_text_is_no_document():
    with pytest.raises(ProblemError, match="call nlp"):
        explain(["text"])


@pytest.mark.parametrize(
    "certificate, words",
    [
        (Certificate.infeasible("X"), "impossible: no answer satisfies the constraints"),
        (Certificate.probable("X", 1.0, 0.9996), "optimal with probability 99.9%"),
        (
            Certificate.from_bound("X", 0.0, 0.5, tolerance=0.0),
            "at most 0.5 from the best possible",
        ),
        (
            Certificate.from_bound("X", 1.0, 1.0, tolerance=0.0, scope="pruned"),
            "proven optimal, among the candidates that were kept",
        ),
    ],
)
def test_certificates_in_words(certificate, words):
    assert in_words(certificate.as_dict()) == words


def test_a_gap_is_rounded_up_and_never_away():
    tiny = Certificate.from_bound("X", 1000.0, 1000.0001, tolerance=0.0)
    assert in_words(tiny.as_dict()) == "within 0.1% of the best possible"


def test_crossing_arcs_run_at_different_heights():
    drawing = TreeDrawing.of(list("abcd"), [""] * 4, [2, 3, 2, 2], list("wxrz"), [None] * 4)
    heights = {arc.label: arc.y for arc in drawing.arcs}
    assert set(heights) == {"w", "x", "z"}
    assert heights["w"] != heights["x"]


def test_a_mention_without_a_link_says_so(doc):
    doc.ents[0]._.link = {**doc.ents[0]._.link, "id": "", "title": "", "margin": None}
    assert "no link" in str(explain(doc))


def test_a_browser_renders_it(doc, tmp_path):
    chromium = shutil.which("chromium") or shutil.which("google-chrome")
    if chromium is None:
        pytest.skip("no headless browser on this machine")
    page = explain(doc).save(tmp_path / "page.html")
    flags = "--headless --no-sandbox --disable-gpu --disable-background-networking --no-first-run"
    shot = tmp_path / "page.png"
    command = [chromium, *flags.split(), f"--user-data-dir={tmp_path / 'profile'}"]
    for size in ("390,1200", "1200,900"):
        sized = [*command, f"--window-size={size}", f"--screenshot={shot}", page.as_uri()]
        subprocess.run(sized, check=True, capture_output=True, timeout=120)
        assert shot.stat().st_size > 10_000, "a blank page"
        shot.unlink()


def test_sequences_of_different_length_share_a_lattice():
    lattice = Lattice.of([["a", "b"], ["a", "c", "d"]], [2.0, 1.0], [])
    assert {(node.text, node.best) for node in lattice.nodes} == {
        ("a", True),
        ("b", True),
        ("c", False),
        ("d", False),
    }
    assert len(lattice.edges) == 3
