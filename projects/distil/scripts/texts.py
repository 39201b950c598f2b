"""Take raw texts from a treebank: a few sentences each, never of two documents."""

from __future__ import annotations

import json
from collections.abc import Iterator
from pathlib import Path
from typing import Annotated

import typer


def main(
    treebank: Path,
    output: Path,
    sentences: Annotated[int, typer.Option(help="Sentences of a text, at most.")] = 5,
) -> None:
    """Write JSON lines with `text`."""
    output.parent.mkdir(parents=True, exist_ok=True)
    lines = [json.dumps({"text": text}) for text in texts(treebank, sentences)]
    output.write_text("\n".join(lines) + "\n", encoding="utf8")


def texts(treebank: Path, sentences: int) -> Iterator[str]:
    """Join the sentences of a document, so many at a time."""
    part: list[str] = []
    with treebank.open(encoding="utf8") as lines:
        for line in lines:
            ends = line.startswith("# newdoc") or len(part) == sentences
            if ends and part:
                yield " ".join(part)
                part = []
            if line.startswith("# text = "):
                part.append(line.removeprefix("# text = ").strip())
    if part:
        yield " ".join(part)


if __name__ == "__main__":
    typer.run(main)
