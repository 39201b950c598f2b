"""Spans that are known to be no entities: chains that have no labelling with one of them.

A chain tells nothing of where an entity began. So entities that begin where a negative span does
get labels of their own, one for each token up to the span's end: from the last of them the chain
can only go on. The larger chain has exactly the labellings without these spans.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, NamedTuple, cast

import numpy as np
from numpy.typing import NDArray

__all__ = ["NegativeSpans", "WithoutSpans", "without_spans"]

Floats = NDArray[np.float32]
Mask = NDArray[np.bool_]


class NegativeSpans(NamedTuple):
    """Spans without entities.

    Attributes
    ----------
    spans
        First token and token behind of each, and **shape (L,)**: the labels of the entities that
        it is not.
    kinds
        **Shape (L,)**: the kind of entity that a label is part of, -1 for none.
    goes_on
        **Shape (L,)**: whether a label continues an entity.
    """

    spans: list[tuple[int, int, Mask]]
    kinds: NDArray[np.int64]
    goes_on: Mask

    def within(self, begin: int, end: int) -> list[tuple[int, int, Mask]]:
        """Return the spans of a sentence, counted from its first token."""
        return [
            (start - begin, stop - begin, labels)
            for start, stop, labels in self.spans
            if begin <= start and stop <= end
        ]

    def chosen(self, tokens: Mask) -> NegativeSpans:
        """Return the spans of some tokens, counted among these."""
        place = np.cumsum(tokens) - 1
        spans = [
            (int(place[start]), int(place[stop - 1]) + 1, labels)
            for start, stop, labels in self.spans
            if tokens[start] and tokens[stop - 1]
        ]
        return self._replace(spans=spans)


class WithoutSpans(NamedTuple):
    """A sentence whose labellings have none of some spans.

    Attributes
    ----------
    model
        The larger chain model.
    emissions
        **Shape (n, M)**.
    origin
        **Shape (M,)**: the label that each of its labels stands for.
    """

    model: Any
    emissions: Floats
    origin: NDArray[np.int64]

    def folded(self, values: NDArray[Any], size: int) -> NDArray[Any]:
        """Add up values of the labels that stand for the same: along the last axis."""
        result = np.zeros((*values.shape[:-1], size), dtype=values.dtype)
        np.add.at(result, cast(Any, (..., self.origin)), values)
        return result


def without_spans(
    model: Any, emissions: Floats, negative: NegativeSpans, spans: Sequence[tuple[int, int, Mask]]
) -> WithoutSpans:
    """Return the chain of all labellings of a sentence without some spans.

    The emissions have the **shape (n, L)**; the spans are counted from the sentence's first token.
    """
    from ...decoders.chain import ChainModel

    size, n = emissions.shape[1], len(emissions)
    kinds, goes_on = negative.kinds, negative.goes_on
    ends = {start: max(j for i, j, _ in spans if i == start) for start, _, _ in spans}
    # start, position and label of each label of its own
    copies = [
        (start, position, y)
        for start, end in ends.items()
        for position in range(start, end)
        for y in np.flatnonzero((kinds >= 0) & (goes_on == (position > start))).tolist()
    ]
    starts, positions, labels = np.array(copies, dtype=np.int64).reshape(-1, 3).T
    origin = np.concatenate([np.arange(size), labels])
    place = np.concatenate([np.full(size, -1), positions])
    begun = np.concatenate([np.full(size, -1), starts])
    denied = np.zeros(len(origin), dtype=bool)
    for start, end, entities in spans:
        denied |= (begun == start) & (place == end - 1) & entities[origin]
    rows = np.full((n, len(origin)), -np.inf, dtype=np.float32)
    rows[:, :size] = emissions
    for start in ends:
        rows[start, np.flatnonzero((kinds >= 0) & ~goes_on)] = -np.inf
    own = np.arange(size, len(origin))
    rows[positions, own] = emissions[positions, labels]

    last = np.array([p + 1 == ends.get(s, -1) for s, p in zip(begun, place, strict=True)])
    copied = place >= 0
    on = goes_on[origin]
    legal = np.where(on, ~copied[:, None] | last[:, None], ~denied[:, None])
    following = (begun[:, None] == begun) & (place[:, None] + 1 == place)
    legal = np.where(on & copied, following, legal)
    transitions = np.where(legal, model.transitions[np.ix_(origin, origin)], -np.inf)
    at_end = np.where(denied & (place == n - 1), -np.inf, model.end_scores[origin])
    return WithoutSpans(ChainModel(transitions, model.start_scores[origin], at_end), rows, origin)
