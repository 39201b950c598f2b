"""Lists whose items are created on first access."""

from __future__ import annotations

from collections.abc import Callable
from functools import wraps
from threading import Lock
from typing import Any, Generic, TypeVar

__all__ = ["LazyList"]

Item = TypeVar("Item")


class LazyList(list[Item], Generic[Item]):
    """A list that knows its length, and makes its items when one of them is asked for.

    For batches that are decoded in less time than it takes to create the objects that describe
    them: callers that need no objects use the arrays of the derived class.
    """

    def __init__(self, size: int) -> None:
        super().__init__()
        self._size = size
        self._made = False
        self._publishing = Lock()

    def _items(self) -> list[Item]:
        """Create all items."""
        raise NotImplementedError(f"{type(self).__name__} must implement _items().")

    def made(self) -> list[Item]:
        """Create all items unless they exist; return this list itself.

        Several threads may create them at once; the items of one are kept, and published before
        any thread sees that they exist.
        """
        if not self._made:
            items = self._items()
            with self._publishing:
                if not self._made:
                    super().extend(items)
                    self._made = True
        return self

    def __len__(self) -> int:
        return super().__len__() if self._made else self._size

    def __radd__(self, before: list[Any]) -> list[Any]:
        return [*before, *self]

    def __reduce__(self) -> tuple[Any, ...]:
        return list, (list(self),)


def _of_made(name: str) -> Callable[..., Any]:
    """Return a list method that creates the items first."""
    method = getattr(list, name)

    @wraps(method)
    def call(self: LazyList[Any], *given: Any, **named: Any) -> Any:
        return method(self.made(), *given, **named)

    return call


for _name in (
    *("__getitem__", "__iter__", "__reversed__", "__contains__", "__eq__", "__ne__", "__lt__"),
    *("__le__", "__gt__", "__ge__", "__add__", "__iadd__", "__mul__", "__rmul__", "__imul__"),
    *("__setitem__", "__delitem__", "__repr__", "append", "clear", "copy", "count", "extend"),
    *("index", "insert", "pop", "remove", "reverse", "sort"),
):
    setattr(LazyList, _name, _of_made(_name))
