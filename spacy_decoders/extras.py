"""Importing optional libraries only where they are used, with errors that name their extra."""

from importlib import import_module
from typing import Any

from .errors import ProblemError

__all__ = ["needed"]


def needed(module: str, extra: str, argument: str = "") -> Any:
    """Import a module of a library that an extra of this package installs.

    Raises `ProblemError`, with the argument that asks for it, if it is not installed.

    Examples
    --------
    >>> needed("json", "transformers").dumps([1])
    '[1]'
    >>> needed("no_such_library", "parquet", "format")
    Traceback (most recent call last):
    spacy_decoders.errors.ProblemError: format: no_such_library is not installed; it comes with the
    extra 'parquet': pip install "spacy-decoders[parquet]".
    """
    try:
        return import_module(module)
    except ModuleNotFoundError as error:
        library = module.split(".")[0]
        if error.name is None or library != error.name.split(".")[0]:
            raise
        asked = f"{argument}: " if argument else ""
        raise ProblemError(
            f"{asked}{library} is not installed; it comes with the extra {extra!r}: "
            f'pip install "spacy-decoders[{extra}]".'
        ) from error
