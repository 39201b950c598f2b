"""The features of tokens as numbers: computed once, decoded as often as wanted."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from itertools import pairwise
from typing import Any

import numpy as np
from numpy.typing import NDArray

from ...errors import ProblemError

__all__ = ["EncodedItems", "attributes_of"]

#: What stands between the parts of an attribute's name.
SEPARATOR = ":"


@dataclass(frozen=True, eq=False)
class EncodedItems:
    """The known attributes of all tokens of several sequences, end to end."""

    #: **Shape (attributes,)**, int32 and float64: which, and how much it counts.
    numbers: NDArray[np.int32]
    values: NDArray[np.float64]
    #: **Shape (tokens + 1,)**, int64: token t has ``numbers[tokens[t]:tokens[t + 1]]``.
    tokens: NDArray[np.int64]
    #: **Shape (sequences + 1,)**, int64: sequence s has the tokens
    #: ``offsets[s]:offsets[s + 1]``.
    offsets: NDArray[np.int64]

    @classmethod
    def of(cls, sequences: Iterable[Any], known: Mapping[str, int]) -> EncodedItems:
        """Look up the attributes of sequences; unknown ones are left out, as by CRFsuite.

        Each is a list of tokens as :func:`attributes_of` takes them, or a
        ``pycrfsuite.ItemSequence``.
        """
        numbers: list[int] = []
        values: list[float] = []
        tokens, offsets = [0], [0]
        find = known.get
        for sequence in sequences:
            items = sequence.items() if hasattr(sequence, "items") else sequence
            for item in items:
                for attribute, value in attributes_of(item):
                    number = find(attribute)
                    if number is not None:
                        numbers.append(number)
                        values.append(value)
                tokens.append(len(numbers))
            offsets.append(len(tokens) - 1)
        return cls(
            np.array(numbers, dtype=np.int32),
            np.array(values, dtype=np.float64),
            np.array(tokens, dtype=np.int64),
            np.array(offsets, dtype=np.int64),
        )

    def __len__(self) -> int:
        return len(self.offsets) - 1

    def part(self, first: int, last: int) -> EncodedItems:
        """Return the sequences from `first` to the one before `last`."""
        begin, stop = self.offsets[first], self.offsets[last]
        low, high = self.tokens[begin], self.tokens[stop]
        return EncodedItems(
            self.numbers[low:high],
            self.values[low:high],
            self.tokens[begin : stop + 1] - low,
            self.offsets[first : last + 1] - begin,
        )

    def chunks(self, size: int) -> Iterator[EncodedItems]:
        """Part the sequences into runs of about `size` tokens."""
        if len(self.tokens) <= size:
            yield self
            return
        marks = np.searchsorted(self.offsets, np.arange(size, self.offsets[-1], size))
        for first, last in pairwise([0, *np.unique(marks[marks < len(self)]).tolist(), len(self)]):
            if first < last:
                yield self.part(first, last)


def attributes_of(item: Any) -> Iterator[tuple[str, float]]:
    """Yield the attributes of one token and their values, as ``python-crfsuite`` reads them.

    Parameters
    ----------
    item
        A list of attributes; or a dict from attributes to numbers, to bools, to a string (``a``
        with ``"b"`` is the attribute ``a:b``), to several strings, or to a dict of the like.

    Raises
    ------
    ProblemError
        If a value is something else.

    Examples
    --------
    >>> list(attributes_of({"word": "Main", "next": {"digits": True}, "length": 4}))
    [('word:Main', 1.0), ('next:digits', 1.0), ('length', 4.0)]
    """
    if not isinstance(item, Mapping):
        for name in item:
            yield _text(name), 1.0
        return
    for key, value in item.items():
        name = _text(key)
        if isinstance(value, (str, bytes)):
            yield name + SEPARATOR + _text(value), 1.0
        elif isinstance(value, (bool, int, float, np.number, np.bool_)):
            yield name, float(value)
        elif isinstance(value, (Mapping, Sequence, set, frozenset)):
            for inner, amount in attributes_of(value):
                yield name + SEPARATOR + inner, amount
        else:
            raise ProblemError(
                f"items: the attribute {name!r} has a value of type {type(value).__name__}; "
                "expected a number, a string, several strings or a dict."
            )


def _text(name: Any) -> str:
    return name.decode("utf8") if isinstance(name, bytes) else str(name)
