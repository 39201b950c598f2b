"""How a name is written: small letters, capitals, or both."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
from numpy.typing import NDArray

__all__ = ["CASES", "letter_case", "letter_cases"]

#: The ways of writing that are told apart.
CASES = ("lower", "capitalised", "upper", "mixed")


def letter_case(text: str) -> int:
    """The place in `CASES` of how a text is written.

    Examples
    --------
    >>> [CASES[letter_case(name)] for name in ("mercury", "Mercury", "NASA", "iPod", "A", "42")]
    ['lower', 'capitalised', 'upper', 'mixed', 'capitalised', 'lower']
    """
    if text.islower():
        return 0
    if text.isupper():
        # a single capital begins a name rather than spells it out
        return 2 if sum(map(str.isupper, text)) > 1 else 1
    for character in text:
        if character.isupper() or character.istitle():
            return 1
        if character.islower():
            return 3
    return 0


def letter_cases(texts: Sequence[str]) -> NDArray[np.int64]:
    """As `letter_case`, of many. **Shape:** ``(texts,)``"""
    size = len(texts)
    lower, upper, title = (
        np.fromiter(map(told, texts), np.bool_, size)
        for told in (str.islower, str.isupper, str.istitle)
    )
    cases = np.where(title & ~upper, 1, 0)
    for i in np.flatnonzero(~lower & (cases == 0)).tolist():
        cases[i] = letter_case(texts[i])
    return cases
