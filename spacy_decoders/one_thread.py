"""Products of matrices on one thread, however many cores there are.

numpy's library shares even small products among all cores, and its threads wait for each other.
Where other processes keep the cores busy, as with ``n_process``, that takes many times as long as
one thread does.
"""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import ExitStack, contextmanager
from functools import cache
from threading import Lock

__all__ = ["one_thread"]

#: The first thread that comes in changes the setting, and the last that leaves restores it. Set
#: from a thread that is not the main one, OpenBLAS may ignore it: products are slower then, not
#: wrong.
_LOCK = Lock()
_INSIDE: list[ExitStack] = []


@contextmanager
def one_thread() -> Iterator[None]:
    """Keep numpy's products on the calling thread, within a ``with`` block or a function.

    Examples
    --------
    >>> import numpy as np
    >>> with one_thread():
    ...     np.ones((2, 2), dtype="f") @ np.ones(2, dtype="f")
    array([2., 2.], dtype=float32)
    """
    with _LOCK:
        setting = ExitStack() if not _INSIDE else _INSIDE[0]
        if not _INSIDE:
            setting.enter_context(_libraries().limit(1))
        _INSIDE.append(setting)
    try:
        yield
    finally:
        with _LOCK:
            _INSIDE.pop()
            if not _INSIDE:
                setting.close()


class _Libraries:
    """The libraries of products that are loaded: those of numpy, and of scipy if it is."""

    def __init__(self) -> None:
        import numpy as np  # noqa: F401  # its library is looked for among those that are loaded
        from threadpoolctl import ThreadpoolController

        self._found = ThreadpoolController().select(user_api="blas").lib_controllers

    @contextmanager
    def limit(self, threads: int) -> Iterator[None]:
        """Let each use so many threads; a fraction of the time of threadpoolctl's own limit."""
        before = [(library, library.get_num_threads()) for library in self._found]
        changed = [(library, given) for library, given in before if given != threads]
        for library, _ in changed:
            library.set_num_threads(threads)
        try:
            yield
        finally:
            for library, given in changed:
                library.set_num_threads(given)


@cache
def _libraries() -> _Libraries:
    return _Libraries()
