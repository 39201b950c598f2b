"""Factors: scored sets of arcs, the non-local parts of a parsing problem."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

from ...arrays import Immutable, checked_indices, checked_list, checked_scores, owned, read_only
from ...errors import ProblemError

__all__ = ["Factors"]


@dataclass(frozen=True, eq=False)
class Factors(Immutable):
    """Sets of arcs, each scored by the number of its arcs that are in the tree.

    A factor adds its score if the number of its arcs in the tree lies between `at_least` and
    `at_most`. By default both are the size of the set: all its arcs must be in the tree. An OR is
    "at least one", a valency of k is "exactly k of all arcs from the head": each is a single
    factor, whose indicator has simple linear bounds in the number of arcs, so that it need not
    be expanded into exponentially many products (section 5.1 of the paper gives the expansion).

    Parameters
    ----------
    arcs
        int32 (total, 2), rows (head, modifier) of all factors, concatenated. A repeated arc
        within one factor counts once.
    offsets
        int64 (count + 1,), factor `i` has the arcs ``arcs[offsets[i]:offsets[i + 1]]``. A factor
        without arcs is a constant.
    scores
        float64 (count,), finite or ``-inf`` (forbidden).
    at_least, at_most
        int32 (count,), the range of numbers of arcs that is scored; None for the size of each set.

    Raises
    ------
    ProblemError
        If shapes do not fit, offsets do not rise from 0 to the number of arcs, an arc points
        to the root or to its own head, or a range is empty or exceeds the number of arcs.

    References
    ----------
    Qian and Liu (2013), Branch and Bound Algorithm for Dependency Parsing with Non-local
    Features, sections 2.1 and 5.1.

    Examples
    --------
    >>> chain = Factors([(0, 2), (2, 1)], [0, 2], [1.5])
    >>> either = Factors.any_of([(2, 1), (2, 3)], -1.0)
    >>> both = chain + either
    >>> both.count, both.at_least.tolist(), both.at_most.tolist()
    (2, [2, 1], [2, 2])
    >>> both.paid([2, 0, 2]).tolist()
    [True, True]
    """

    arcs: NDArray[np.int32]
    offsets: NDArray[np.int64]
    scores: NDArray[np.float64]
    at_least: NDArray[np.int32]
    at_most: NDArray[np.int32]

    def __init__(
        self,
        arcs: ArrayLike,
        offsets: ArrayLike,
        scores: ArrayLike,
        at_least: ArrayLike | None = None,
        at_most: ArrayLike | None = None,
    ) -> None:
        pairs = checked_indices("factors.arcs", arcs, (None, 2), low=0)
        values = checked_scores("factors.scores", scores, (None,), dtype=np.float64)
        starts = checked_indices(
            "factors.offsets", offsets, (len(values) + 1,), low=0, dtype=np.int64
        )
        if starts[0] != 0 or starts[-1] != len(pairs) or (np.diff(starts) < 0).any():
            raise ProblemError(
                "factors.offsets: must rise from 0 to the number of arcs, "
                f"{len(pairs)}; got {starts[:8].tolist()} ... {int(starts[-1])}."
            )
        wrong = (pairs[:, 1] == 0) | (pairs[:, 0] == pairs[:, 1])
        if wrong.any():
            row = int(np.argmax(wrong))
            raise ProblemError(
                "factors.arcs: a row is (head, modifier), the modifier a token from 1 on and "
                f"not its own head; got {tuple(pairs[row].tolist())} in row {row}."
            )
        pairs, starts = _without_repeats(pairs, starts)
        sizes = np.diff(starts).astype(np.int32)
        low = high = sizes
        if at_least is not None:
            low = checked_indices("factors.at_least", at_least, sizes.shape, low=0)
        if at_most is not None:
            high = checked_indices("factors.at_most", at_most, sizes.shape, low=0)
        empty = (low > high) | (high > sizes)
        if empty.any():
            i = int(np.argmax(empty))
            raise ProblemError(
                "factors: at_least <= at_most <= number of distinct arcs must hold; got "
                f"{int(low[i])}, {int(high[i])}, {int(sizes[i])} for factor {i}."
            )
        fields: dict[str, tuple[NDArray[Any], ArrayLike | None]] = {
            "arcs": (pairs, arcs),
            "offsets": (starts, offsets),
            "scores": (values, scores),
            "at_least": (low, at_least),
            "at_most": (high, at_most),
        }
        for name, (value, given) in fields.items():
            object.__setattr__(self, name, owned(read_only(value), given))

    def __add__(self, other: Factors) -> Factors:
        """Concatenate two collections."""
        return Factors(
            np.concatenate([self.arcs, other.arcs]),
            np.concatenate([self.offsets, other.offsets[1:] + self.offsets[-1]]),
            np.concatenate([self.scores, other.scores]),
            np.concatenate([self.at_least, other.at_least]),
            np.concatenate([self.at_most, other.at_most]),
        )

    @property
    def count(self) -> int:
        """Number of factors."""
        return len(self.scores)

    def paid(self, heads: ArrayLike) -> NDArray[np.bool_]:
        """Return which factors add their score in a tree, bool (count,)."""
        tree = np.concatenate([[-1], np.asarray(heads, dtype=np.int64)])
        counts = self.numbers(tree[self.arcs[:, 1]] == self.arcs[:, 0])
        return (counts >= self.at_least) & (counts <= self.at_most)

    def numbers(self, present: NDArray[np.bool_]) -> NDArray[np.int64]:
        """Return how many arcs of each factor are present, (count,), given that of each arc."""
        # prefix sums, as reduceat is wrong for factors without arcs
        before = np.concatenate([[0], np.cumsum(present)])
        return before[self.offsets[1:]] - before[self.offsets[:-1]]

    @classmethod
    def empty(cls) -> Factors:
        """Return an empty collection."""
        return cls([], [0], [])

    @classmethod
    def of(cls, sets: Iterable[tuple[Iterable[tuple[int, int]], float]]) -> Factors:
        """Build from pairs of a set of (head, modifier) arcs and its score.

        Examples
        --------
        >>> Factors.of([([(0, 1), (1, 2)], 2.0), ([(1, 3)], -1.0)]).offsets.tolist()
        [0, 2, 3]
        """
        pairs = checked_list("factors.of", sets, "pairs of arcs and their score")
        given = [(list(arcs), score) for arcs, score in pairs]
        return cls(
            [arc for arcs, _ in given for arc in arcs],
            np.cumsum([0, *(len(arcs) for arcs, _ in given)]),
            [score for _, score in given],
        )

    @classmethod
    def any_of(cls, arcs: Iterable[Sequence[int]], score: float) -> Factors:
        """Build one factor that adds its score when at least one of the arcs is in the tree."""
        members = sorted(set(map(tuple, checked_list("factors.any_of", arcs, "arcs"))))
        if not members:
            raise ProblemError("factors.any_of: at least one arc is needed, got none.")
        return cls(members, [0, len(members)], [score], [1], [len(members)])

    @classmethod
    def valency(cls, head: int, tokens: int, scores: Sequence[float] | ArrayLike) -> Factors:
        """Build factors that score the number of modifiers of one head.

        Parameters
        ----------
        head
            The head, 0 for the root.
        tokens
            Number of tokens in the sentence.
        scores
            ``scores[k]`` is added if the head has exactly k modifiers; larger numbers score 0.

        Examples
        --------
        >>> transitive = Factors.valency(2, 4, [-3.0, 0.0, 1.0])
        >>> transitive.paid([2, 0, 2, 3]).tolist(), transitive.scores.tolist()
        ([False, True], [-3.0, 1.0])
        """
        arcs = [(head, m) for m in range(1, tokens + 1) if m != head]
        worth = checked_scores("factors.valency", scores, (None,), dtype=np.float64)
        counts = np.flatnonzero(worth[: len(arcs) + 1])  # no more modifiers than arcs
        return cls(
            arcs * len(counts),
            np.arange(len(counts) + 1) * len(arcs),
            worth[counts],
            counts,
            counts,
        )

    @classmethod
    def of_parts(
        cls, parts: ArrayLike, arcs: Sequence[tuple[int, int]], scores: ArrayLike
    ) -> Factors:
        """Build factors of the same shape from rows of tokens.

        Parameters
        ----------
        parts
            (count, tokens), such as (g, h, m) of each chain g -> h -> m.
        arcs
            The columns of each arc's head and modifier, such as ``[(0, 1), (1, 2)]``; pairs of
            siblings (h, a, b) have ``[(0, 1), (0, 2)]``.
        scores
            (count,).

        Examples
        --------
        >>> Factors.of_parts([(0, 2, 1)], [(0, 1), (1, 2)], [1.5]).arcs.tolist()
        [[0, 2], [2, 1]]
        """
        rows = checked_indices("factors.parts", parts, (None, None), low=0)
        if rows.size == 0:
            return cls.empty()
        pairs = rows[:, np.array(arcs)].reshape(-1, 2)
        return cls(pairs, np.arange(len(rows) + 1) * len(arcs), scores)


def _without_repeats(
    arcs: NDArray[np.int32], offsets: NDArray[np.int64]
) -> tuple[NDArray[np.int32], NDArray[np.int64]]:
    """Remove repeated arcs within each factor, keeping the order of the others."""
    owner = np.repeat(np.arange(len(offsets) - 1), np.diff(offsets))
    size = int(arcs.max(initial=0)) + 1
    # (factor, head, modifier) as one integer: many times faster than comparing rows
    keys = (owner * size + arcs[:, 0]) * size + arcs[:, 1]
    _, first = np.unique(keys, return_index=True)
    if len(first) == len(arcs):
        return arcs, offsets
    kept = np.sort(first)
    sizes = np.bincount(owner[kept], minlength=len(offsets) - 1)
    return arcs[kept], np.concatenate([[0], np.cumsum(sizes)]).astype(np.int64)
