"""Every Python example in the README and the docs runs and prints what stands below it."""

from __future__ import annotations

import contextlib
import io
import re
from pathlib import Path

import pytest
import spacy

ROOT = Path(__file__).parents[1]
PAGES = [ROOT / "README.md", *sorted((ROOT / "docs").rglob("*.md"))]

#: A block of Python and, where one follows directly, the block of what it prints.
EXAMPLE = re.compile(r"^```python\n(.*?)^```$(?:\n\n^```text\n(.*?)^```$)?", re.M | re.S)
NUMBER = re.compile(r"-?\d+\.\d+")


def examples(page: Path) -> list[tuple[str, str]]:
    return EXAMPLE.findall(page.read_text(encoding="utf8"))


@pytest.mark.parametrize(
    "page", [page for page in PAGES if examples(page)], ids=lambda page: page.stem
)
def test_examples_print_what_they_say(page):
    spacy.util.fix_random_seed(0)
    for code, expected in examples(page):
        printed = io.StringIO()
        with contextlib.redirect_stdout(printed):
            exec(compile(code, f"{page.name}", "exec"), {"__name__": "example"})
        # fractions depend on the processor's arithmetic, and on shipped weights
        assert NUMBER.sub("#", printed.getvalue()) == NUMBER.sub("#", expected)


def test_there_are_examples():
    assert sum(len(examples(page)) for page in PAGES) >= 12
