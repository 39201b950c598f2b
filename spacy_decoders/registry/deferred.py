"""Registered functions that are imported only when they are called or inspected."""

from functools import cached_property
from importlib import import_module
from inspect import Signature, signature
from typing import Any

__all__ = ["Deferred"]


class Deferred:
    """A function or class of this package that a registry can hold without importing it.

    Listing a registry thus does not import numba. Arguments, types and defaults are stated by the
    function or class alone.

    Parameters
    ----------
    target
        Its module within the package, a colon, and its name.

    Examples
    --------
    >>> build = Deferred("decoders.chain:Beam")
    >>> build(width=2)
    Beam(width=2)
    >>> build.__signature__.parameters["width"].annotation
    <class 'int'>
    """

    def __init__(self, target: str) -> None:
        self.home, self.__name__ = target.split(":")

    def __repr__(self) -> str:
        return f"Deferred({self.home}:{self.__name__})"

    def __call__(self, *given: Any, **options: Any) -> Any:
        return self._target(*given, **options)

    @property
    def __signature__(self) -> Signature:
        """The target's, with types instead of names that only its module can resolve."""
        return signature(self._target, eval_str=True)

    @cached_property
    def _target(self) -> Any:
        module = import_module(f"spacy_decoders.{self.home}")
        return getattr(module, self.__name__)
