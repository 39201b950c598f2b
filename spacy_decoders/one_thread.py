"""Products of matrices on one thread, however many cores there are.

numpy's library shares even small products among all cores, and its threads wait for each other.
Where other processes keep the cores busy, as with ``n_process``, that takes many times as long as
one thread does.
"""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from functools import cache
from threading import RLock
from typing import Any

__all__ = ["one_thread"]

#: Held within the limit: threads that set and restored it in turns would leave another's setting.
#: Set from a thread that is not the main one, OpenBLAS may ignore it: products are slower then,
#: not wrong.
_LOCK = RLock()


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
    with _LOCK, _libraries().limit(limits=1):
        yield


@cache
def _libraries() -> Any:
    """Return the libraries of products that are loaded: numpy's, and scipy's if it is."""
    import numpy as np  # noqa: F401  # its library is looked for among those that are loaded
    from threadpoolctl import ThreadpoolController

    return ThreadpoolController().select(user_api="blas")
