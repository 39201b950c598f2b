"""Worker processes that end with the one that started them."""

import multiprocessing
import os
import signal
from concurrent.futures import Future, ProcessPoolExecutor
from threading import Thread
from typing import Any

__all__ = ["spawned_pool"]


def spawned_pool(workers: int) -> ProcessPoolExecutor:
    """Return a pool of spawned processes: forked ones would inherit locks but no threads.

    They end without a word by Ctrl-C, which the terminal sends to them, too.
    """
    return _Pool(workers, multiprocessing.get_context("spawn"), initializer=_end_with_parent)


class _Pool(ProcessPoolExecutor):
    def submit(self, *call: Any, **arguments: Any) -> Future[Any]:
        """Submit a call; a process started for it gets interrupts once it is ready to end."""
        if os.name == "nt":
            return super().submit(*call, **arguments)
        before = signal.pthread_sigmask(signal.SIG_BLOCK, [signal.SIGINT])
        try:
            return super().submit(*call, **arguments)
        finally:
            signal.pthread_sigmask(signal.SIG_SETMASK, before)


def _end_with_parent() -> None:
    """End this process when its parent is interrupted or ends, even if that was killed."""
    signal.signal(signal.SIGINT, signal.SIG_DFL)
    if os.name != "nt":
        signal.pthread_sigmask(signal.SIG_UNBLOCK, [signal.SIGINT])

    def wait() -> None:
        parent = multiprocessing.parent_process()
        if parent is not None:
            parent.join()
            os._exit(1)

    Thread(target=wait, daemon=True).start()
