"""Products of matrices on one thread, however many cores there are.

numpy's library shares even small products among all cores, and its threads wait for each other.
Where other processes keep the cores busy, as with ``n_process``, that takes many times as long as
one thread does.
"""

import os
from collections.abc import Iterator
from contextlib import contextmanager
from functools import cache
from threading import RLock
from typing import Any

__all__ = ["one_thread"]

#: Threads compute in turns. Decoding is a thousand short kernels: threads that run at once wait
#: for the interpreter's lock after each of them, and eight take half as long again as one. If they
#: set and restored the limit at once, they would leave another's setting, too. From a thread that
#: is not the main one, OpenBLAS may ignore it: products are slower then, not wrong.
TURN = RLock()


if hasattr(os, "register_at_fork"):
    # a process is forked between turns: it has none of the threads that would give back a lock
    os.register_at_fork(
        before=TURN.acquire, after_in_parent=TURN.release, after_in_child=TURN.release
    )


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
    with TURN:
        libraries = _libraries()
        # threadpoolctl's own limit takes ten times as long: it asks for versions and more
        counts = [library.get_num_threads() for library in libraries]
        try:
            for library in libraries:
                library.set_num_threads(1)
            yield
        finally:
            for library, count in zip(libraries, counts, strict=True):
                library.set_num_threads(count)
                # versions that let one thread alone set it would go on to
                getattr(library, "clear_controlling_thread", bool)()


@cache
def _libraries() -> list[Any]:
    """Return the libraries of products that are loaded: numpy's, and scipy's if it is."""
    import numpy as np  # noqa: F401  # its library is looked for among those that are loaded
    from threadpoolctl import ThreadpoolController

    return list(ThreadpoolController().select(user_api="blas").lib_controllers)
