"""Names of a package that load on first use, so that listing or naming them compiles nothing."""

from __future__ import annotations

import sys
from collections.abc import Callable, Mapping
from importlib import import_module
from typing import Any

__all__ = ["lazy_names"]


def lazy_names(
    package: str, homes: Mapping[str, str]
) -> tuple[Callable[[str], Any], Callable[[], list[str]]]:
    """Return ``__getattr__`` and ``__dir__`` for a package's ``__init__``.

    Parameters
    ----------
    package
        Its ``__name__``.
    homes
        The module, relative to the package, in which each public name stands.
    """

    def get(name: str) -> Any:
        if name not in homes:
            raise AttributeError(f"module {package!r} has no attribute {name!r}")
        found = getattr(import_module(f".{homes[name]}", package), name)
        setattr(sys.modules[package], name, found)  # the next time this function is not asked
        return found

    return get, lambda: sorted(homes)
