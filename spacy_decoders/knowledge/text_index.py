"""Finding concepts by the words of their title, aliases and text: BM25 with weighted fields."""

from __future__ import annotations

import re
from math import isfinite

import numpy as np
from numpy.typing import NDArray

from .database import Database

__all__ = ["TextIndex"]

#: Weights of title, aliases and text. A word of the title says the most.
_WEIGHTS = (4.0, 2.0, 1.0)


class TextIndex:
    """The full-text index of a base, on SQLite's FTS5.

    Parameters
    ----------
    database
        The file of the base.

    Notes
    -----
    The candidate retrieval of Blanco, Boldi and Marino (2014, section 4), who rank with
    BM25F; FTS5's ``bm25`` with column weights is its close relative.
    """

    def __init__(self, database: Database) -> None:
        self.database = database

    def find(self, text: str, limit: int) -> tuple[NDArray[np.int32], NDArray[np.float32]]:
        """Find the concepts that share words with a text.

        Returns
        -------
        concepts, scores
            At most `limit` concept numbers, best first, and their scores, higher is better.
            Equal scores are ordered by a hash of the concept.
        """
        words = re.findall(r"\w+", text)
        if not words or limit < 1:
            return np.empty(0, np.int32), np.empty(0, np.float32)
        rows = self.database.ask(
            "SELECT rowid, -bm25(search, ?, ?, ?) AS score FROM search WHERE search MATCH ? "
            "ORDER BY score DESC, ((rowid + 1) * 2654435761) % 4294967296 LIMIT ?",
            *_WEIGHTS,
            " OR ".join(f'"{word}"' for word in dict.fromkeys(words)),
            limit,
        )
        size = self.database.size
        if not all(0 <= concept < size and isfinite(score) for concept, score in rows):
            raise self.database.damaged("its index names a concept that there is not")
        return (
            np.array([concept for concept, _ in rows], np.int32),
            np.array([score for _, score in rows], np.float32),
        )
