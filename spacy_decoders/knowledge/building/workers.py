"""Tasks over processes or a Dask cluster; each leaves its result in a file."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from concurrent.futures import as_completed
from typing import Any, TypeVar

from ...errors import ProblemError
from ...extras import needed
from ...process_pool import spawned_pool
from .stages import Build

__all__ = ["spread"]

Task = TypeVar("Task")
Result = TypeVar("Result")


def spread(
    build: Build, function: Callable[[Task], Result], tasks: Sequence[Task]
) -> Iterator[Result]:
    """Apply a function from the top of a module to all tasks, in any order.

    Raises
    ------
    ProblemError
        If there are no workers, or Dask is not installed.
    """
    if build.workers < 1:
        raise ProblemError(f"workers: expected at least 1, got {build.workers}.")
    if build.scheduler is not None:
        yield from _on_cluster(function, tasks, build.scheduler)
    elif build.workers == 1 or len(tasks) < 2:
        yield from map(function, tasks)
    else:
        with spawned_pool(build.workers) as pool:
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
