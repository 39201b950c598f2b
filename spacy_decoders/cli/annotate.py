"""Annotating a corpus from the command line."""

from __future__ import annotations

import errno

from rich.console import Console

from ..annotate import Job, annotate
from ..errors import ProblemError
from .wording import counted

__all__ = ["annotate_corpus"]


def annotate_corpus(job: Job, *, workers: int, scheduler: str | None) -> int:
    """Run a job and say what came of it; returns 1 if a document failed, else 0."""
    try:
        summary = annotate(job, workers=workers, scheduler=scheduler)
    except OSError as error:
        if error.errno not in (errno.ENOSPC, errno.EDQUOT):
            raise
        raise ProblemError(
            f"output: {error.filename}: {error.strerror}. Make room and give the same command "
            "again: what is done stays done."
        ) from error
    console = Console(highlight=False, soft_wrap=True)
    certified = "" if summary.certified is None else f", {summary.certified:.1%} proven optimal"
    if summary.pruned:
        certified += f", {summary.certified_pruned:.1%} the best among the candidates kept"
    console.print(
        f"{counted(summary.written, 'document')} in {counted(summary.shards, 'file')} under "
        f"{job.output}{certified}."
    )
    if summary.resumed:
        console.print(f"There from an earlier run: {counted(summary.resumed, 'file')}.")
    if summary.failed:
        console.print(
            f"[yellow]{summary.failed:,} failed: see {job.output / 'errors.jsonl'}[/yellow]"
        )
    return int(summary.failed > 0)
