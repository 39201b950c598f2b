"""Annotating a corpus from the command line."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from ..annotate import Job, annotate
from .arguments import CONSOLE, TextField, counted

__all__ = ["annotate_corpus"]


def annotate_corpus(
    source: Annotated[
        Path, typer.Argument(help="A file or folder: .spacy, .jsonl(.gz), .parquet, .txt.")
    ],
    output: Annotated[Path, typer.Argument(help="A folder; an unfinished one is resumed.")],
    model: Annotated[
        str, typer.Option(help="A pipeline; by default the one that is shipped.")
    ] = "",
    format: Annotated[str, typer.Option(help="spacy, jsonl or parquet.")] = "spacy",
    shard_size: Annotated[int, typer.Option(help="Records for each file.")] = 500,
    text_field: TextField = "text",
    workers: Annotated[int, typer.Option(help="Local processes.")] = 1,
    scheduler: Annotated[
        str | None, typer.Option(help="Address of a Dask scheduler (extra: distributed).")
    ] = None,
) -> None:
    """Annotate a corpus, in files that are written whole and resumed where it stopped."""
    job = Job(source, output, model, format, shard_size, text_field)  # type: ignore[arg-type]
    summary = annotate(job, workers=workers, scheduler=scheduler)
    certified = "" if summary.certified is None else f", {summary.certified:.1%} proven optimal"
    if summary.pruned:
        certified += f", {summary.certified_pruned:.1%} the best among the candidates kept"
    CONSOLE.print(
        f"{counted(summary.written, 'document')} in {counted(summary.shards, 'file')} under "
        f"{job.output}{certified}."
    )
    if summary.resumed:
        CONSOLE.print(f"There from an earlier run: {counted(summary.resumed, 'file')}.")
    if summary.failed:
        CONSOLE.print(
            f"[yellow]{summary.failed:,} failed: see {job.output / 'errors.jsonl'}[/yellow]"
        )
        raise typer.Exit(1)
