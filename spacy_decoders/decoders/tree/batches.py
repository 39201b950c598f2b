"""Batches of sentences with scores on arcs alone, decoded in a few compiled calls.

Where the best head of every token makes a legal tree, which trained scores mostly do, the sum of
the tokens' best arcs is a bound that this tree attains. Only the other sentences need more.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from ...arrays import checked_scores
from ...certificate import Certificate
from ...errors import DecodersError, ProblemError
from ..lazy_list import LazyList
from .decoder import SMALLEST, UNIT, infeasible
from .problem import NO_GAPS, TreeProblem, TreeSolution

__all__ = [
    "ArcBatch",
    "TreeSolutions",
    "are_plain",
    "batch_of",
    "by_chart",
    "by_contraction",
    "solved_by_arcs",
]

Floats = NDArray[np.float64]

#: Entries of the charts that are kept at once: what a processor's cache holds.
MOST_CHARTED = 2**17


class TreeSolutions(LazyList[TreeSolution]):
    """The solutions of a batch: a list whose items are created on first access.

    Attributes
    ----------
    decoder
        The registered name.
    heads
        int32 (total,), read-only: the heads of all sentences, end to end.
    offsets
        int64 (sentences + 1,): sentence `s` has ``offsets[s]:offsets[s + 1]``.
    scores, bounds, tolerances, scales
        float64 (sentences,): what the certificates compare, and the sum of the absolute scores of
        each tree, which limits the tolerance.
    """

    def __init__(
        self,
        decoder: str,
        heads: NDArray[np.int32],
        offsets: NDArray[np.int64],
        scores: Floats,
        bounds: Floats,
        tolerances: Floats,
        scales: Floats,
    ) -> None:
        super().__init__(len(scores))
        heads.flags.writeable = False
        self.decoder = decoder
        self.heads = heads
        self.offsets = offsets
        self.scores = scores
        self.bounds = bounds
        self.tolerances = tolerances
        self.scales = scales

    @property
    def certificates(self) -> list[Certificate]:
        """The certificates of all sentences."""
        columns = (self.scores, self.bounds, self.tolerances)
        scores, bounds, tolerances = (column.tolist() for column in columns)
        ones = [1] * len(scores)
        return Certificate.from_bounds(
            self.decoder, scores, bounds, tolerances, ones, self.scales.tolist()
        )

    def _items(self) -> list[TreeSolution]:
        items, heads, new = [], self.heads, object.__new__
        ends = self.offsets.tolist()
        for begin, stop, certificate in zip(ends, ends[1:], self.certificates, strict=False):
            item = new(TreeSolution)  # its fields are valid as they are
            item.__dict__.update(heads=heads[begin:stop], certificate=certificate)
            items.append(item)
        return items


class ArcBatch(NamedTuple):
    """The arcs of many sentences, end to end.

    Attributes
    ----------
    flat
        float64 (total,), an (n + 1, n + 1) array a sentence.
    begins, sizes
        int64 (sentences,), where each begins in `flat`, and n + 1.
    offsets
        int64 (sentences + 1,), where the tokens of each begin among all tokens.
    """

    flat: Floats
    begins: NDArray[np.int64]
    sizes: NDArray[np.int64]
    offsets: NDArray[np.int64]

    def arcs(self, place: int) -> Floats:
        """Return the arcs of one sentence, read-only."""
        begin, size = int(self.begins[place]), int(self.sizes[place])
        arcs = self.flat[begin : begin + size * size].reshape(size, size)
        arcs.flags.writeable = False
        return arcs


def are_plain(sentences: Sequence[Any], *, projective: bool) -> bool:
    """Return whether all sentences have arcs alone, and one root."""
    return all(
        one.is_first_order
        and one.projective == projective
        and one.has_one_root
        and not one.is_constrained
        and one.scope == "full"
        if isinstance(one, TreeProblem)
        else isinstance(one, np.ndarray)
        for one in sentences
    )


def batch_of(sentences: Sequence[Any]) -> ArcBatch:
    """Lay arrays of arcs, or those of problems, end to end, and forbid what is no arc.

    Raises
    ------
    ProblemError
        If one is not square, or holds NaN or a score beyond 1e100; the message says which.
    """
    from .kernels import batches  # compiled where it is first needed

    arrays = [one.arcs if isinstance(one, TreeProblem) else one for one in sentences]
    for place, array in enumerate(arrays):
        if array.ndim != 2 or array.shape[0] != array.shape[1] or array.shape[0] == 0:
            raise ProblemError(
                f"arcs of sentence {place}: expected a square array of n + 1 rows for n tokens, "
                f"the root first; got {array.shape}."
            )
    sizes = np.array([len(array) for array in arrays], np.int64)
    flat = np.concatenate([np.zeros(0), *[array.ravel() for array in arrays]], dtype=np.float64)
    begins = np.cumsum(sizes * sizes) - sizes * sizes
    wrong = batches.forbid_root_and_self(flat, begins, sizes)
    if wrong >= 0:  # says what is wrong with it
        given = arrays[wrong]
        checked_scores(f"arcs of sentence {wrong}", given, (None, None), dtype=np.float64)
    return ArcBatch(flat, begins, sizes, np.concatenate([[0], np.cumsum(sizes - 1)]))


#: Decodes the given sentences of a batch: writes heads, and bounds with their rounding errors.
Rest = Callable[[ArcBatch, NDArray[np.int64], NDArray[np.int32], Floats, Floats], None]


def solved_by_arcs(
    decoder: str, batch: ArcBatch, projective: bool, rests: Sequence[Rest]
) -> TreeSolutions:
    """Return the best trees of a batch, with certificates as those of single decodings.

    Parameters
    ----------
    rests
        Decode the sentences whose tokens' best heads make no legal tree; each gets those that the
        one before left without a proof.

    Raises
    ------
    InfeasibleError
        If a sentence has no tree.
    """
    from .kernels import batches

    count = len(batch.sizes)
    given = (batch.flat, batch.begins, batch.sizes)
    heads = np.empty(int(batch.offsets[-1]), np.int32)
    legal, (scores, scales, bounds, positive) = np.zeros(count, bool), np.zeros((4, count))
    batches.favourite_heads(*given, batch.offsets, heads)
    batches.column_bounds(*given, bounds, positive)
    tally = (*given, batch.offsets, heads, projective, True, legal, scores, scales)
    batches.tallies(*tally)
    tokens = batch.sizes - 1.0
    slack = 4.0 * (tokens + 1.0) * UNIT * (np.abs(bounds) + 2.0 * positive) + SMALLEST
    for rest in rests:
        with np.errstate(invalid="ignore"):
            attained = bounds + slack - scores <= _tolerances(scales, slack)
            which = np.flatnonzero(~(legal & attained))
        if not which.size:
            break
        rest(batch, which, heads, bounds, slack)
        batches.tallies(*tally)
    wrong = np.flatnonzero(~legal)
    if wrong.size:
        place = int(wrong[0])
        if bounds[place] == -np.inf:
            error = infeasible(TreeProblem(batch.arcs(place), projective=projective))
            raise type(error)(f"sentence {place}: {error}")
        raise DecodersError(f"{decoder}: the compiled code returned no tree of sentence {place}.")
    tolerances = _tolerances(scales, slack)
    return TreeSolutions(decoder, heads, batch.offsets, scores, bounds + slack, tolerances, scales)


def _tolerances(scales: Floats, slack: Floats) -> Floats:
    """Return the tolerances of certificates, as :func:`.tolerance_of` does."""
    tolerances: Floats = np.maximum(1e-9 * (1.0 + scales), 2.0 * slack)
    return tolerances


def by_chart(
    batch: ArcBatch,
    which: NDArray[np.int64],
    heads: NDArray[np.int32],
    bounds: Floats,
    slack: Floats,
) -> None:
    """Decode projective trees by Eisner's chart."""
    from .kernels import batches

    given = (batch.flat, batch.begins, batch.sizes)
    entries = 4 * batch.sizes[which] ** 2
    positive = np.zeros(len(batch.sizes))
    parts = np.cumsum(entries) // MOST_CHARTED
    for part in np.unique(parts):
        some = which[parts == part]
        room = np.empty(int(entries[parts == part].sum()))
        batches.charts(*given, some, True, NO_GAPS, batch.offsets, heads, room, positive)
        batches.chart_bounds(*given, some, True, NO_GAPS, room, bounds)
    found = bounds[which]
    error = 4.0 * batch.sizes[which] * UNIT * (np.abs(found) + 2.0 * positive[which]) + SMALLEST
    slack[which] = np.where(np.isfinite(found), error, 0.0)


def by_contraction(
    batch: ArcBatch,
    which: NDArray[np.int64],
    heads: NDArray[np.int32],
    bounds: Floats,
    slack: Floats,
) -> None:
    """Decode trees whose arcs may cross by contracting cycles."""
    from .kernels import batches

    given = (batch.flat, batch.begins, batch.sizes)
    nodes = int(2 * batch.sizes[which].sum())
    duals = (
        np.zeros(len(which)), np.zeros(nodes), np.zeros(nodes, np.int64),
        np.zeros(len(which), np.int64),
    )  # fmt: skip
    batches.contractions(*given, which, batch.offsets, heads, *duals)
    batches.dual_bounds(*given, which, *duals, bounds, slack)
