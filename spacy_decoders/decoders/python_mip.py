"""python-mip, made safe against the garbage collector."""

from __future__ import annotations

import gc
import importlib
from functools import cache
from typing import Any

__all__ = ["python_mip"]

#: By solver: python-mip's module, its C library, and what frees a model that got lost.
DESTRUCTORS = {
    "CBC": ("mip.cbc", "cbclib", "Cbc_deleteModel"),
    "HIGHS": ("mip.highs", "highslib", "Highs_destroy"),
}


@cache
def python_mip(solver: str) -> Any:
    """Import python-mip so that freeing a lost model can't stop the process for ever.

    A function of a C library is looked up at its first use, under a lock of cffi that the
    thread which holds it can't take again. If the garbage collector runs just then and finds
    a model to free, and none has been freed before, the model's destructor waits for that
    lock for ever. So the destructor is looked up here, once, while nothing is collected.

    Parameters
    ----------
    solver
        ``"CBC"`` or ``"HIGHS"``.

    Raises
    ------
    ImportError
        If python-mip is not installed.
    """
    import mip

    module, library, destructor = DESTRUCTORS[solver]
    collecting = gc.isenabled()
    gc.disable()
    try:
        # where python-mip has not found the library, making a model says so
        getattr(getattr(importlib.import_module(module), library, None), destructor, None)
    finally:
        if collecting:
            gc.enable()
    return mip
