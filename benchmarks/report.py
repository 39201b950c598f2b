"""All results on one page, the papers' own tables beside ours.

    python benchmarks/report.py

reads ``benchmarks/results/*.json`` and the plots beside them, and writes ``report.html``, which
needs no other file. It measures nothing.
"""

from __future__ import annotations

import argparse
import base64
import json
from pathlib import Path
from typing import Any

from jinja2 import Environment, FileSystemLoader, StrictUndefined
from paper_tables import TABLES
from timing import shown

HERE = Path(__file__).parent

#: Heading and subject of each benchmark, in the order of the page; others follow by name.
SUBJECTS = {
    "chain": ("Tag sequences", "The best labels of a sentence, with up to 1,642 labels a word."),
    "tagger-tag": ("Tagging in spaCy", "exact_tagger beside spaCy's tagger, trained alike."),
    "tree": ("Trees by single arcs", "Projective and not, against other parsers' decoders."),
    "tree_branch_and_bound": (
        "Trees with larger parts",
        "Grandparents, siblings and more, still proven the best.",
    ),
    "price_and_cut": ("Trees by linear programs", "Columns and cuts where they are needed."),
    "parser": (
        "Parsing in spaCy",
        "branch_and_bound_parser beside spaCy's parser, trained alike.",
    ),
    "path": ("Headlines", "Selecting and ordering words: the best path with no class twice."),
    "representatives": ("Concepts by graph distance", "One concept a mention, close together."),
    "linking-component": ("Entity linking", "What the graph does for accuracy on public sets."),
    "adapters": ("Other models' scores", "What exact decoding changes, source by source."),
}


def read_reports(folder: Path) -> list[dict[str, Any]]:
    """Read every report of a folder, with its plots and the papers' tables.

    Raises
    ------
    SystemExit
        If there is none.
    """
    reports = []
    for path in sorted(folder.glob("*.json"), key=place):
        report = json.loads(path.read_text(encoding="utf8"))
        report["title"], report["subject"] = SUBJECTS.get(path.stem, (path.stem, ""))
        plots = sorted([*folder.glob(f"{path.stem}.png"), *folder.glob(f"{path.stem}-*.png")])
        report["plots"] = [base64.b64encode(p.read_bytes()).decode() for p in plots]
        report["papers"] = [t for t in TABLES if report["name"] in t.benchmarks]
        reports.append(report)
    if not reports:
        raise SystemExit(f"{folder} has no results; run the benchmarks first.")
    return reports


def place(path: Path) -> tuple[int, str]:
    """Where the report of a file stands on the page."""
    order = list(SUBJECTS)
    return (order.index(path.stem) if path.stem in order else len(order), path.stem)


def as_html(reports: list[dict[str, Any]]) -> str:
    """One page with everything in it."""
    environment = Environment(
        loader=FileSystemLoader(HERE / "templates"),
        autoescape=True,
        undefined=StrictUndefined,
        trim_blocks=True,
        lstrip_blocks=True,
    )
    environment.filters.update(shown=shown)
    return environment.get_template("report.html").render(reports=reports)


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.split("\n")[0])
    parser.add_argument("--results", type=Path, default=HERE / "results")
    options = parser.parse_args()
    reports = read_reports(options.results)
    page = options.results / "report.html"
    page.write_text(as_html(reports), encoding="utf8")
    print(f"{len(reports)} reports, written: {page}")


if __name__ == "__main__":
    main()
