"""Every Python example in the README and the docs runs and prints what stands below it."""

import contextlib
import io
import json
import pkgutil
import re
from pathlib import Path
from types import ModuleType

import pytest
import spacy
from spacy.language import Language
from thinc.api import Config

from spacy_decoders.registry import decoders

ROOT = Path(__file__).parents[1]
PAGES = [ROOT / "README.md", *sorted((ROOT / "docs").rglob("*.md"))]
#: A block of Python and, where one follows directly, the block of what it prints.
EXAMPLE = re.compile(r"^```python\n(.*?)^```$(?:\n\n^```text\n(.*?)^```$)?", re.M | re.S)
SETTINGS = re.compile(r"^```ini\n(.*?)^```$", re.M | re.S)
NUMBER = re.compile(r"-?\d+\.\d+")


def examples(page: Path) -> list[tuple[str, str]]:
    return EXAMPLE.findall(page.read_text(encoding="utf8"))


def test_what_the_reference_names_stands_in_that_module():
    named = [
        name
        for page in PAGES
        for name in re.findall(r"^::: (\S+)$", page.read_text(encoding="utf8"), re.M)
    ]
    assert len(named) > 90
    for name in named:
        found = pkgutil.resolve_name(name)
        if not isinstance(found, ModuleType):
            # the reference reads the sources, and sees no name that a package loads on first use
            assert found.__module__ == name.rpartition(".")[0], name


def test_every_decoder_is_in_the_guide_and_in_the_reference():
    guide = (ROOT / "docs" / "choosing-a-decoder.md").read_text(encoding="utf8")
    named = "\n".join(page.read_text(encoding="utf8") for page in PAGES)
    builders = {
        name.split(".")[1]: build
        for name, build in decoders.get_all().items()
        if name.startswith("spacy-decoders.")
    }
    assert len(builders) > 15
    for name, build in builders.items():
        of = type(build())
        assert f"`{name}`" in guide
        assert f"::: {of.__module__}.{of.__name__}\n" in f"{named}\n"


@pytest.mark.parametrize(
    "factory",
    ["exact_tagger", "branch_and_bound_parser", "graph_entity_linker", "headline_generator"],
)
def test_the_table_of_options_has_each_with_its_default(factory):
    page = ROOT / "docs" / "components" / f"{factory}.md"
    rows = dict(re.findall(r"^\| `(\w+)` \| `?(.*?)`? \|", page.read_text("utf8"), re.M))
    defaults = Language.get_factory_meta(factory).default_config
    assert defaults.keys() - rows.keys() <= {"model"}
    for name, default in defaults.items():
        if not isinstance(default, dict):  # a registered function is named in words
            assert json.loads(rows[name]) == default, name


def test_files_that_the_architecture_names_are_there():
    named = re.findall(r"`[\w/]*?(\w+\.py)`", (ROOT / "ARCHITECTURE.md").read_text("utf8"))
    there = {
        path.name
        for folder in ("spacy_decoders", "tests")
        for path in (ROOT / folder).rglob("*.py")
    }
    assert len(named) > 80 and {*named} - {"b.py", "test_b.py"} <= there


@pytest.mark.parametrize(
    "page", [page for page in PAGES if examples(page)], ids=lambda page: page.stem
)
def test_examples_print_what_they_say(page, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)  # some save what they made
    spacy.util.fix_random_seed(0)
    for code, expected in examples(page):
        printed = io.StringIO()
        with contextlib.redirect_stdout(printed):
            exec(compile(code, f"{page.name}", "exec"), {"__name__": "example"})
        assert_alike(printed.getvalue(), expected)


def test_settings_can_be_read_in_the_order_they_stand_in():
    for block in (block for page in PAGES for block in SETTINGS.findall(page.read_text("utf8"))):
        names = re.findall(r"^\[(.+)\]$", block, re.M)
        above = {name[: dot.start()] for name in names for dot in re.finditer(r"\.", name)}
        config = "".join(f"[{name}]\n" for name in sorted(above.difference(names))) + block
        assert Config().from_str(config, interpolate=False), block


def assert_alike(printed: str, expected: str) -> None:
    """Compare word by word; fractions may differ a little, as the processor's arithmetic does.

    A fraction may be off by 2%, and by two units of its last digit.
    """
    assert NUMBER.sub("#", printed) == NUMBER.sub("#", expected)
    for found, written in zip(NUMBER.findall(printed), NUMBER.findall(expected), strict=True):
        digit = 10.0 ** -len(written.partition(".")[2])
        assert float(found) == pytest.approx(float(written), rel=0.02, abs=2 * digit), printed


def test_another_number_is_no_likeness():
    assert_alike("margin 0.75, score -12.34\n", "margin 0.76, score -12.30\n")
    for other in ("margin 0.85, score -12.30\n", "margin 0.76, score 12.30\n", "margin 0.76\n"):
        with pytest.raises(AssertionError):
            assert_alike(other, "margin 0.76, score -12.30\n")
