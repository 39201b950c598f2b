"""Tasks over processes or a Dask cluster; each leaves its result in a file."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from concurrent.futures import as_completed
from typing import Any, TypeVar

from ...errors import ProblemError
from ...extras import needed
from ...process_pool import spawned_pool

__all__ = ["spread"]

Task = TypeVar("Task")
Result = TypeVar("Result")


def spread(
    function: Callable[[Task], Result],
    tasks: Sequence[Task],
    workers: int = 1,
    scheduler: str | None = None,
) -> Iterator[Result]:
    """Apply a function to all tasks, in any order.

    Parameters
    ----------
    function
        A function at the top of a module.
    tasks
        What it is called with.
    workers
        Processes; 1 for this one.
    scheduler
        The address of a Dask scheduler whose workers see the same files.

    Raises
    ------
    ProblemError
        If there are no workers, or Dask is not installed.
    """
    if workers < 1:
        raise ProblemError(f"workers: expected at least 1, got {workers}.")
    if scheduler is not None:
        yield from _on_cluster(function, tasks, scheduler)
    elif workers == 1 or len(tasks) < 2:
        yield from map(function, tasks)
    else:
        with spawned_pool(workers) as pool:
            running = [pool.submit(function, task) for task in tasks]
            try:
                for future in as_completed(running):
                    yield future.result()
            finally:
                for future in running:
                    future.cancel()


def _on_cluster(
    function: Callable[[Task], Result], tasks: Sequence[Task], scheduler: str
) -> Iterator[Result]:
    distributed = needed("distributed", "distributed", "scheduler")
    with distributed.Client(scheduler) as client:
        # not pure: the result is a file, which Dask must not take for done
        running: list[Any] = [
            client.submit(function, task, pure=False, retries=2) for task in tasks
        ]
        for future in distributed.as_completed(running):
            yield future.result()
            future.release()
