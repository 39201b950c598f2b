"""Importing other libraries only where they are used, and saying which extra brings them."""

from __future__ import annotations

from importlib import import_module
from typing import Any

from ..errors import DecodersError

__all__ = ["needed"]


def needed(module: str, extra: str) -> Any:
    """Import a module of another library.

    Parameters
    ----------
    module
        Its dotted name.
    extra
        The extra of this package that installs it.

    Raises
    ------
    DecodersError
        If it is not installed.

    Examples
    --------
    >>> needed("json", "transformers").dumps([1])
    '[1]'
    >>> needed("no_such_library", "transformers")
    Traceback (most recent call last):
    spacy_decoders.errors.DecodersError: no_such_library is not installed; it comes with the extra
    'transformers': pip install "spacy-decoders[transformers]".
    """
    try:
        return import_module(module)
    except ModuleNotFoundError as error:
        if error.name is None or module.split(".")[0] != error.name.split(".")[0]:
            raise
        raise DecodersError(
            f"{module} is not installed; it comes with the extra {extra!r}: "
            f'pip install "spacy-decoders[{extra}]".'
        ) from error
