"""Files of word vectors in the format of word2vec and GloVe."""

from __future__ import annotations

from pathlib import Path

import numpy as np
from numpy.typing import NDArray

from ...errors import ProblemError
from ...readers.text_lines import text_lines

__all__ = ["read_vectors"]


def read_vectors(path: Path, most: int | None = None) -> tuple[list[str], NDArray[np.float32]]:
    """Read words and their vectors: on each line a word and its numbers, apart by blanks.

    A first line of two numbers, as word2vec writes it, is left out. Of a word that stands twice
    the first vector counts.

    Parameters
    ----------
    path
        The file, plain or gzipped.
    most
        So many words at most, from the beginning; None for all.

    Returns
    -------
    words, vectors
        The latter of **shape (words, width)**.

    Raises
    ------
    ProblemError
        If a line has no word and as many finite numbers as the first one, or there is no line.
    """
    found: dict[str, NDArray[np.float32]] = {}
    width = 0
    for number, line in enumerate(text_lines(path), start=1):
        word, *numbers = line.rstrip().split(" ")
        if number == 1 and len(numbers) == 1:
            continue
        if len(found) == most:
            break
        try:
            vector = np.array(numbers, dtype=np.float32)
        except ValueError:
            vector = np.zeros(0, dtype=np.float32)
        width = width or len(vector)
        if not len(vector) or len(vector) != width or not np.isfinite(vector).all():
            raise ProblemError(
                f"{path.name}, line {number}: expected a word and {width or 'its'} "
                f"numbers, all finite and apart by blanks; got {line.strip()!r:.60}."
            )
        found.setdefault(word, vector)
    if not found:
        raise ProblemError(f"{path.name}: there are no vectors in it.")
    return list(found), np.array(list(found.values()))
