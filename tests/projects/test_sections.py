"""Titled sections of HTML pages, as `projects/headlines` collects them."""

import gzip
import json
import runpy
from pathlib import Path

SCRIPT = Path(__file__).parents[2] / "projects/headlines/scripts/sections.py"
BODY = "A heap is a tree whose parents come before their children. " * 6


def test_a_heading_has_the_running_text_below_it(tmp_path):
    page = f"""<html class="sidebar-visible"><body><nav>Contents</nav><h1>2.1. Binary heaps</h1>
    <p>{BODY}</p><pre>heap.push(1)</pre><h2>See also</h2><p>{BODY[:-1]}!</p>
    <h2>Short</h2><p>Too little.</p></body></html>"""
    (tmp_path / "page.html").write_text(page)
    output = tmp_path / "sections.jsonl.gz"
    runpy.run_path(str(SCRIPT))["main"](tmp_path, output, 300, 10, 0)
    with gzip.open(output, "rt") as lines:
        (row,) = map(json.loads, lines)
    assert row == {"id": "page.html", "title": "Binary heaps", "text": BODY.strip()}
