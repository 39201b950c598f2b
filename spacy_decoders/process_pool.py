"""Worker processes that end with the one that started them."""

import multiprocessing
import os
from concurrent.futures import ProcessPoolExecutor
from threading import Thread

__all__ = ["spawned_pool"]


def spawned_pool(workers: int) -> ProcessPoolExecutor:
    """Return a pool of spawned processes: forked ones would inherit locks but no threads."""
    context = multiprocessing.get_context("spawn")
    return ProcessPoolExecutor(workers, context, initializer=_end_with_parent)


def _end_with_parent() -> None:
    """End this process when its parent ends, even if the parent was killed."""

    def wait() -> None:
        parent = multiprocessing.parent_process()
        if parent is not None:
            parent.join()
            os._exit(1)

    Thread(target=wait, daemon=True).start()
