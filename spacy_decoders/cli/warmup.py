"""Compiling everything once: every registered decoder, and every component at work."""

from __future__ import annotations

import os
import warnings
from concurrent.futures import as_completed
from functools import partial
from time import perf_counter
from typing import Annotated

import typer
from tqdm import tqdm

from ..process_pool import spawned_pool
from .arguments import CONSOLE
from .warmup_tasks import CORES, WHOLE, parts_of, run_part, tasks_of

__all__ = ["warmup"]


def warmup(
    pipeline: Annotated[
        str,
        typer.Option(
            help="Compile what this pipeline needs, a folder or a name; en for the shipped one."
        ),
    ] = "",
) -> None:
    """Compile all decoders once, or what a pipeline needs, so that no later run has to."""
    started = perf_counter()
    rounds = [parts_of(pipeline), [WHOLE]] if pipeline else [list(CORES)]
    outcomes: dict[str, str] = {}
    with spawned_pool(os.cpu_count() or 1) as pool:
        for groups in rounds:
            running = {pool.submit(_run, group, pipeline): group for group in groups}
            ended = as_completed(running)
            for future in tqdm(ended, "compiling", len(running), unit="part", leave=False):
                try:
                    outcomes |= future.result()
                except Exception as error:  # the process itself ended
                    outcomes[running[future]] = _reason(error)
    failures = {name: reason for name, reason in outcomes.items() if reason}
    for name, reason in failures.items():
        CONSOLE.print(f"[red]failed[/red] {name}: {reason}")
    CONSOLE.print(
        f"{len(outcomes) - len(failures)} of {len(outcomes)} are compiled and ready "
        f"({perf_counter() - started:.1f} s)."
    )
    raise typer.Exit(len(failures))


def _run(group: str, pipeline: str) -> dict[str, str]:
    """Run the tasks of a core or a pipeline's part; say of each why it failed, if it did."""
    tasks = {group: partial(run_part, pipeline, group)} if pipeline else tasks_of(group)
    outcomes = {}
    for name, task in tasks.items():
        try:
            with warnings.catch_warnings():
                # of how little the two made-up examples teach: no user can do anything about it
                warnings.simplefilter("ignore", UserWarning)
                task()
            outcomes[name] = ""
        except Exception as error:
            outcomes[name] = _reason(error)
    return outcomes


def _reason(error: Exception) -> str:
    return f"{type(error).__name__}: {error}"
