"""Processes of our own, which end with the one that started them."""

import multiprocessing
import os
from concurrent.futures import ProcessPoolExecutor
from threading import Thread

__all__ = ["spawned_pool"]


def spawned_pool(workers: int) -> ProcessPoolExecutor:
    """Return a pool of spawned processes: a fork would inherit threads and locks."""
    context = multiprocessing.get_context("spawn")
    return ProcessPoolExecutor(workers, context, initializer=_end_with_parent)


def _end_with_parent() -> None:
    """Let this process end when its parent does, even if the parent was killed."""

    def wait() -> None:
        parent = multiprocessing.parent_process()
        if parent is not None:
            parent.join()
            os._exit(1)

    Thread(target=wait, daemon=True).start()
