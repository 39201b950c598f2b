"""The page in a real browser: what is displayed, clicked, pressed, loaded and complained of.

CI installs Debian's Chromium where it may; without a browser these tests are skipped.
"""

import shutil

import pytest

from spacy_decoders import explain
from spacy_decoders.components.extensions import record_certificates

from .conftest import proven

HOSTILE = "</title></style><script>document.title='taken'</script><img src=x onerror=alert(1)>\"'`"


@pytest.fixture(scope="module")
def browser():
    found = shutil.which("chromium") or shutil.which("google-chrome")
    if found is None:
        pytest.skip("no browser on this machine")
    playwright = pytest.importorskip("playwright.sync_api")
    with playwright.sync_playwright() as api:
        # a browser run by root has no sandbox of its own
        browser = api.chromium.launch(executable_path=found, args=["--no-sandbox"])
        yield browser
        browser.close()


class Opened:
    """A page in a window, with all that it asked for and all that the console said."""

    def __init__(self, browser, path, width=1200):
        self.page = browser.new_page(viewport={"width": width, "height": 800})
        self.messages: list[str] = []
        self.requests: list[str] = []
        self.page.on("console", lambda message: self.messages.append(message.text))
        self.page.on("pageerror", lambda error: self.messages.append(str(error)))
        self.page.on("dialog", lambda dialog: self.messages.append(dialog.message))
        self.page.on("request", lambda request: self.requests.append(request.url))
        self.page.goto(path.as_uri())


@pytest.fixture
def opened(browser, doc, tmp_path):
    return Opened(browser, explain(doc).save(tmp_path / "page.html"))


@pytest.mark.parametrize("width", [360, 1400])
def test_nothing_is_wider_than_the_window(browser, doc, tmp_path, width):
    page = Opened(browser, explain(doc).save(tmp_path / "page.html"), width).page
    page.evaluate("document.querySelectorAll('details').forEach(e => e.open = true)")
    assert page.evaluate("document.documentElement.scrollWidth") <= width


def test_nothing_is_loaded_and_the_console_is_silent(opened):
    assert len(opened.requests) == 1  # the page itself
    assert opened.messages == []


def test_what_documents_say_is_text_and_never_markup(browser, doc, tmp_path):
    link = dict(doc.ents[0]._.link)
    candidate = {"id": HOSTILE, "title": HOSTILE, "score": 0.2, "description": HOSTILE}
    candidate["url"] = "javascript:alert(1)"
    fields = dict.fromkeys(("id", "title", "description", "type", "qid"), HOSTILE)
    doc.ents[0]._.link = {
        **link, **fields, "url": "javascript:alert(1)", "candidates": [candidate, candidate]
    }  # fmt: skip
    doc._.headlines = [{**headline, "text": HOSTILE} for headline in doc._.headlines]
    doc._.headline = HOSTILE
    for token in doc:
        token.tag_ = token.dep_ = HOSTILE
    record_certificates(doc, HOSTILE, [proven()])
    opened = Opened(browser, explain(doc, title=HOSTILE).save(tmp_path / "page.html"))
    assert opened.messages == []
    assert len(opened.requests) == 1
    assert opened.page.title() == HOSTILE
    assert opened.page.locator("script, img, [onerror], a[href^='javascript']").count() == 0
    assert HOSTILE in opened.page.locator("main").inner_text()
