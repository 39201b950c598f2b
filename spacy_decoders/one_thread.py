"""Products of matrices on one thread, however many cores there are.

numpy's library shares even small products among all cores, and its threads wait for each other.
Where other processes keep the cores busy, as with ``n_process``, that takes many times as long as
one thread does.
"""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from functools import cache
from typing import Any

__all__ = ["one_thread"]


@contextmanager
def one_thread() -> Iterator[None]:
    """Keep numpy's products on the calling thread, within a ``with`` block or a function.

    The setting is the process's: where several threads are inside, the last one restores what it
    found, which may be 1.

    Examples
    --------
    >>> import numpy as np
    >>> with one_thread():
    ...     np.ones((2, 2), dtype="f") @ np.ones(2, dtype="f")
    array([2., 2.], dtype=float32)
    """
    with _libraries().limit(limits=1, user_api="blas"):
        yield


@cache
def _libraries() -> Any:
    from threadpoolctl import ThreadpoolController

    return ThreadpoolController()
