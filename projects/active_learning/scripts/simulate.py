"""Simulate annotation, and print what each choice of texts reaches."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Annotated

import typer
from simulation import RANDOM, simulate
from spacy import util


def main(
    config: Path,
    pool: Path,
    dev: Path,
    output: Path,
    measures: Annotated[str, typer.Option(help="What sentences are chosen by.")] = "share",
    epochs: Annotated[int, typer.Option(help="Passes over what was annotated.")] = 5,
) -> None:
    """Write for each measure what the rounds scored, in shares of the score of all data."""
    overrides = {"paths.train": str(pool), "paths.dev": str(dev)}
    filled = util.load_config(config, overrides=overrides, interpolate=True)
    readers = util.registry.resolve(filled["corpora"])
    given = {"pool": readers["train"], "dev": readers["dev"], "epochs": epochs}
    [full] = simulate(filled, by=RANDOM, shares=[1.0], **given)
    report = {"full": full._asdict()}
    print(f"all: F {full.score:.3f}, {full.words:,} words", flush=True)
    for by in [RANDOM, *measures.split()]:
        report[by] = []
        for of in simulate(filled, by=by, **given):
            reached = of.score / full.score if full.score else 0.0
            report[by].append({**of._asdict(), "of_full": reached})
            print(
                f"{by}, {of.share:.0%} of the words: F {of.score:.3f}, {reached:.1%}", flush=True
            )
    output.parent.mkdir(parents=True, exist_ok=True)
    output.write_text(json.dumps(report, indent=1) + "\n", encoding="utf8")


if __name__ == "__main__":
    typer.run(main)
