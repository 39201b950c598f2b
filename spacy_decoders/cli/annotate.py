"""Annotating a corpus from the command line."""

from __future__ import annotations

from rich.console import Console

from ..corpus import Job, annotate

__all__ = ["annotate_corpus"]


def annotate_corpus(job: Job, *, workers: int, scheduler: str | None) -> int:
    """Run a job and say what came of it; returns 1 if a document failed, else 0."""
    summary = annotate(job, workers=workers, scheduler=scheduler)
    console = Console(highlight=False, soft_wrap=True)
    certified = "" if summary.certified is None else f", {summary.certified:.1%} proven optimal"
    if summary.pruned:
        certified += f" ({summary.pruned:,} units among kept candidates)"
    console.print(
        f"{summary.written:,} documents in {summary.shards:,} files under {job.output}{certified}."
    )
    if summary.resumed:
        console.print(f"{summary.resumed:,} files were there from an earlier run.")
    if summary.failed:
        console.print(
            f"[yellow]{summary.failed:,} failed: see {job.output / 'errors.jsonl'}[/yellow]"
        )
    return int(summary.failed > 0)
