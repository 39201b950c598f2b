"""Worker processes that end with the one that started them."""

import multiprocessing
import os
import signal
from concurrent.futures import ProcessPoolExecutor
from multiprocessing.context import SpawnContext, SpawnProcess
from threading import Thread

__all__ = ["spawned_pool"]


def spawned_pool(workers: int) -> ProcessPoolExecutor:
    """Return a pool of spawned processes: forked ones would inherit locks but no threads.

    They end without a word by Ctrl-C, which the terminal sends to them, too.
    """
    return ProcessPoolExecutor(workers, _Context(), initializer=_end_with_parent)


class _Process(SpawnProcess):
    def start(self) -> None:
        """Start a process that gets an interrupt once it is ready to end by it."""
        try:
            _hold_interrupts(True)
            super().start()
        finally:
            _hold_interrupts(False)


class _Context(SpawnContext):
    Process = _Process


def _hold_interrupts(held: bool) -> None:
    if os.name != "nt":
        how = signal.SIG_BLOCK if held else signal.SIG_UNBLOCK
        signal.pthread_sigmask(how, [signal.SIGINT])


def _end_with_parent() -> None:
    """End this process when its parent is interrupted or ends, even if that was killed."""
    signal.signal(signal.SIGINT, signal.SIG_DFL)
    _hold_interrupts(False)

    def wait() -> None:
        parent = multiprocessing.parent_process()
        if parent is not None:
            parent.join()
            os._exit(1)

    Thread(target=wait, daemon=True).start()
