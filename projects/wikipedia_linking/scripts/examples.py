"""Openings of Wikipedia articles with their links, as examples for linking."""

import json
from pathlib import Path
from typing import Any

import typer

from spacy_decoders.knowledge.concept_base import ConceptBase
from spacy_decoders.knowledge.concepts import BadRows
from spacy_decoders.knowledge.dumps.articles import Article, articles


def main(dump: Path, kb: Path, folder: Path, limit: int = 2000, every: int = 10) -> None:
    """Write train.jsonl and dev.jsonl, the latter from every tenth article."""
    base = ConceptBase.open(kb)
    rows: list[dict[str, Any]] = []
    for article in articles(dump, BadRows()):
        mentions = links(article, base)
        if len(mentions) >= 2:  # one alone has nothing to fit to
            rows.append({"text": article.text, "mentions": mentions})
        if len(rows) == limit:
            break
    folder.mkdir(parents=True, exist_ok=True)
    for name, kept in (
        ("train", [row for i, row in enumerate(rows) if i % every]),
        ("dev", rows[::every]),
    ):
        lines = "".join(json.dumps(row, ensure_ascii=False) + "\n" for row in kept)
        (folder / f"{name}.jsonl").write_text(lines, encoding="utf8")
        print(f"{name}: {len(kept):,} articles")


def links(article: Article, base: ConceptBase) -> list[dict[str, Any]]:
    """Find the anchors of an article in its plain text, in their order."""
    found, position = [], 0
    for page, words in article.anchors:
        start = article.text.find(words, position)
        if start < 0 or base.number(page) < 0:
            continue
        position = start + len(words)
        found.append({"start": start, "end": position, "gold": page})
    return found


if __name__ == "__main__":
    typer.run(main)
