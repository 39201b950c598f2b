"""Names of a package that are imported on first use, so that listing them compiles nothing."""

import ast
import sys
from collections.abc import Callable
from functools import cache
from importlib import import_module
from inspect import getsource
from typing import Any

__all__ = ["lazy_names"]


def lazy_names(package: str) -> tuple[Callable[[str], Any], Callable[[], list[str]]]:
    """Return ``__getattr__`` and ``__dir__`` for a package's ``__init__``.

    The names are those that its source imports under ``if TYPE_CHECKING:``. Each is imported when
    it is first used; ``__all__``, unless it is stated, lists them.
    """

    @cache
    def homes() -> dict[str, str]:
        lines = ast.parse(getsource(sys.modules[package])).body
        blocks = [line.body for line in lines if isinstance(line, ast.If)]
        return {
            name.name: "." * given.level + (given.module or "")
            for block in blocks
            for given in block
            if isinstance(given, ast.ImportFrom)
            for name in given.names
        }

    def get(name: str) -> Any:
        if name == "__all__":
            return sorted(homes())
        # the import system and inspect ask for other special names
        if name.startswith("__") or name not in homes():
            raise AttributeError(f"module {package!r} has no attribute {name!r}")
        found = getattr(import_module(homes()[name], package), name)
        setattr(sys.modules[package], name, found)  # next time, this function is not called
        return found

    return get, lambda: list(sys.modules[package].__all__)
